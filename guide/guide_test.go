package guide

import (
	"net/url"
	"os"
	"path"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/html"

	"github.com/hybridge-search/hybridge/docs"
	"github.com/hybridge-search/hybridge/internal/realtokens"
)

// site is the guide of this repository.
func site(t testing.TB) *Guide {
	t.Helper()
	words, err := realtokens.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	g, err := Read(docs.Files(), words)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// served is a page as a reader of links sees it.
type served struct {
	ids   map[string]bool
	links []string // of links, pictures and styles
	text  string
}

func read(t *testing.T, page []byte) served {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(page)))
	if err != nil {
		t.Fatal(err)
	}
	s := served{ids: map[string]bool{}}
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			s.text += n.Data
		}
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				if s.ids[a.Val] || a.Val == "" {
					t.Errorf("the id %q is there twice, or empty", a.Val)
				}
				s.ids[a.Val] = true
			case "href", "src", "action":
				s.links = append(s.links, a.Val)
			case "style":
				t.Errorf("%s has a style, which the policy refuses", n.Data)
			}
		}
	}
	return s
}

// Every link of every page leads somewhere, and every anchor to a heading.
func TestLinksLead(t *testing.T) {
	g := site(t)
	files := g.Files()
	pages := map[string]served{}
	for address, content := range g.Pages() {
		pages[address] = read(t, content)
	}
	elsewhere := map[string]bool{"/": true, "/docs": true, SearchAddress("en"): true, SearchAddress("zh"): true}
	if len(pages) < 40 {
		t.Fatalf("only %d pages; want at least 40 pages", len(pages))
	}
	for address, page := range pages {
		for _, link := range page.links {
			to, err := url.Parse(link)
			if err != nil {
				t.Errorf("%s: %v", address, err)
				continue
			}
			if to.IsAbs() {
				continue
			}
			target := to.Path
			if target == "" {
				target = address
			}
			other, isPage := pages[target]
			if _, isFile := files[target]; !isPage && !isFile && !elsewhere[target] {
				t.Errorf("%s links to %s, which is not served", address, link)
			}
			if isPage && to.Fragment != "" && !other.ids[to.Fragment] {
				t.Errorf("%s links to %s, and that page has no such heading", address, link)
			}
		}
	}
}

// Each question finds the section that answers it first.
func TestQuestionsFindTheirSection(t *testing.T) {
	data, err := os.ReadFile("testdata/questions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]map[string]string
	if err := yaml.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	g := site(t)
	for _, code := range Languages() {
		if len(cases[code]) < 12 {
			t.Errorf("only %d questions in %s; want at least 12 cases[code]", len(cases[code]), code)
		}
		for question, want := range cases[code] {
			var got []string
			for _, hit := range g.in(code).index().search(t.Context(), question, 3) {
				got = append(got, path.Base(hit.page.address)+"#"+hit.id)
			}
			if len(got) == 0 || got[0] != want {
				t.Errorf("%s: %q, want %s", question, got, want)
			}
		}
	}
}
