package config

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/fault"
)

// decode merges the layers into the config. An error names a setting as its layer does: by
// key, variable or flag.
func decode(config *Config, layers []layer) error {
	all := koanf.New(".")
	for _, l := range layers {
		if err := all.Merge(l.values); err != nil {
			return fault.Wrap(fault.Internal, err, "merge the settings")
		}
	}
	var seen mapstructure.Metadata
	err := all.UnmarshalWithConf("", config, koanf.UnmarshalConf{
		Tag: "yaml",
		DecoderConfig: &mapstructure.DecoderConfig{
			Result:          config,
			TagName:         "yaml",
			SquashTagOption: "inline",
			Metadata:        &seen,
			DecodeHook:      mapstructure.DecodeHookFuncValue(converted),
			MatchName:       func(key, field string) bool { return key == field },
		},
	})
	var errs []error
	slices.Sort(seen.Unused)
	for _, key := range seen.Unused {
		errs = append(errs, unknownName(key, siblings(key)))
	}
	for _, bad := range leaves(err) {
		errs = append(errs, explain(bad, layers))
	}
	return errors.Join(errs...)
}

// rejected is an invalid value of a setting.
type rejected struct{ value any }

// Error implements error.
func (r *rejected) Error() string { return fmt.Sprintf("%v is not accepted", r.value) }

// converted turns text, as variables and flags hold it, into the type of a setting. A
// number is not accepted as a duration, because it has no unit.
func converted(from, to reflect.Value) (any, error) {
	value := from.Interface()
	text, isText := value.(string)
	switch {
	case to.Type() == reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(text)
		return d, orRejected(err == nil, value)
	case !isText:
		f, isFloat := value.(float64)
		return value, orRejected(!isFloat || to.Kind() != reflect.Int || f == math.Trunc(f), value)
	case to.Type() == reflect.TypeFor[Size]():
		size, ok := parseSize(text)
		return size, orRejected(ok, value)
	case to.Type() == reflect.TypeFor[[]string]():
		return splitList(text), nil
	}
	return parse(text, to)
}

func parse(text string, to reflect.Value) (any, error) {
	if to.Kind() == reflect.Struct && to.CanAddr() { // a group that text is short for
		if group, short := to.Addr().Interface().(encoding.TextUnmarshaler); short {
			err := group.UnmarshalText([]byte(text))
			return to.Interface(), orRejected(err == nil, text)
		}
	}
	switch to.Kind() { //nolint:exhaustive // the kinds that Config has
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		return b, orRejected(err == nil, text)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		return n, orRejected(err == nil, text)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		return f, orRejected(err == nil, text)
	case reflect.Slice, reflect.Map: // variables have them in YAML
		var value any
		err := yaml.Unmarshal([]byte(text), &value)
		return value, orRejected(err == nil && value != nil, text)
	default:
		return text, nil
	}
}

func orRejected(ok bool, value any) error {
	if ok {
		return nil
	}
	return &rejected{value: value}
}

func splitList(text string) []string {
	var list []string
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// leaves returns the innermost errors, which name the settings.
func leaves(err error) []*mapstructure.DecodeError {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*mapstructure.DecodeError
		for _, e := range joined.Unwrap() {
			all = append(all, leaves(e)...)
		}
		return all
	}
	var decoding *mapstructure.DecodeError
	if !errors.As(err, &decoding) {
		return nil
	}
	if inner := leaves(decoding.Unwrap()); len(inner) > 0 {
		return inner
	}
	return []*mapstructure.DecodeError{decoding}
}

func explain(bad *mapstructure.DecodeError, layers []layer) error {
	setting := settingOf(bad.Name())
	name := cmp.Or(bad.Name(), "the configuration")
	for _, l := range layers {
		if l.values.Exists(setting.Key) && setting.Key == bad.Name() {
			name = l.name(setting)
		}
	}
	err := fault.Invalid(name, shownValue(bad, setting, layers), cmp.Or(setting.Accept, "a group of settings"))
	err.Field = setting.Key
	return err
}

// noun describes a value that is hidden because it is large or secret.
type noun string

func shownValue(bad *mapstructure.DecodeError, setting Setting, layers []layer) any {
	var value any
	for _, l := range layers {
		if l.values.Exists(bad.Name()) {
			value = l.values.Get(bad.Name())
		}
	}
	var mine *rejected
	var parsing *mapstructure.ParseError
	var converting *mapstructure.UnconvertibleTypeError
	switch {
	case errors.As(bad, &mine):
		value = mine.value
	case errors.As(bad, &parsing):
		value = parsing.Value
	case errors.As(bad, &converting):
		value = converting.Value
	}
	if setting.Type == nil || setting.Type == reflect.TypeFor[Secret]() {
		return kindOf(value)
	}
	if _, entries := entryType(setting.Type); entries {
		return kindOf(value)
	}
	return value
}

func kindOf(value any) noun {
	switch value.(type) {
	case string:
		return "a text"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case bool:
		return "true or false"
	default:
		return "a number"
	}
}

// entryIndex is the index in a list, or the name in a map.
var entryIndex = regexp.MustCompile(`\[[^\]]*\]`)

// settingOf returns the setting of a key such as keys[3].name or presets[x].base.
func settingOf(key string) Setting {
	general := entryIndex.ReplaceAllString(key, "[]")
	for _, s := range Settings() {
		if s.Key == general || s.Key+"[]" == general {
			return s
		}
	}
	return Setting{Key: key}
}

// siblings lists the names that are accepted where an unknown key is.
func siblings(key string) []string {
	general := entryIndex.ReplaceAllString(key, "[]")
	group := general[:strings.LastIndexByte(general, '.')+1]
	names := map[string]string{}
	for _, s := range Settings() {
		if rest, ok := strings.CutPrefix(s.Key, group); ok {
			name, _, _ := strings.Cut(rest, ".")
			names[strings.TrimSuffix(name, "[]")] = ""
		}
	}
	return keysOf(names)
}

func keysOf(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func unknownName(name string, accepted []string) error {
	err := fault.New(fault.InvalidArgument, "setting %s does not exist; accepted are %s",
		name, strings.Join(accepted, ", "))
	err.Field = name
	return err
}
