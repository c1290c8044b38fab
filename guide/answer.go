package guide

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

const (
	searchName   = "search" // the address of a search, beneath its language
	maxQuestion  = 200      // characters of a question
	shownHits    = 20
	shownGuesses = 5 // where a page is missing
)

// SearchAddress is where a language is searched; its parameter q is the question.
func SearchAddress(code string) string { return First(code) + searchName }

func searchAddress(code, question string) string {
	return SearchAddress(code) + "?" + url.Values{"q": {question}}.Encode()
}

// name is the file's, which pages of the same content have in every language.
func (p *page) name() string { return path.Base(p.address) }

// Search makes the page that answers a question.
func (g *Guide) Search(ctx context.Context, code, question string) []byte {
	e := g.in(code)
	question, cut := bounded(question)
	v := &view{title: e.search, question: question}
	if question == "" {
		v.main = []*html.Node{el("h1", nil, say(e.search)), el("p", at("class", "quiet"), say(e.ask))}
		return g.frame(e, v)
	}
	v.title = fmt.Sprintf(e.results, question)
	v.main = append(v.main, el("h1", nil, say(v.title)))
	if cut {
		v.main = append(v.main, el("p", at("class", "quiet"), say(fmt.Sprintf(e.cut, maxQuestion))))
	}
	hits := e.index().search(ctx, question, shownHits)
	if len(hits) == 0 {
		v.main = append(v.main, el("p", at("role", "status"), say(fmt.Sprintf(e.nothing, question))),
			el("p", at("class", "quiet"), say(e.ask)))
		return g.frame(e, v)
	}
	v.main = append(v.main, list(hits))
	return g.frame(e, v)
}

// NotFound makes the page for an unknown address, with the hits of its words.
func (g *Guide) NotFound(ctx context.Context, address string) []byte {
	code, name, _ := strings.Cut(strings.TrimPrefix(address, Root), "/")
	e := g.in(code)
	if e.code != code {
		name = code + " " + name
	}
	v := &view{title: e.notFound, main: []*html.Node{
		el("h1", nil, say(e.notFound)),
		el("p", at("class", "quiet"), say(e.notFoundAbout)),
	}}
	between := func(r rune) bool { return strings.ContainsRune("/-_. ", r) }
	v.question, _ = bounded(strings.Join(strings.FieldsFunc(name, between), " "))
	if hits := e.index().search(ctx, v.question, shownGuesses); len(hits) > 0 {
		v.main = append(v.main, el("p", nil, say(e.notFoundSearch)), list(hits))
	}
	return g.frame(e, v)
}

// bounded is a question without the parts that would take long to search.
func bounded(question string) (kept string, cut bool) {
	kept = strings.TrimSpace(strings.ToValidUTF8(question, "\ufffd"))
	if utf8.RuneCountInString(kept) <= maxQuestion {
		return kept, false
	}
	return string([]rune(kept)[:maxQuestion]), true
}

// list shows hits, each with its page.
func list(hits []found) *html.Node {
	all := el("ol", at("class", "hits"))
	for i := range hits {
		h := &hits[i]
		heading, address := rendered(h.heading), h.page.address+"#"+h.id
		if h.heading == "" {
			heading = say(h.section.heading)
		}
		hit := el("li", nil, el("h2", nil, el("a", at("href", address), heading)))
		if h.level > 1 {
			hit.AppendChild(el("p", at("class", "of"), say(h.page.title)))
		}
		if h.text != "" {
			hit.AppendChild(el("p", at("class", "snippet"), rendered(h.text)))
		}
		all.AppendChild(hit)
	}
	return all
}
