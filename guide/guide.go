// Package guide makes pages for a browser of the user guide: Markdown in several languages, the
// reference beside it, and a search over both. Pages need no script, and nothing from elsewhere.
//
//	contents.go  contents.yaml: the parts of the guide, and the order of its pages
//	glossary.go  glossary.yaml: terms, the words by which people search for them, and the words they replace
//	markdown.go  a file → its HTML, its headings, its sections
//	links.go     where links and pictures of a file lead
//	search.go    sections by BM25, and their sentences that answer a question
//	frame.go     the frame of a page
//	answer.go    the pages that are made for a request: hits, and unknown addresses
//	texts.go     the words of the frame, in each language
package guide

import (
	_ "embed" // the looks of the pages
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/highlight"
)

// Root is the address that the guide is served beneath.
const Root = "/guide/"

// folder holds the guide among the files: a folder for each language, and contents.yaml.
const folder = "guide"

var (
	//go:embed style.css
	style []byte
	//go:embed mark.svg
	mark []byte
)

// Analyzer turns texts and questions into tokens; tokens.Analyzer is one.
type Analyzer interface {
	highlight.Tokenizer
	Terms(text string) []string
	Parse(query string) analysis.Query
}

// Guide is all of the guide, rendered. It may be used by many at once.
type Guide struct {
	words    Analyzer
	sources  map[string][]byte // by file; of pages only until they are read
	pages    map[string]*page  // by file
	editions []*edition
}

// edition is the guide in one language.
type edition struct {
	texts
	parts []part
	order []*page // of all parts but the reference
	index func() *index
}

// part is a heading of the table of contents.
type part struct {
	name  string
	pages []*page
}

// Read reads the guide of a documentation: guide/contents.yaml, guide/LANGUAGE/*.md, pictures in
// SVG, and *.md as the reference: NAME.md in English, and NAME.LANGUAGE.md where it is in another language too.
func Read(files fs.FS, words Analyzer) (*Guide, error) {
	g := &Guide{words: words, sources: map[string][]byte{}, pages: map[string]*page{}}
	if err := g.readSources(files); err != nil {
		return nil, err
	}
	for name, source := range g.sources {
		if !isPage(name) {
			continue
		}
		p, err := g.readPage(name, source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		g.pages[name] = p
	}
	maps.DeleteFunc(g.sources, func(name string, _ []byte) bool { return g.pages[name] != nil })
	contents, err := readContents(files)
	if err != nil {
		return nil, err
	}
	terms, err := Glossary(files)
	if err != nil {
		return nil, err
	}
	for i := range languages {
		e, err := g.edition(&languages[i], contents, terms)
		if err != nil {
			return nil, err
		}
		g.editions = append(g.editions, e)
	}
	return g, nil
}

// readSources reads every file that may be served.
func (g *Guide) readSources(files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isPage(name) && path.Ext(name) != ".svg" {
			return err
		}
		g.sources[name], err = fs.ReadFile(files, name)
		return err
	})
}

// isPage reports whether a file is a page: of the guide in one of its languages, or of the reference.
func isPage(name string) bool {
	folders := []string{"."}
	for _, code := range Languages() {
		folders = append(folders, path.Join(folder, code))
	}
	return path.Ext(name) == ".md" && slices.Contains(folders, path.Dir(name))
}

// languageOf is the language of a page: its folder in the guide, its ending in the reference, and else the first.
func languageOf(name string) string {
	for _, code := range Languages() {
		if path.Dir(name) == path.Join(folder, code) || strings.HasSuffix(name, "."+code+".md") {
			return code
		}
	}
	return languages[0].code
}

// edition puts the pages of a language in their order.
func (g *Guide) edition(t *texts, contents []listed, terms []Term) (*edition, error) {
	e := &edition{texts: *t}
	for _, l := range contents {
		of := part{name: l.Part[t.code]}
		for _, name := range l.Pages {
			if p := g.pages[path.Join(folder, t.code, name+".md")]; p != nil {
				of.pages = append(of.pages, p)
			}
		}
		if len(of.pages) > 0 {
			e.parts = append(e.parts, of)
			e.order = append(e.order, of.pages...)
		}
	}
	if len(e.order) == 0 {
		return nil, fmt.Errorf("%s lists no page that is in %s/%s", contentsFile, folder, t.code)
	}
	for name, p := range g.pages {
		if path.Dir(name) == path.Join(folder, t.code) && !slices.Contains(e.order, p) {
			return nil, fmt.Errorf("%s does not list the page %s", contentsFile, name)
		}
	}
	if reference := g.reference(t.code); len(reference) > 0 {
		e.parts = append(e.parts, part{name: t.reference, pages: reference})
	}
	e.index = sync.OnceValue(func() *index { return newIndex(g.words, e, terms) })
	return e, nil
}

// reference are the pages beside the guide for readers of a language, by title: in the first language where there is no
// page in theirs.
func (g *Guide) reference(code string) (all []*page) {
	first := languages[0].code
	for name, p := range g.pages {
		if !p.isReference() {
			continue
		}
		translated := g.pages[strings.TrimSuffix(name, ".md")+"."+code+".md"] != nil
		if in := languageOf(name); in == code || in == first && !translated {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *page) int { return strings.Compare(a.title, b.title) })
	return all
}

// in is the edition in a language; where there is none, that of the first.
func (g *Guide) in(code string) *edition {
	for _, e := range g.editions {
		if e.code == code {
			return e
		}
	}
	return g.editions[0]
}

// Languages gives the languages of the guide.
func Languages() (codes []string) {
	for i := range languages {
		codes = append(codes, languages[i].code)
	}
	return codes
}

// First is the address of the guide in a language.
func First(code string) string { return Root + code + "/" }

// Pages gives the served pages by address, except the ones made for a request.
func (g *Guide) Pages() map[string][]byte {
	all := map[string][]byte{}
	for _, e := range g.editions {
		for _, p := range e.order {
			all[p.address] = g.render(e, p)
		}
		all[First(e.code)] = all[e.order[0].address]
	}
	for _, p := range g.pages {
		if p.isReference() {
			all[p.address] = g.render(g.in(languageOf(p.file)), p)
		}
	}
	return all
}

// Files gives the pictures, the style sheet and the mark, by address.
func (g *Guide) Files() map[string][]byte {
	all := map[string][]byte{Root + styleFile: style, Root + markFile: mark}
	for name, content := range g.sources {
		if path.Ext(name) == ".svg" {
			all[addressOf(name)] = content
		}
	}
	return all
}
