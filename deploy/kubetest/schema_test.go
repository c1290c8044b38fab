package kubetest

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const schemaPath = chartPath + "/values.schema.json"

// schema is a JSON Schema, as far as it is looked into here.
type schema map[string]any

// at gives the schema of a member, which it makes where there is none yet.
func (s schema) at(name string) schema {
	switch name {
	case "{}": // each value of a map
		return s.below("additionalProperties")
	case "[]": // each entry of a list
		return s.below("items")
	default:
		s["type"] = "object"
		s["additionalProperties"] = false
		return s.below("properties").below(name)
	}
}

func (s schema) below(name string) schema {
	if inner, ok := s[name].(schema); ok {
		return inner
	}
	inner := schema{}
	s[name] = inner
	return inner
}

// notInConfig are settings that the chart decides, and members that are secret, beside those of secrets.
var notInConfig = []string{
	"listen", "data_dir", "open_without_keys", "limits.shutdown_grace", "synonyms.path",
	"embeddings[].api_key", "rerankers[].api_key",
}

// mayBeBoth are secret where they have a password in them.
var mayBeBoth = []string{"postgres.url", "redis.url", "elasticsearch.username", "embeddings", "rerankers"}

var soundsSecret = regexp.MustCompile(`(key|password|secret|token)$`)

// row is one of docs/configuration.md: the setting, its default, what is accepted.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]* \\| ([^|]*) \\|")

// settings are what each setting of docs/configuration.md accepts.
func settings(t *testing.T) map[string]string {
	t.Helper()
	page, known := read(t, root+"/docs/configuration.md"), map[string]string{}
	for _, found := range row.FindAllStringSubmatch(page, -1) {
		known[found[1]] = found[2]
	}
	if rows := strings.Count(page, "\n| `"); rows != len(known) || rows < 100 {
		t.Fatalf("%d of %d settings can be read", len(known), rows)
	}
	return known
}

// TestSchemaKnowsEverySetting: the schema of `config` has the settings of docs/configuration.md that are neither secret
// nor the chart's own, so that a misspelt one is refused before anything is installed.
func TestSchemaKnowsEverySetting(t *testing.T) {
	var whole struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal([]byte(read(t, schemaPath)), &whole); err != nil {
		t.Fatal(err)
	}
	var secrets struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(whole.Properties["secrets"], &secrets); err != nil {
		t.Fatal(err)
	}
	config, known := schema{}, settings(t)
	for _, key := range slices.Sorted(maps.Keys(known)) {
		whole, _, _ := strings.Cut(key, "[]")
		_, secret := secrets.Properties[whole]
		switch {
		case secret && !slices.Contains(mayBeBoth, whole), slices.Contains(notInConfig, key):
		case known[key] == "a text" && soundsSecret.MatchString(key):
			t.Errorf("%s would stand in a ConfigMap; add it to secrets of %s", key, schemaPath)
		default:
			add(config, key, known)
		}
	}
	for name := range secrets.Properties {
		if _, is := known[name]; !is {
			t.Errorf("secrets has %q, which is no setting", name)
		}
	}
	same(t, schemaPath, withConfig(t, config))
}

// add adds a setting, such as presets[].weights.
func add(config schema, key string, accepted map[string]string) {
	at, path := config, ""
	for part := range strings.SplitSeq(key, ".") {
		name, entries := strings.CutSuffix(part, "[]")
		path = strings.TrimPrefix(path+"."+name, ".")
		at = at.at(name)
		if entries && accepted[path] == "a map" {
			at["type"], at = "object", at.at("{}")
		} else if entries {
			at["type"], at = "array", at.at("[]")
		}
		path += strings.TrimPrefix(part, name)
	}
}

// withConfig is the schema with another part `config`.
func withConfig(t *testing.T, config schema) string {
	t.Helper()
	var whole map[string]any
	if err := yaml.Unmarshal([]byte(read(t, schemaPath)), &whole); err != nil {
		t.Fatal(err)
	}
	whole["properties"].(map[string]any)["config"] = config
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(whole); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
