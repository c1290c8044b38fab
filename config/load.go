package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/fault"
)

// Variables that are not settings: the file to read, and those of tests.
const (
	fileVariable = EnvPrefix + "CONFIG"
	testPrefix   = EnvPrefix + "TEST_"
)

// layer is one source of settings.
type layer struct {
	name   func(Setting) string // of a setting in this source
	values *koanf.Koanf
}

// Load reads and validates the configuration. If the path is empty, HYBRIDGE_CONFIG names
// the file, or there is none. flags are those added by Flags and may be nil; environ has the
// form of os.Environ. All errors are reported at once, joined.
func Load(path string, flags *pflag.FlagSet, environ []string) (*Config, error) {
	config, _, err := loadLayers(path, flags, environ)
	return config, err
}

// loadLayers is Load, with the file, the environment and the flags as layers.
func loadLayers(path string, flags *pflag.FlagSet, environ []string) (*Config, []layer, error) {
	if path == "" {
		path = fileOf(environ)
	}
	fromFile, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	fromEnv, err := readEnv(environ)
	if err != nil {
		return nil, nil, err
	}
	fromFlags, err := readFlags(flags)
	if err != nil {
		return nil, nil, err
	}
	config := Default()
	layers := []layer{fromFile, fromEnv, fromFlags}
	if err := decode(config, layers); err != nil {
		return nil, nil, err
	}
	if err := config.Validate(); err != nil {
		return nil, nil, err
	}
	return config, layers, nil
}

// Flags adds the flags of all settings that have one.
func Flags(flags *pflag.FlagSet) {
	for _, s := range Settings() {
		if s.Flag == "" {
			continue
		}
		if s.Accept == "true or false" {
			flags.Bool(s.Flag, false, s.Usage())
			continue
		}
		flags.String(s.Flag, s.Default, s.Usage())
	}
}

func fileOf(environ []string) string {
	for _, variable := range environ {
		if path, ok := strings.CutPrefix(variable, fileVariable+"="); ok {
			return path
		}
	}
	return ""
}

func readFile(path string) (layer, error) {
	l := layer{
		name:   func(s Setting) string { return fmt.Sprintf("%s of %s", s.Key, path) },
		values: koanf.New("."),
	}
	if path == "" {
		return l, nil
	}
	err := l.values.Load(file.Provider(path), yaml.Parser())
	switch {
	case errors.Is(err, os.ErrNotExist):
		return l, fault.Invalid("config", path, "a file that exists")
	case err != nil:
		return l, fault.Wrap(fault.InvalidArgument, err, "the configuration file %s is not valid YAML", path)
	}
	return l, nil
}

// readEnv reads the variables that are settings. An empty one counts as not set, because
// compose files leave a variable out that way.
func readEnv(environ []string) (layer, error) {
	keys := map[string]string{}
	for _, s := range Settings() {
		if variable := s.Env(); variable != "" {
			keys[variable] = s.Key
		}
	}
	var unknown []error
	provider := env.Provider(".", env.Opt{
		Prefix:      EnvPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) {
			key, known := keys[name]
			if !known && name != fileVariable && !strings.HasPrefix(name, testPrefix) {
				unknown = append(unknown, unknownVariable(name))
			}
			if value == "" {
				return "", nil
			}
			return key, value
		},
	})
	l := layer{name: func(s Setting) string { return s.Env() }, values: koanf.New(".")}
	if err := l.values.Load(provider, nil); err != nil {
		return l, fault.Wrap(fault.InvalidArgument, err, "the environment cannot be read")
	}
	return l, errors.Join(unknown...)
}

// unknownVariable does not list all variables: there are a hundred.
func unknownVariable(name string) error {
	err := fault.New(fault.InvalidArgument, "environment variable %s does not exist; "+
		"`hybridge help settings` lists those that do", name)
	err.Field = name
	return err
}

// readFlags reads the flags that were given.
func readFlags(flags *pflag.FlagSet) (layer, error) {
	l := layer{name: func(s Setting) string { return "--" + s.Flag }, values: koanf.New(".")}
	if flags == nil {
		return l, nil
	}
	keys := map[string]string{}
	for _, s := range Settings() {
		keys[s.Flag] = s.Key
	}
	provider := posflag.ProviderWithFlag(flags, ".", l.values, func(f *pflag.Flag) (string, any) {
		if !f.Changed || keys[f.Name] == "" {
			return "", nil
		}
		return keys[f.Name], f.Value.String()
	})
	if err := l.values.Load(provider, nil); err != nil {
		return l, fault.Wrap(fault.InvalidArgument, err, "the flags cannot be read")
	}
	return l, nil
}
