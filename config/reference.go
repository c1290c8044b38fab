package config

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

const referenceHead = `# Configuration

<!-- Written by the tests of package config with -update; edit the tags there. -->

Values come from the defaults, a YAML file (` + "`--config`, or `HYBRIDGE_CONFIG`" + `), the environment and the
command line; the later ones win. A name that does not exist and a value that is not accepted end the
start with an error that says what is accepted. An empty variable is as if unset; lists are separated by
commas there, and lists of entries and maps are written in YAML.
` + "`hybridge config check`" + ` prints what is in effect, without secrets.
[config/hybridge.example.yaml](../config/hybridge.example.yaml) has every setting with a comment.
`

// Reference returns docs/configuration.md.
func Reference() string {
	var out strings.Builder
	out.WriteString(referenceHead)
	section := "-"
	for _, s := range Settings() {
		if group := groupOf(s.Key); group != section {
			section = group
			heading(&out, group)
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s |\n",
			s.Key, code(s.Default), cell(s.Accept), alternatives(&s), cell(s.Doc))
	}
	return out.String()
}

// groupOf returns the first part of a key that has several.
func groupOf(key string) string {
	group, _, deep := strings.Cut(key, ".")
	if !deep && !strings.HasPrefix(key, "keys") && !strings.HasPrefix(key, "presets") {
		return ""
	}
	return strings.TrimSuffix(group, "[]")
}

func heading(out *strings.Builder, group string) {
	if group == "" {
		group = "General"
	}
	fmt.Fprintf(out, "\n## %s\n\n| setting | default | accepted | also | |\n|---|---|---|---|---|\n", group)
}

// alternatives lists the variable and the flag.
func alternatives(s *Setting) string {
	var all []string
	if env := s.Env(); env != "" {
		all = append(all, code(env))
	}
	if s.Flag != "" {
		all = append(all, code("--"+s.Flag))
	}
	return strings.Join(all, " ")
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

const exampleHead = `# Every setting of Hybridge, with its default or an example. Copy what you need:
#
#   hybridge serve --config hybridge.yaml
#
# Each setting is also a variable, HYBRIDGE_EMBEDDING_URL for embedding.url, and some are flags. Flags override
# variables, variables override this file. Durations are written 30s or 2h, sizes 512KiB or 8MiB.
# "hybridge config check" shows what is in effect.
#
# Written by the tests of package config with -update; keys and presets are from samples.yaml.
`

// samples are keys and presets as someone may have them: they have no defaults.
//
//go:embed samples.yaml
var samples string

// Example returns hybridge.example.yaml.
func Example() (string, error) {
	var out strings.Builder
	out.WriteString(exampleHead)
	if err := exemplify(&out, reflect.ValueOf(*Default()), "", ""); err != nil {
		return "", err
	}
	return out.String() + "\n" + samples, nil
}

// exemplify writes the settings of a group, each below its description.
func exemplify(out *strings.Builder, group reflect.Value, prefix, indent string) error {
	for i := range group.NumField() {
		field, value := group.Type().Field(i), group.Field(i)
		key := field.Tag.Get("yaml")
		switch {
		case key == "keys", key == "presets":
			continue
		case field.Anonymous:
			if err := exemplify(out, value, prefix, indent); err != nil {
				return err
			}
			continue
		case field.Type.Kind() == reflect.Struct:
			fmt.Fprintf(out, "\n%s%s:\n", indent, key)
			if err := exemplify(out, value, prefix+key+".", indent+"  "); err != nil {
				return err
			}
			continue
		}
		written, err := exampleValue(value)
		if err != nil {
			return err
		}
		if indent == "" {
			out.WriteByte('\n')
		}
		setting := settingOf(prefix + key)
		comment(out, indent, setting.Doc+" ("+setting.Accept+")")
		fmt.Fprintf(out, "%s%s: %s\n", indent, key, written)
	}
	return nil
}

// exampleValue writes a value on one line.
func exampleValue(v reflect.Value) (string, error) {
	switch v.Kind() { //nolint:exhaustive // lists and maps alone may be nil
	case reflect.Slice:
		if v.IsNil() {
			return "[]", nil
		}
	case reflect.Map:
		return "{}", nil
	}
	var node yaml.Node
	if err := node.Encode(v.Interface()); err != nil {
		return "", err
	}
	node.Style = yaml.FlowStyle
	text, err := yaml.Marshal(&node)
	return strings.TrimSpace(string(text)), err
}

// comment writes a text as lines of at most 100 characters.
func comment(out *strings.Builder, indent, text string) {
	line := indent + "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > 100 {
			out.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	out.WriteString(line + "\n")
}
