package docs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/docs"
	"github.com/hybridge-search/hybridge/guide"
)

const (
	valeTerms     = "vale/Hybridge/Terms.yml"
	valeTermsHead = `# Written by the tests of docs with -update; the words are in docs/guide/glossary.yaml.
extends: substitution
message: "Use '%s' in place of '%s'."
level: error
ignorecase: true
swap:
`
)

// Vale replaces the words that the glossary replaces; -update writes its rule.
func TestValeHasTheGlossary(t *testing.T) {
	terms, err := guide.Glossary(docs.Files())
	if err != nil {
		t.Fatal(err)
	}
	want := valeTermsHead
	for _, term := range terms {
		for _, word := range term.Replaced["en"] {
			want += "  '" + exceptBeside(word, term.Unless["en"]) + "': '" + term.Term["en"] + "'\n"
		}
	}
	if *update {
		if err := os.WriteFile(valeTerms, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(contentOf(t, valeTerms), want); diff != "" {
		t.Errorf("%s is out of date; -update writes it (-file +glossary):\n%s; want diff \"\"", valeTerms, diff)
	}
}

// exceptBeside is the expression for a word that does not stand in one of some phrases, which hold it. Vale knows no
// numbered groups.
func exceptBeside(word string, phrases []string) string {
	unnumbered := func(expression string) string { return strings.ReplaceAll(expression, "(", "(?:") }
	expression := unnumbered(word)
	for _, phrase := range phrases {
		before, after, _ := strings.Cut(phrase, word)
		if before != "" {
			expression = "(?<!" + unnumbered(before) + ")" + expression
		}
		if after != "" {
			expression += "(?!" + unnumbered(after) + ")"
		}
	}
	return expression
}
