package config

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"
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

const referenceHeadChinese = `# 配置参考

<!-- 由 config 包的测试以 -update 生成；中文文字在 locale/zh.json 中。 -->

设置的值依次来自默认值、YAML 文件（` + "`--config` 或 `HYBRIDGE_CONFIG`" + `）、环境变量和命令行，后者覆盖前者。名称不存在或取值不被接受时，
网关不会启动，错误信息会说明可以接受什么。空的环境变量等于没有设置；环境变量中的列表以逗号分隔，由条目组成的列表和映射写成 YAML。
` + "`hybridge config check`" + ` 打印实际生效的配置，不含密钥和密码。
[config/hybridge.example.yaml](../config/hybridge.example.yaml) 有全部设置，每项带有注释（英文）。
`

// referenceWords are the words of the reference that are not of a setting, by language.
type referenceWords struct{ head, general, columns string }

var (
	englishReference = referenceWords{referenceHead, "General", "| setting | default | accepted | also | |"}
	chineseReference = referenceWords{referenceHeadChinese, "通用", "| 设置 | 默认值 | 可用的值 | 也可用 | 说明 |"}
)

// Reference returns docs/configuration.md.
func Reference() string {
	return englishReference.write(func(s *Setting) (accept, doc string) { return s.Accept, s.Doc })
}

// ReferenceChinese returns docs/configuration.zh.md; translated gives the Chinese texts of a setting.
func ReferenceChinese(translated func(s *Setting) (accept, doc string)) string {
	return chineseReference.write(translated)
}

func (w *referenceWords) write(texts func(s *Setting) (accept, doc string)) string {
	var out strings.Builder
	out.WriteString(w.head)
	section := "-"
	for _, s := range Settings() {
		if group := groupOf(s.Key); group != section {
			section = group
			w.heading(&out, group)
		}
		accept, doc := texts(&s)
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s |\n",
			s.Key, code(s.Default), cell(accept), alternatives(&s), cell(doc))
	}
	return out.String()
}

// lists are the settings of several entries: each stands in the section of its entries' settings.
var lists = []string{"keys", "presets", "embeddings", "rerankers"}

// groupOf returns the first part of a key that has several.
func groupOf(key string) string {
	group, _, deep := strings.Cut(key, ".")
	if !deep && !slices.Contains(lists, strings.TrimSuffix(group, "[]")) {
		return ""
	}
	return strings.TrimSuffix(group, "[]")
}

func (w *referenceWords) heading(out *strings.Builder, group string) {
	if group == "" {
		group = w.general
	}
	fmt.Fprintf(out, "\n## %s\n\n%s\n|---|---|---|---|---|\n", group, w.columns)
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
