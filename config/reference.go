package config

import (
	"fmt"
	"strings"
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
