package guide

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/docs"
)

var update = flag.Bool("update", false, "write the pages of the glossary")

// glossaryFrames are the page around the terms, by language: before them, and the order of the columns.
var glossaryFrames = map[string]struct{ before, other string }{
	"en": {"# Glossary\n\nThe words of this guide, of the API and of the web console, in English and Chinese.\n\n| term | in Chinese | |\n|---|---|---|\n", "zh"},
	"zh": {"# 术语表\n\n手册、API 和网页界面共用的术语，附英文。\n\n| 术语 | 英文 | |\n|---|---|---|\n", "en"},
}

func TestGlossaryIsMadeOfItsData(t *testing.T) {
	terms := glossary(t)
	for code, frame := range glossaryFrames {
		page := frame.before
		for _, term := range terms {
			if term.About != nil {
				page += fmt.Sprintf("| %s | %s | %s |\n", term.Term[code], term.Term[frame.other], term.About[code])
			}
		}
		file := "../docs/guide/" + code + "/glossary.md"
		if *update {
			if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != page { //nolint:gosec // a page
			t.Errorf("%s: %v; want no error and the terms of glossary.yaml (-update writes it)", file, err)
		}
	}
}

func TestGlossaryHasEachTermOnce(t *testing.T) {
	terms := glossary(t)
	for _, code := range Languages() {
		seen := map[string]bool{}
		for _, term := range terms {
			for _, name := range append([]string{term.Term[code]}, term.Aliases[code]...) {
				if name != strings.TrimSpace(name) || name == "" {
					t.Errorf("%s: a name is %q; want no space around it", term.Term["en"], name)
				}
			}
			if name := term.Term[code]; seen[name] && term.About != nil {
				t.Errorf("%s: %q is there twice; want each term once", code, name)
			}
			seen[term.Term[code]] = true
		}
	}
	if !slices.IsSortedFunc(terms, func(a, b Term) int {
		return strings.Compare(strings.ToLower(a.Term["en"]), strings.ToLower(b.Term["en"]))
	}) {
		t.Error("the terms are out of order; want them by the English term")
	}
}

// People's words lead to a section, whatever the guide calls the thing.
func TestWordsOfPeopleFindSomething(t *testing.T) {
	data, err := os.ReadFile("testdata/words.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var words map[string][]string
	if err := yaml.Unmarshal(data, &words); err != nil {
		t.Fatal(err)
	}
	g := site(t)
	for _, code := range Languages() {
		if len(words[code]) < 50 {
			t.Errorf("%d words in %s; want at least 50", len(words[code]), code)
		}
		for _, word := range words[code] {
			if hits := g.in(code).index().search(t.Context(), word, 3); len(hits) == 0 {
				t.Errorf("%s: %q finds nothing; want a section (an alias in glossary.yaml)", code, word)
			}
		}
	}
}

func glossary(t *testing.T) []Term {
	t.Helper()
	terms, err := Glossary(docs.Files())
	if err != nil || len(terms) < 50 {
		t.Fatalf("%d terms, %v; want at least 50 and no error", len(terms), err)
	}
	return terms
}
