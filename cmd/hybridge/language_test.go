package main

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/locale"
)

// helpTexts are the texts of all commands, in the order of the help.
func helpTexts() (all []string) {
	add := func(text string) {
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		add(cmd.Short)
		if cmd.Name() != "settings" { // its parts are texts of their own
			add(cmd.Long)
		}
		for _, group := range cmd.Groups() {
			add(group.Title)
		}
		flags := func(f *pflag.Flag) { add(f.Usage) }
		cmd.Flags().VisitAll(flags)
		cmd.PersistentFlags().VisitAll(flags)
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				walk(sub)
			}
		}
	}
	p := &cli.Program{Stdout: io.Discard, Stderr: io.Discard, Version: "test", Groups: groups}
	walk(p.RootCommand())
	return all
}

// Every text of the help is in the catalog of the command line, and nothing of a translated one is English but names.
func TestHelpIsTranslated(t *testing.T) {
	t.Parallel()
	zh := locale.MatchCommands("zh")
	docs := map[string]bool{}
	for _, s := range config.Settings() {
		docs[s.Usage()] = true // made of two texts of the server's catalog
	}
	for _, english := range helpTexts() {
		if said := zh.Text(english); !docs[english] && hasWords.MatchString(english) && !isChinese(said) {
			t.Errorf("the help %q is not in locale/cli.zh.json: %q", english, said)
		}
	}
}

var hasWords = regexp.MustCompile(`[a-z]{2} [a-z]{2}`)

func isChinese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// The command line speaks the language of --lang, else of the environment; English where it speaks none of that.
func TestCommandLineSpeaksChinese(t *testing.T) {
	t.Parallel()
	const chinese = "zh_CN.UTF-8"
	folder := t.TempDir()
	f := func(lang, want string, args ...string) {
		t.Helper()
		c := command{t: t, folder: folder, environ: []string{"LANG=" + lang}}
		_, out, errs := c.run("", args...)
		if !strings.Contains(out+errs, want) {
			t.Errorf("LANG=%s hybridge %s:\n%s%s\nwant %q", lang, strings.Join(args, " "), out, errs, want)
		}
	}
	f(chinese, "  kb          创建、列出、显示、检查、导出、导入和删除知识库", "--help")
	f(chinese, "用法：\n  hybridge COMMAND", "--help")
	f(chinese, "\n其他：\n", "--help")
	f(chinese, "API 密钥（HYBRIDGE_KEY）", "kb", "show", "--help")
	f(chinese, "      --top-k 数字", "search", "--help")
	f(chinese, "结果数量（默认：由预设决定）", "search", "--help")
	f(chinese, "选项：\n", "help", "kb", "list")
	f(chinese, "hybridge: 未知选项：--topk；是否想用 --top-k？\n参见 hybridge search --help。", "search", "--topk", "3", "x")
	f(chinese, `"detail": "未知选项：--topk；是否想用 --top-k？"`, "search", "--json", "--topk", "3", "x")
	f(chinese, "hybridge: 缺少 KB：hybridge kb show KB", "kb", "show")
	f(chinese, "没有知识库；可用 `hybridge kb create` 创建", "kb", "list")
	f(chinese, "已在 embedded 上创建 manuals，只有关键词检索", "kb", "create", "manuals", "--dimensions", "0")
	f(chinese, "ID       名称     引擎      类型    向量\nmanuals", "kb", "list")
	f(chinese, "没有结果：", "search", "--kb", "manuals", "anything")
	f(chinese, "hybridge: 知识库 \"manual\" 不存在；是否想用 manuals？", "kb", "show", "manual")
	f("de_DE.UTF-8", "Usage:\n  hybridge COMMAND", "--help")
	f(chinese, "Usage:\n  hybridge COMMAND", "--help", "--lang", "en")
	f("en_US.UTF-8", "用法：\n", "--lang=zh", "search", "--help")
	f("en_US.UTF-8", `hybridge: --lang is "xx"; it must be en or zh`, "search", "--lang", "xx", "a")
}

// What a terminal shows of the help in Chinese has no English but names, flags and values.
func TestChineseHelpHasNoEnglish(t *testing.T) {
	t.Parallel()
	p := &cli.Program{Groups: groups, Stdout: io.Discard, Stderr: io.Discard, Version: "test"}
	c := command{t: t, folder: t.TempDir(), environ: []string{"LANG=zh"}}
	english := regexp.MustCompile(`\b(the|of|a|an|is|are|with|without|to|and|which|that|as|default|more|see|use)\b`)
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "completion" || cmd.Name() == "settings" {
			return
		}
		_, all, _ := c.run("", append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		text, _, _ := strings.Cut(all, "\n示例：")
		rest := all[len(text):]
		if i := strings.Index(rest, "\n\n选项"); i >= 0 {
			text += rest[i:]
		}
		for line := range strings.Lines(text) {
			if word := english.FindString(names.ReplaceAllString(line, " ")); word != "" {
				t.Errorf("hybridge %s --help has %q in %q", cmd.CommandPath(), word, line)
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(p.RootCommand())
}

// names are what stays as it is: flags, JSON, paths, commands.
var names = regexp.MustCompile("`[^`]*`|'[^']*'|\\{.*\\}|--?[\\w-]+|\\S*[_/=:.][\\w./=:-]*")
