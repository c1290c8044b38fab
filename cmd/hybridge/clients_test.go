package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/golden"
)

// clientRows are the clients of the guide's table, in its order.
var clientRows = []string{
	"Python", "LangChain", "LlamaIndex", "Go", "MCP", "Dify", "ragflow-sdk", "openai", "instant-meilisearch", "cohere",
}

// clientCases are what is tried with each of them, in English and Chinese.
var clientCases = [][2]string{
	{"search", "检索"},
	{"filter", "过滤"},
	{"threshold", "阈值"},
	{"nothing found", "没有结果"},
	{"wrong key", "错误的密钥"},
	{"foreign tenant", "其他租户"},
}

// notTried says why a client has no test of a case, in English and Chinese.
var notTried = map[string][2]string{
	"cohere: filter":         {"the texts come in the request: there is nothing to filter", "文本就在请求里，没有可过滤的内容"},
	"cohere: threshold":      {"the protocol has none; callers cut by `relevance_score`", "协议里没有阈值，由调用者按 `relevance_score` 截取"},
	"cohere: foreign tenant": {"nothing is stored that could be another tenant's", "不存储任何内容，也就没有其他租户的内容"},
}

// What stands in a cell.
const (
	everywhere = "all"
	without    = "yes" // no engine takes part
	nowhere    = "–"
)

// cellTexts are those of cells in Chinese.
var cellTexts = map[string]string{everywhere: "全部", without: "是", nowhere: nowhere}

// TestTheTableOfClients makes the guide's table of what is tested with which client, from what the tests themselves
// say that they cover: the marks @covers of clients/ and the comments "Covers CLIENT: CASES." of this package. A
// client without a test of a case, or without a reason for it, fails it.
func TestTheTableOfClients(t *testing.T) {
	covered := coveredByPython(t)
	maps.Copy(covered, coveredByGo(t))
	for cell := range covered {
		client, tried, _ := strings.Cut(cell, ": ")
		known := slices.ContainsFunc(clientCases, func(c [2]string) bool { return c[0] == tried })
		if !slices.Contains(clientRows, client) || !known {
			t.Errorf("a test covers %q, which the table does not have", cell)
		}
		if _, excused := notTried[cell]; excused {
			t.Errorf("%s is tested: it needs no reason for not being so", cell)
		}
	}
	for _, client := range clientRows {
		for _, c := range clientCases {
			cell := client + ": " + c[0]
			if _, excused := notTried[cell]; covered[cell] == "" && !excused {
				t.Errorf(`no test covers %q; write one that says so, or a reason in notTried; want covered[cell] other than "" or excused`, cell)
			}
		}
	}
	for i, language := range []string{"en", "zh"} {
		pages, err := filepath.Glob("../../docs/guide/" + language + "/clients*.md")
		if err != nil || len(pages) != 1 {
			t.Fatalf("pages %q, %v; want no error and 1 pages", pages, err)
		}
		compareTable(t, pages[0], clientTable(covered, i))
	}
}

// clientTable writes the table and its reasons in a language.
func clientTable(covered map[string]string, language int) string {
	var rows, reasons strings.Builder
	rows.WriteString([]string{"| client |", "| 客户端 |"}[language])
	for _, c := range clientCases {
		rows.WriteString(" " + c[language] + " |")
	}
	rows.WriteString("\n" + strings.Repeat("|---", len(clientCases)+1) + "|\n")
	for _, client := range clientRows {
		rows.WriteString("| " + client + " |")
		for _, c := range clientCases {
			cell := client + ": " + c[0]
			text := covered[cell]
			if reason, excused := notTried[cell]; excused {
				text = nowhere
				fmt.Fprintf(&reasons, []string{"- %s, %s: %s.\n", "- %s，%s：%s。\n"}[language], client, c[language], reason[language])
			}
			if translated, found := cellTexts[text]; found && language == 1 {
				text = translated
			}
			rows.WriteString(" " + text + " |")
		}
		rows.WriteByte('\n')
	}
	return rows.String() + "\n" + reasons.String()
}

// compareTable compares the page's table of clients, which is its last, and the list below it.
func compareTable(t *testing.T, page, want string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?m)^\| (client|客户端) \|(.*\n)+?\n(- .*\n)+`)
	if golden.Updating() {
		changed := table.ReplaceAllLiteralString(string(text), want)
		if err := os.WriteFile(page, []byte(changed), 0o600); err != nil { //nolint:gosec // a page of the repository
			t.Fatal(err)
		}
		return
	}
	if got := table.FindString(string(text)); got != want {
		t.Errorf("%s says\n%s\nand the tests (-update writes it)\n%s", brief.Of(page), got, want)
	}
}

// coveredByPython reads the marks of the tests of clients.
func coveredByPython(t *testing.T) map[string]string {
	t.Helper()
	covered := map[string]string{}
	mark := regexp.MustCompile(`(?m)^@covers(_alone)?\(([^)]*)\)$`)
	for _, source := range sourcesOf(t, "../../clients/*/test_*.py", "../../clients/*/tests/test_*.py") {
		for _, found := range mark.FindAllStringSubmatch(source, -1) {
			names := strings.Split(strings.ReplaceAll(found[2], `"`, ""), ", ")
			for _, tried := range names[1:] {
				covered[names[0]+": "+tried] = everywhere
				if found[1] != "" {
					covered[names[0]+": "+tried] = without
				}
			}
		}
	}
	return covered
}

// coveredByGo reads the comments of the tests of this package, which have to try each engine.
func coveredByGo(t *testing.T) map[string]string {
	t.Helper()
	covered := map[string]string{}
	test := regexp.MustCompile(`(?m)^// Covers ([^:\n]+): ([^\n]+)\.\nfunc (Test\w+)\(t \*testing\.T\) \{\n\t(\w+)\(`)
	for _, source := range sourcesOf(t, "*_test.go") {
		for _, found := range test.FindAllStringSubmatch(source, -1) {
			if found[4] != "onEachEngine" {
				t.Errorf("%s covers its cases on one engine; it must begin with onEachEngine", found[3])
			}
			for tried := range strings.SplitSeq(found[2], ", ") {
				covered[found[1]+": "+tried] = everywhere
			}
		}
	}
	return covered
}

func sourcesOf(t *testing.T, patterns ...string) (sources []string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v; want no error and some files", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, string(text))
		}
	}
	return sources
}
