package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/fault"
)

// Sources of a value in force.
const (
	FromDefault     = "default"
	FromFile        = "file"
	FromEnvironment = "environment"
	FromFlag        = "flag"
)

// Origins gives the source of each value by key, if it is not the default.
type Origins map[string]string

// InForce is a setting with the value in force.
type InForce struct {
	Setting
	Value  string // of lists and maps JSON; secrets are masked
	Source string // one of the sources
}

// LoadWithOrigins is Load, and tells where each value came from.
func LoadWithOrigins(path string, flags *pflag.FlagSet, environ []string) (*Config, Origins, error) {
	config, layers, err := loadLayers(path, flags, environ)
	if err != nil {
		return nil, nil, err
	}
	origins := Origins{}
	for i, source := range []string{FromFile, FromEnvironment, FromFlag} {
		for _, s := range Settings() {
			if layers[i].values.Exists(s.Key) {
				origins[s.Key] = source
			}
		}
	}
	return config, origins, nil
}

// InForce lists all settings but the members of entries, as YAML has them. Of the keys of the configuration it tells
// the number alone: they may be those of several tenants.
func (c *Config) InForce(origins Origins) ([]InForce, error) {
	text, err := c.YAML()
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "print the configuration")
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "print the configuration")
	}
	var all []InForce
	for _, s := range Settings() {
		if strings.Contains(s.Key, "[]") {
			continue
		}
		f := InForce{Setting: s, Source: FromDefault}
		if source := origins[s.Key]; source != "" {
			f.Source = source
		}
		if s.Key == "keys" {
			f.Value = fmt.Sprint(len(c.Keys))
		} else if f.Value, err = inValues(values, s.Key); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// inValues is the value of a key as text; empty where it is not there.
func inValues(values map[string]any, key string) (string, error) {
	group, rest, deep := strings.Cut(key, ".")
	if deep {
		within, ok := values[group].(map[string]any)
		if !ok {
			return "", nil
		}
		return inValues(within, rest)
	}
	switch v := values[key].(type) {
	case nil:
		return "", nil
	case []any, map[string]any:
		text, err := json.Marshal(v)
		if err != nil {
			return "", fault.Wrap(fault.Internal, err, "print the setting %s", key)
		}
		if s := string(text); s != "[]" && s != "{}" {
			return s, nil
		}
		return "", nil
	default:
		return fmt.Sprint(v), nil
	}
}
