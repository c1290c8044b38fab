package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestSettingsInForceTellWhereTheyCameFrom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hybridge.yaml")
	text := `
listen: 127.0.0.1:1
postgres: {url: "postgres://hybridge:hunter2@db/hybridge", timeout: 7s}
reranker: {url: http://r, api_key: hunter2}
allowed_hosts: [a.example, b.example]
keys: [{name: rival, key: a-long-random-text-of-somebody, tenant: other}]
embeddings: {m3: {url: "http://user:hunter2@e", query_extra: {token: hunter2}}}
limits: {file_bytes: 8MiB}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	Flags(flags)
	if err := flags.Parse([]string{"--log-level", "warn"}); err != nil {
		t.Fatal(err)
	}
	c, origins, err := LoadWithOrigins(file, flags, []string{"HYBRIDGE_LISTEN=127.0.0.1:2", "HYBRIDGE_LOG_FORMAT=", "HYBRIDGE_LOG_LEVEL=debug"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.InForce(origins)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]InForce{}
	for _, f := range all {
		told[f.Key] = f
		if strings.Contains(f.Value, "hunter2") || strings.Contains(f.Value, "rival") || strings.Contains(f.Value, "random-text") {
			t.Errorf(`%s tells a secret: %s; want no "hunter2" in it and no "rival" in it and no "random-text" in it`, f.Key, f.Value)
		}
		if f.Doc == "" && f.Key != "presets" || f.Accept == "" || f.Env() == "" {
			t.Errorf("%s is not described: %+v", f.Key, f)
		}
	}
	f := func(key, value, source string) {
		t.Helper()
		if got := told[key]; got.Value != value || got.Source != source {
			t.Errorf("%s is %q from %s, want %q from %s", key, got.Value, got.Source, value, source)
		}
	}
	f("listen", "127.0.0.1:2", FromEnvironment)
	f("log.level", "warn", FromFlag)
	f("log.format", "text", FromDefault)
	f("postgres.timeout", "7s", FromFile)
	f("reranker.api_key", "[secret]", FromFile)
	f("allowed_hosts", `["a.example","b.example"]`, FromFile)
	f("keys", "1", FromFile)
	f("limits.file_bytes", "8MiB", FromFile)
	f("demo", "false", FromDefault)
	f("redis.url", "", FromDefault)
	if len(all) < 100 || told["keys[].name"].Key != "" {
		t.Errorf(`%d settings; want at least 100 all and told["keys[].name"].Key ""`, len(all))
	}
}
