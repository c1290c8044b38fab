package web

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/docs"
	"github.com/hybridge-search/hybridge/guide"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/realtokens"
)

// TestTermsLeadIntoTheGuide holds the terms that the application explains to the guide: each has a text in
// every language, and leads to a heading that is there.
func TestTermsLeadIntoTheGuide(t *testing.T) {
	file, err := os.ReadFile("src/i18n/terms.json")
	if err != nil {
		t.Fatal(err)
	}
	var terms map[string]map[string]struct{ Text, Guide string }
	if err := json.Unmarshal(file, &terms); err != nil {
		t.Fatal(err)
	}
	words, err := realtokens.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	read, err := guide.Read(docs.Files(), words)
	if err != nil {
		t.Fatal(err)
	}
	pages := read.Pages()
	if len(terms) < 40 {
		t.Errorf("%d terms only; want at least 40 terms", len(terms))
	}
	for name, said := range terms {
		for _, language := range guide.Languages() {
			of := said[language]
			page, anchor, _ := strings.Cut(of.Guide, "#")
			html := pages[guide.First(language)+page]
			switch {
			case of.Text == "" || len(of.Text) > 400:
				t.Errorf("%s in %s has %d bytes of text, want 1 to 400", name, language, len(of.Text))
			case html == nil:
				t.Errorf("%s in %s leads to the page %q, which is not there", name, language, brief.Of(page))
			case !regexp.MustCompile(`<h[1-6] id="` + regexp.QuoteMeta(anchor) + `"`).Match(html):
				t.Errorf("%s in %s leads to the heading %q of %s, which is not there", name, language, anchor, brief.Of(page))
			}
		}
	}
}
