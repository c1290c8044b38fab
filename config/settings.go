package config

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/scoring"
)

// EnvPrefix begins the name of every variable that is a setting.
const EnvPrefix = "HYBRIDGE_"

// Setting describes one setting: a leaf of Config, or a member of the entries of a list or
// map, which has [] in its key.
type Setting struct {
	Key     string // such as embedding.url or keys[].name
	Type    reflect.Type
	Accept  string // accepted values, in words
	Doc     string
	Flag    string // of the command line; may be empty
	Default string // as YAML; empty for none
}

// Env returns the variable that sets it; empty for members of entries.
func (s *Setting) Env() string {
	if strings.Contains(s.Key, "[]") {
		return ""
	}
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// Usage is the help of the flag.
func (s *Setting) Usage() string {
	return fmt.Sprintf("%s (%s)", strings.TrimSuffix(s.Doc, "."), s.Accept)
}

// Settings lists all settings in the order of Config. Nobody changes the list: all who ask have it in common.
func Settings() []Setting { return collected() }

var collected = sync.OnceValue(func() []Setting { return collect(nil, "", reflect.ValueOf(*Default())) })

func collect(settings []Setting, prefix string, group reflect.Value) []Setting {
	for i := range group.NumField() {
		field, value := group.Type().Field(i), group.Field(i)
		key := prefix + field.Tag.Get("yaml")
		if field.Anonymous {
			settings = collect(settings, prefix, value)
			continue
		}
		if field.Type.Kind() == reflect.Struct {
			settings = collect(settings, key+".", value)
			continue
		}
		if t := field.Type; t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
			settings = collect(settings, key+".", reflect.New(t.Elem()).Elem())
			continue
		}
		flag := field.Tag.Get("flag")
		if strings.Contains(key, "[]") { // what one section has as flags, entries of another have not
			flag = ""
		}
		settings = append(settings, Setting{
			Key: key, Type: field.Type, Doc: described(field), Flag: flag,
			Accept: whatAccepts(field), Default: printed(value),
		})
		if entry, ok := entryType(field.Type); ok {
			usual := reflect.New(entry).Elem()
			setDefaults(usual)
			settings = collect(settings, key+"[].", usual)
		}
	}
	return settings
}

// entryType returns the struct that a list or map holds.
func entryType(t reflect.Type) (reflect.Type, bool) {
	if (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && t.Elem().Kind() == reflect.Struct {
		return t.Elem(), true
	}
	return nil, false
}

// described gives the description of a setting. A normalizer has no doc tag, because that would replace
// the list of normalizers in the OpenAPI document.
func described(field reflect.StructField) string {
	if field.Type == reflect.TypeFor[*scoring.Normalizer]() {
		return "linear: how raw scores are put on one scale."
	}
	return field.Tag.Get("doc")
}

// whatAccepts describes the accepted values of a setting.
func whatAccepts(field reflect.StructField) (accepted string) {
	if said := field.Tag.Get("accept"); said != "" {
		return said
	}
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "a duration above 0, as 30s or 2h"
	case reflect.TypeFor[Size]():
		return "a size above 0, as 512KiB or 8MiB"
	case reflect.TypeFor[[]string]():
		return "a list of texts"
	case reflect.TypeFor[scoring.Normalizer]():
		return scoring.AcceptedNormalizers()
	}
	switch t.Kind() { //nolint:exhaustive // the kinds that Config has
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "a map"
	case reflect.Int:
		return "a whole number"
	default:
		return "a number"
	}
}

func printed(v reflect.Value) string {
	if v.IsZero() && v.Kind() != reflect.Bool && v.Kind() != reflect.Int {
		return ""
	}
	return fmt.Sprint(v.Interface())
}
