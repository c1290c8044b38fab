package docs_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
)

var update = flag.Bool("update", false, "write what is made of other files")

// promising are words of sentences that promise something.
var promising = regexp.MustCompile(
	`(?i)\b(never|always|every|equals?)\b|\bwithin (about )?(\d|one|two|three|four|five|ten|some|half|a|an)[^.]*?\b(s|ms|seconds?|minutes?|hours?)\b`)

var (
	code       = regexp.MustCompile("(?s)```.*?```|<!--.*?-->")
	paragraphs = regexp.MustCompile(`\n\s*\n|\n(?:[-*#|]|\d+\.)`)
	sentences  = regexp.MustCompile("[.!?:;][)\"*]*\\s+([A-Z`*\\[(\"]|\\d)")
	marks      = regexp.MustCompile(`(?://|#) Promise: "(.+)" \(([\w./-]+)\)\.`)
	tests      = regexp.MustCompile(`^(?:func ([Tt]est\w+)\(|def (test_\w+)\(|(?:test|inBothLanguages)\('([^']+)')`)
)

// sentencesOf returns the sentences of a page, without its examples.
func sentencesOf(text string) []string {
	var all []string
	for _, paragraph := range paragraphs.Split(code.ReplaceAllString(text, ""), -1) {
		paragraph = strings.Join(strings.Fields(paragraph), " ")
		for {
			end := sentences.FindStringSubmatchIndex(paragraph)
			if end == nil {
				break
			}
			all = append(all, strings.TrimSpace(paragraph[:end[2]]))
			paragraph = paragraph[end[2]:]
		}
		all = append(all, paragraph)
	}
	return all
}

// pagesWithPromises are what readers go by. ARCHITECTURE.md says how, and what the figures of measurements are of.
func pagesWithPromises(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, pattern := range []string{"../README.md", "*.md", "guide/en/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v; want no error and some names", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name) //nolint:gosec // a page
			if err != nil {
				t.Fatal(err)
			}
			pages[strings.TrimPrefix(filepath.ToSlash(filepath.Join("docs", name)), "docs/../")] = string(text)
		}
	}
	delete(pages, "docs/promises.md")
	return pages
}

// mark is a comment above a test: the words of a sentence, which the test holds.
type mark struct{ words, page, test string }

// marksOfTests reads the comments of all tests.
func marksOfTests(t *testing.T) []mark {
	t.Helper()
	var all []mark
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		base := entry.Name()
		if err != nil || entry.IsDir() {
			if err == nil && name != ".." && (base[0] == '.' || base == "node_modules" || base == "testdata" || base == "dist") {
				err = filepath.SkipDir
			}
			return err
		}
		is := strings.HasSuffix(base, "_test.go") || strings.HasSuffix(base, ".spec.ts") || strings.HasPrefix(base, "test_")
		if !is || base == "promises_test.go" {
			return nil
		}
		text, err := os.ReadFile(name) //nolint:gosec // a test
		if err != nil || !strings.Contains(string(text), " Promise: ") {
			return err
		}
		of := filepath.ToSlash(strings.TrimPrefix(name, ".."+string(filepath.Separator)))
		all = append(all, marksOf(t, of, string(text))...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// marksOf returns the marks of promises in a file of tests, each with the test below it.
func marksOf(t *testing.T, name, text string) []mark {
	t.Helper()
	var all []mark
	waiting := 0
	for _, line := range strings.Split(text, "\n") {
		if found := marks.FindStringSubmatch(line); found != nil {
			all = append(all, mark{words: found[1], page: found[2]})
			waiting++
		}
		found := tests.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		for ; waiting > 0; waiting-- {
			all[len(all)-waiting].test = name + " " + strings.Join(found[1:], "")
		}
	}
	if waiting > 0 {
		t.Errorf("%s: no test stands below Promise: %q; want waiting 0", name, all[len(all)-1].words)
	}
	return all
}

// TestPromises: a sentence that says never, always, every, equal or within a time is held by a test that says so, or
// loses the word. promises.md lists them.
func TestPromises(t *testing.T) {
	all := marksOfTests(t)
	used := make([]bool, len(all))
	var lines []string
	for page, text := range pagesWithPromises(t) {
		for _, sentence := range sentencesOf(text) {
			if !promising.MatchString(sentence) {
				continue
			}
			var held []string
			for i, m := range all {
				if m.page == page && strings.Contains(sentence, m.words) {
					used[i] = true
					held = append(held, "`"+m.test+"`")
				}
			}
			if len(held) == 0 {
				t.Errorf("%s promises what no test says that it holds: %s; want some held", brief.Of(page), sentence)
			}
			lines = append(lines, fmt.Sprintf("| %s | %s | %s |", strings.TrimPrefix(page, "docs/"),
				strings.ReplaceAll(plainSentence(sentence), "|", "\\|"), strings.Join(held, ", ")))
		}
	}
	for i, m := range all {
		if !used[i] {
			t.Errorf("%s holds %q, which %s does not promise", m.test, m.words, brief.Of(m.page))
		}
	}
	slices.Sort(lines)
	want := "# Promises\n\nEach sentence of the documents that says never, always, every, equal or within some time, and the tests that hold it.\n" +
		"A test says so by a comment above it, `// Promise: \"words of the sentence\" (docs/page.md).`;\n" +
		"`go test ./docs -run Promises -update` writes this page.\n\n" +
		"| page | promise | held by |\n|---|---|---|\n" + strings.Join(slices.Compact(lines), "\n") + "\n"
	if *update {
		if err := os.WriteFile("promises.md", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("promises.md"); err != nil || string(got) != want {
		t.Errorf("promises.md is old (%v); -update writes it", err)
	}
}

var links = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)

// plainSentence has no links, which lead elsewhere from another page, and no emphasis.
func plainSentence(sentence string) string {
	return strings.ReplaceAll(strings.Trim(links.ReplaceAllString(sentence, "$1"), "| "), "**", "")
}
