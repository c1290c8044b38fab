package config

import (
	"log/slog"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/dustin/go-humanize"
	"go.yaml.in/yaml/v3"
)

// Secret is a value that is never printed, logged or encoded.
type Secret string

// masked is shown instead of a secret.
const masked = "[secret]"

// Reveal returns the value itself, for the one place that sends it.
func (s Secret) Reveal() string { return string(s) }

// String implements fmt.Stringer.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return masked
}

// GoString implements fmt.GoStringer, for %#v.
func (s Secret) GoString() string { return `"` + s.String() + `"` }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler, for JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML implements yaml.Marshaler.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// Size is a number of bytes, written as 1MiB.
type Size int64

// String implements fmt.Stringer.
func (s Size) String() string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if s > 0 && int64(s)%unit.bytes == 0 {
			return humanize.Comma(int64(s)/unit.bytes) + unit.name
		}
	}
	return humanize.Comma(int64(s)) + "B"
}

// MarshalYAML implements yaml.Marshaler.
func (s Size) MarshalYAML() (any, error) { return s.String(), nil }

func parseSize(text string) (Size, bool) {
	bytes, err := humanize.ParseBytes(text)
	if err != nil || bytes > math.MaxInt64 {
		return 0, false
	}
	return Size(bytes), true
}

// MarshalYAML implements yaml.Marshaler. A list of knowledge bases that is not there means all
// of them, so it must not become an empty one.
func (k Key) MarshalYAML() (any, error) {
	type plain Key
	var node yaml.Node
	if err := node.Encode(plain(k)); err != nil || k.KnowledgeBases != nil {
		return &node, err
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == "knowledge_bases" {
			node.Content = slices.Delete(node.Content, i, i+2)
			break
		}
	}
	return &node, nil
}

// secretName matches the names of members and parameters whose values are secret.
var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|auth|credential|signature`)

// hideSecrets masks the values that are secrets by their names, however deep.
func hideSecrets(values map[string]any) map[string]any {
	if values == nil {
		return nil
	}
	shown := make(map[string]any, len(values))
	for name, value := range values {
		within, nested := value.(map[string]any)
		switch {
		case secretName.MatchString(name):
			shown[name] = masked
		case nested:
			shown[name] = hideSecrets(within)
		default:
			shown[name] = value
		}
	}
	return shown
}

// YAML returns the configuration as the content of a file that means the same, but that
// secrets are masked.
func (c *Config) YAML() ([]byte, error) {
	shown := *c
	shown.Embedding.QueryExtra = hideSecrets(c.Embedding.QueryExtra)
	shown.Embedding.PassageExtra = hideSecrets(c.Embedding.PassageExtra)
	shown.Elasticsearch.URL = slices.Clone(c.Elasticsearch.URL)
	for i, node := range shown.Elasticsearch.URL {
		shown.Elasticsearch.URL[i] = hidePassword(node)
	}
	shown.Embedding.URL = hidePassword(c.Embedding.URL)
	shown.Embeddings = maps.Clone(c.Embeddings)
	for name, service := range shown.Embeddings {
		service.URL = hidePassword(service.URL)
		service.QueryExtra, service.PassageExtra = hideSecrets(service.QueryExtra), hideSecrets(service.PassageExtra)
		shown.Embeddings[name] = service
	}
	shown.LLM.URL = hidePassword(c.LLM.URL)
	shown.Answer.URL = hidePassword(c.Answer.URL)
	shown.Judge.URL = hidePassword(c.Judge.URL)
	shown.Reranker.URL = hidePassword(c.Reranker.URL)
	shown.Rerankers = maps.Clone(c.Rerankers)
	for name, service := range shown.Rerankers {
		service.URL = hidePassword(service.URL)
		shown.Rerankers[name] = service
	}
	shown.Postgres.URL = hideDatabasePassword(c.Postgres.URL)
	shown.Redis.URL = hidePassword(c.Redis.URL)
	return yaml.Marshal(&shown)
}
