package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/golden"
	"github.com/hybridge-search/hybridge/locale"
	"github.com/hybridge-search/hybridge/search"
)

const example = "hybridge.example.yaml"

// load loads a file with this content, these variables and these flags.
func load(t *testing.T, content string, environ, args []string) (*Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hybridge.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags.Bool("json", false, "not a setting")
	Flags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return Load(path, flags, environ)
}

func TestNothingConfigured(t *testing.T) {
	got, err := Load("", nil, []string{"PATH=/bin", "HOME=x"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got); diff != "" {
		t.Errorf("(-default +got):\n%s; want diff \"\"", diff)
	}
}

func TestLaterSourcesWin(t *testing.T) {
	f := func(file string, environ, args []string, want string) {
		t.Helper()
		got, err := load(t, file, environ, args)
		if err != nil {
			t.Error(err)
			return
		}
		if shown := fmt.Sprint(got.Embedding.Model, " ", got.DataDir, " ", got.Log.Level); shown != want {
			t.Errorf("got %q, want %q", shown, want)
		}
	}
	file := "embedding: {model: from-file, url: http://h}\ndata_dir: file\nlog: {level: error}\n"
	env := []string{"HYBRIDGE_EMBEDDING_MODEL=from-env", "HYBRIDGE_DATA_DIR=env", "HYBRIDGE_LOG_LEVEL="}
	f("", nil, nil, " .data info")
	f(file, nil, nil, "from-file file error")
	f(file, env, nil, "from-env env error")
	f(file, env, []string{"--data-dir", "flag"}, "from-env flag error")
	f("embedding:\n", nil, []string{"--log-level=warn", "--json"}, " .data warn")
}

func TestValues(t *testing.T) {
	got, err := load(t, `
elasticsearch: {url: "http://a:9200", timeout: 1m30s}
limits: {body_bytes: 2 MiB, line_bytes: 1024}
embedding: {query_extra: {input_type: query, n: 1}}
demo: true
presets: {mine: {base: rrf, weights: {text: 1}, rrf_k: 10, threshold: auto}}
`, []string{
		"HYBRIDGE_KEYS=[{name: a, key: sixteen-letters., knowledge_bases: []}]",
		"HYBRIDGE_EMBEDDING_PASSAGE_EXTRA={input_type: passage}",
		"HYBRIDGE_EMBEDDING_BATCH_SIZE=7", "HYBRIDGE_SYNONYMS_BOOST=0.5", "HYBRIDGE_DEMO=false",
		"HYBRIDGE_TEST_ANYTHING=x", "HYBRIDGE_LISTEN=0.0.0.0:0",
	}, []string{"--elasticsearch-url=http://b:9200, https://c", "--demo"})
	if err != nil {
		t.Fatal(err)
	}
	ten := 10.0
	want := Default()
	want.Listen = "0.0.0.0:0"
	want.Elasticsearch.URL = []string{"http://b:9200", "https://c"}
	want.Elasticsearch.Timeout = 90 * time.Second
	want.Limits.BodyBytes, want.Limits.LineBytes = 2<<20, 1024
	want.Embedding.QueryExtra = map[string]any{"input_type": "query", "n": 1}
	want.Embedding.PassageExtra = map[string]any{"input_type": "passage"}
	want.Embedding.BatchSize = 7
	want.Synonyms.Boost = 0.5
	want.Demo = true
	want.Keys = []Key{{Name: "a", Key: "sixteen-letters.", Tenant: "default", KnowledgeBases: []string{}}}
	want.Presets = map[string]Preset{"mine": {Base: "rrf", Overrides: search.Overrides{
		Weights: map[string]float64{"text": 1}, RRFK: &ten, Threshold: search.AutoThreshold(),
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConfigVariableNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(path, []byte("data_dir: here"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Load("", nil, []string{"HYBRIDGE_CONFIG=" + path})
	if err != nil || got.DataDir != "here" {
		t.Errorf(`%+v, %v; want no error and got.DataDir "here"`, got, err)
	}
}

// Each error names the key, the value, and what is accepted.
func TestErrors(t *testing.T) {
	check := func(err error, parts ...string) {
		t.Helper()
		if err == nil || !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("got %v, want an invalid_argument that says %q", err, parts)
			return
		}
		for _, part := range parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error %q does not say %q", err, part)
			}
		}
	}
	file := func(content string, parts ...string) {
		t.Helper()
		_, err := load(t, content, nil, nil)
		check(err, parts...)
	}
	env := func(variable string, parts ...string) {
		t.Helper()
		_, err := load(t, "", []string{variable}, nil)
		check(err, parts...)
	}
	flag := func(argument string, parts ...string) {
		t.Helper()
		_, err := load(t, "", nil, []string{argument})
		check(err, parts...)
	}
	file("listn: x", "setting listn does not exist", "listen")
	file("embedding: {modal: x}", "embedding.modal does not exist", "model")
	file("Listen: x", "setting Listen does not exist")
	file("keys: [{name: a, kye: b}]", "keys[0].kye does not exist", "key_sha256")
	file("presets: {mine: {base: rrf, threshold: always}}", "presets[mine].threshold is a text", "a group of settings")
	file("presets: {mine: {base: rrf, threshold: {x: 1}}}", "threshold.x does not exist", "relative")
	file("embedding: {timeout: 5x}", "embedding.timeout of ", "hybridge.yaml", `"5x"`, "duration")
	file("embedding: {timeout: 30}", "embedding.timeout", "30", "duration")
	file("embedding: {batch_size: many}", "embedding.batch_size", `"many"`, "1 to 2048")
	file("embedding: {batch_size: 1.5}", "embedding.batch_size", "1.5", "1 to 2048")
	file("embedding: text", "embedding of ", "is a text", "a group of settings")
	file("keys: text", "keys of ", "is a text", "a list")
	file("limits: {body_bytes: big}", "limits.body_bytes", `"big"`, "8MiB")
	file("demo: maybe", "demo", `"maybe"`, "true or false")
	file("keys: {name: a}", "keys", "a list")
	file("keys: [{name: [1], key: x}]", "keys[0].name", "a text")
	file("synonyms: {boost: .nan}", "synonyms.boost", "NaN", "at most 1")
	file("a: [", "hybridge.yaml is not valid YAML")
	file("- a", "hybridge.yaml is not valid YAML")
	file("listen: 8080", "listen", "8080", "host:port")
	file("listen: localhost", "listen", `"localhost"`, "host:port")
	file("listen: 127.0.0.1:99999", "listen", "99999")
	file("log: {level: loud, format: xml}", "log.level", `"loud"`, "debug, info", "log.format", `"xml"`, "text or json")
	file("default_engine: solr", "default_engine", `"solr"`, "embedded, elasticsearch")
	file("default_engine: elasticsearch", "elasticsearch.url is not set")
	file("default_engine: postgres", "postgres.url is not set")
	file("embeddings: {bge: {model: m}}", "embeddings[bge].url", `""`, "an http(s) URL")
	file("embeddings: {bge: {url: 'http://h', batch_size: 3000}}", "embeddings[bge].batch_size", "3000", "1 to 2048")
	file("embedding: {url: 'http://h', model: bge}\nembeddings: {bge: {url: 'http://h'}}", "embeddings", "bge", "not embedding.model")
	file("postgres: {url: 'host=h password=s3cr3t'}", "postgres.url", "[secret]", "postgres:// URL")
	file("postgres: {schema: 'a;b', pool_size: 1, exact_limit: 0, keyword_memory: 1KB, keyword_ttl: 0s, timeout: 0s, keyword_wait: 0s}",
		"postgres.schema", "postgres.pool_size", "postgres.exact_limit", "postgres.keyword_memory", "postgres.keyword_ttl",
		"postgres.timeout", "postgres.keyword_wait")
	file("elasticsearch: {url: 'localhost:9200'}", "elasticsearch.url", "localhost:9200", "http(s)")
	file("elasticsearch: {url: http://h, api_key: k, username: u, password: p}", "keep one")
	file("elasticsearch: {username: u}", "belong together")
	file("elasticsearch: {ca_fingerprint: '12:34'}", "elasticsearch.ca_fingerprint", "12:34", "64 hexadecimal")
	file("elasticsearch: {ca_file: a, ca_fingerprint: '"+strings.Repeat("aB:", 31)+"12'}", "both set", "keep one")
	file("elasticsearch: {ca_file: a, insecure_skip_verify: true}", "elasticsearch.insecure_skip_verify", "keep the authority")
	file("elasticsearch: {client_cert_file: a}", "elasticsearch.client_key_file", "belong together")
	file("elasticsearch: {index_prefix: Bad}", "elasticsearch.index_prefix", `"Bad"`, "lower-case")
	file("embedding: {url: http://h}", "embedding.model is not", "name the model")
	file("embedding: {dimensions: 5000}", "embedding.dimensions", "5000", "4096")
	file("embedding: {local: {enabled: maybe}}", "embedding.local.enabled", "auto, on or off")
	file("embedding: {local: {enabled: 'on'}}", "embedding.local.command is not set")
	file("limits: {request_timeout: 0s}", "limits.request_timeout", "0s", "above 0")
	file("keys: [{key: x}]", "keys[0].name", "name of its own")
	file("keys: [{name: a, key: x}, {name: a, key: y}]", "keys[1].name", `"a"`)
	file("keys: [{name: a, key: x}, {name: b, key: x}]", "keys[1].key is the same")
	file("keys: [{name: a}]", "exactly one")
	file("keys: [{name: a, key_sha256: abc}]", "keys[0].key_sha256", "64 hexadecimal")
	file("keys: [{name: a, key: x, tenant: 'A B'}]", "keys[0].tenant", `"A B"`)
	file("keys: [{name: a, key: x, attach: [ok_*, 'a[bc]']}]", "keys[0].attach[1]", `"a[bc]"`, "names of indexes")
	file("presets: {mine: {}}", "presets[mine].base", "built-in preset")
	file("presets: {mine: {base: rrf, top_k: 0}}", "presets[mine].top_k", "0", "1 to 10000")
	file("presets: {mine: {base: rrf, weights: {text: -1}}}", "presets[mine].weights.text is -1", ">= 0")
	file("presets: {mine: {base: rrf, weights: {text: 0, vector: 0}}}", "presets[mine].weights", "all zero")
	file("presets: {mine: {base: linear, normalizer: most}}", "presets[mine].normalizer", `"most"`, "min_max")
	file("presets: {mine: {base: rrf, rerank: best}}", "presets[mine].rerank", `"best"`, "the name of the reranker")
	file("presets: {mine: {base: rrf, minimum_should_match: many}}", "minimum_should_match", `"many"`)
	file("presets: {mine: {base: rrf, threshold: {vector: 2}}}", "presets[mine].threshold.vector", "-1 to 1")

	env("HYBRIDGE_EMBEDING_URL=http://h", "HYBRIDGE_EMBEDING_URL does not exist", "hybridge help settings")
	env("HYBRIDGE_EMBEDDING_TIMEOUT=5", "HYBRIDGE_EMBEDDING_TIMEOUT", `"5"`, "duration")
	env("HYBRIDGE_EMBEDDING_RETRIES=x", "HYBRIDGE_EMBEDDING_RETRIES", `"x"`, "0 to 10")
	env("HYBRIDGE_KEYS=x: [", "HYBRIDGE_KEYS", "a list")
	env("HYBRIDGE_CONFIG_X=1", "HYBRIDGE_CONFIG_X does not exist")

	flag("--log-level=loud", "log.level", `"loud"`)

	_, err := Load("nowhere.yaml", nil, nil)
	check(err, "nowhere.yaml", "exists")
}

func TestAllThatIsWrongIsSaid(t *testing.T) {
	_, err := load(t, "listen: x\nlog: {level: y}\nlimits: {body_bytes: 0}", nil, nil)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 3 {
		t.Errorf("want 3 errors, got %v", err)
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Field != "listen" {
		t.Errorf("the first is about %+v", f)
	}
}

func TestNeedsStoredKeys(t *testing.T) {
	f := func(text string, want bool) {
		t.Helper()
		c, err := load(t, text, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.NeedsStoredKeys(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	f("listen: 0.0.0.0:80", true)
	f("listen: ':80'", true)
	f("listen: 192.168.0.1:80", true)
	f("listen: example.org:80", true)
	f("listen: '[::1]:80'", false)
	f("listen: localhost:80", false)
	f("listen: 0.0.0.0:80\nopen_without_keys: true", false)
	f("listen: 0.0.0.0:80\nkeys: [{name: a, key: 0123456789abcdef}]", false)
}

// Promise: "They never appear in logs" (docs/guide/en/elasticsearch.md).
func TestSecretsAreNeverPrinted(t *testing.T) {
	const secret = "s3cr3t"
	config, err := load(t, `
elasticsearch: {url: "http://user:s3cr3t@h", api_key: s3cr3t}
embedding:
  {url: "http://u:s3cr3t@h?api_key=s3cr3t", model: m, api_key: s3cr3t, query_extra: {token: s3cr3t, a: {password: s3cr3t}}}
embeddings: {further: {url: "http://u:s3cr3t@h", api_key: s3cr3t, passage_extra: {token: s3cr3t}}}
reranker: {api_key: s3cr3t, url: "https://h/rerank?Access-Token=s3cr3t&x=1"}
postgres: {url: "postgres://u:s3cr3t@h/d?sslmode=disable&sslpassword=s3cr3t"}
redis: {url: "redis://u:s3cr3t@h"}
keys: [{name: a, key: s3cr3t}]
`, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if config.Keys[0].Key.Reveal() != secret || config.Embedding.APIKey.Reveal() != secret {
		t.Error("the secret itself must be kept")
	}
	text, err := config.YAML()
	if err != nil {
		t.Fatal(err)
	}
	config.Elasticsearch.URL, config.Embedding.URL, config.Postgres.URL, config.Redis.URL = nil, "", "", ""
	config.Reranker.URL, config.Embedding.QueryExtra, config.Embeddings = "", nil, nil
	asJSON, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "key", config.Keys[0].Key, "config", config.Keys[0])
	for _, shown := range []string{
		string(text), string(asJSON), logged.String(),
		fmt.Sprintf("%v %+v %#v %s %q", config, config, *config, config.Keys[0].Key, config.Keys[0].Key),
	} {
		if strings.Contains(shown, secret) {
			t.Errorf("the secret is in %s; want no secret in it", shown)
		}
	}
	if !strings.Contains(string(text), "[secret]") {
		t.Errorf("a secret that is set must show that it is:\n%s", brief.Of(text))
	}
	_, err = load(t, "", []string{"HYBRIDGE_KEYS=s3cr3t"}, nil)
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("the secret is in the error: %v; want an error and no secret in it", err)
	}
	_, err = load(t, "elasticsearch: {url: 'ftp://user:s3cr3t@h', api_key: [s3cr3t]}\nkeys: [{name: a, key: {s3cr3t: s3cr3t}}]", nil, nil)
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("the secret is in the error: %v; want an error and no secret in it", err)
	}
}

func TestPrintedConfigurationLoadsAgain(t *testing.T) {
	first, err := Load("", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := first.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := load(t, string(text), nil, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, brief.Of(text))
	}
	again2, err := again.YAML()
	if err != nil || string(again2) != string(text) {
		t.Errorf("%v\n%s", err, cmp.Diff(string(text), string(again2)))
	}
}

// What is printed of keys locks none of them out and lets none of them further.
func TestPrintedKeysMeanTheSame(t *testing.T) {
	const hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
	first, err := load(t, `keys: [{name: all, key_sha256: `+hash+`},
  {name: none, key: aa, knowledge_bases: []}, {name: some, key: bb, knowledge_bases: [a], filter: {owner: x, year: {gte: 2020}}}]
embedding: {query_extra: {input_type: query, deep: {n: 1}}}`, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range first.Keys { // those that are printed masked
		if k := &first.Keys[i]; k.Key != "" {
			k.Key, k.KeySHA256 = "", strings.Repeat(string(rune('a'+i)), 64)
		}
	}
	text, err := first.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := load(t, string(text), nil, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, brief.Of(text))
	}
	for i := range first.Keys {
		a, b := first.Keys[i], again.Keys[i]
		if (a.KnowledgeBases == nil) != (b.KnowledgeBases == nil) || !slices.Equal(a.KnowledgeBases, b.KnowledgeBases) ||
			fmt.Sprint(a.Filter) != fmt.Sprint(b.Filter) || a.KeySHA256 != b.KeySHA256 {
			t.Errorf("%+v became %+v:\n%s", a, b, brief.Of(text))
		}
	}
	if fmt.Sprint(again.Embedding.QueryExtra) != fmt.Sprint(first.Embedding.QueryExtra) {
		t.Errorf("query_extra became %v", again.Embedding.QueryExtra)
	}
	if _, err := load(t, "keys: [{name: a, key: '[secret]'}]", nil, nil); err == nil {
		t.Error("the mask is taken for a key")
	}
}

func TestExampleLoadsAndSaysTheDefaults(t *testing.T) {
	want, err := Example()
	if err != nil {
		t.Fatal(err)
	}
	isWritten(t, example, want)
	got, err := Load(example, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Keys) != 2 || len(got.Presets) != 5 || got.Keys[0].KnowledgeBases[0] != "manuals" {
		t.Errorf(`%+v; want 2 got.Keys and 5 got.Presets and got.Keys[0].KnowledgeBases[0] "manuals"`, got)
	}
	// All but the keys and presets are the defaults.
	got.Keys, got.Presets = nil, nil
	text, err := got.YAML()
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := Default().YAML()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(defaults), string(text)); diff != "" {
		t.Errorf("the example differs from the defaults (-default +example):\n%s", diff)
	}
}

// Promise: "has every setting" (docs/configuration.md).
func TestExampleHasEverySetting(t *testing.T) {
	content, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Settings() {
		name := s.Key[strings.LastIndexByte(s.Key, '.')+1:]
		if !strings.Contains(string(content), name+":") {
			t.Errorf("%s is not in %s", s.Key, example)
		}
	}
}

func TestEverySettingIsDescribed(t *testing.T) {
	for _, s := range Settings() {
		if s.Doc == "" {
			t.Errorf(`%s has no description; want s.Doc other than ""`, s.Key)
		}
	}
}

const reference, referenceChinese = "../docs/configuration.md", "../docs/configuration.zh.md"

// Promise: "Every setting is on" (docs/guide/en/operating.md).
func TestReference(t *testing.T) { isWritten(t, reference, Reference()) }

// The page in Chinese has the same settings, and no text that stayed English.
func TestReferenceInChinese(t *testing.T) {
	var presets map[string]string
	text, err := os.ReadFile("testdata/presets.zh.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &presets); err != nil {
		t.Fatal(err)
	}
	chinese := locale.Match("zh")
	isHan := func(r rune) bool { return unicode.Is(unicode.Han, r) }
	isWritten(t, referenceChinese, ReferenceChinese(func(s *Setting) (accept, doc string) {
		doc = chinese.Text(s.Doc)
		if own, ok := presets[s.Key]; ok {
			doc = own
			delete(presets, s.Key)
		}
		if !strings.ContainsFunc(doc, isHan) {
			t.Errorf("%s: %q in Chinese; want a text of locale/zh.json or testdata/presets.zh.yaml", s.Key, doc)
		}
		return chinese.Text(s.Accept), doc
	}))
	for key := range presets {
		t.Errorf("testdata/presets.zh.yaml has %s; want only settings that there are", key)
	}
}

// isWritten compares a file with what is made of the settings; -update writes it.
func isWritten(t *testing.T, name, want string) {
	t.Helper()
	if golden.Updating() {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("%s is out of date; -update writes it (-file +settings):\n%s; want diff \"\"", name, diff)
	}
}
