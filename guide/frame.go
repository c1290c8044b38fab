package guide

import (
	"bytes"
	"fmt"

	"golang.org/x/net/html"
)

const (
	styleFile = "style.css"
	markFile  = "mark.svg"
)

// el makes an element: attributes are names and values in turn.
func el(tag string, attributes []string, children ...*html.Node) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: tag}
	for i := 0; i < len(attributes); i += 2 {
		n.Attr = append(n.Attr, html.Attribute{Key: attributes[i], Val: attributes[i+1]})
	}
	for _, child := range children {
		if child != nil {
			n.AppendChild(child)
		}
	}
	return n
}

// at makes a list of attributes read well.
func at(namesAndValues ...string) []string { return namesAndValues }

func say(text string) *html.Node { return &html.Node{Type: html.TextNode, Data: text} }

// rendered is HTML that was made, and escaped, before.
func rendered(markup string) *html.Node { return &html.Node{Type: html.RawNode, Data: markup} }

// view is the content of the frame.
type view struct {
	title    string
	page     *page  // nil: none of the guide
	question string // in the search field
	main     []*html.Node
}

// render makes the page of a file.
func (g *Guide) render(e *edition, p *page) []byte {
	return g.frame(e, &view{title: p.title, page: p, main: []*html.Node{
		el("h1", at("id", p.sections[0].id), say(p.title)),
		headings(e, p, "details"),
		el("div", at("class", "prose"), rendered(string(p.body))),
		turning(e, p),
	}})
}

// frame makes a page: head, bar, contents, content, and its headings.
func (g *Guide) frame(e *edition, v *view) []byte {
	main := el("main", at("id", "main", "tabindex", "-1"), v.main...)
	columns := el("div", at("class", "columns"), contents(e, v.page), main)
	if v.page != nil {
		columns.AppendChild(el("div", at("class", "beside"), headings(e, v.page, "nav")))
	}
	page := el("html", at("lang", e.tag),
		el("head", nil,
			el("meta", at("charset", "utf-8")),
			el("meta", at("name", "viewport", "content", "width=device-width, initial-scale=1")),
			el("meta", at("name", "color-scheme", "content", "light dark")),
			el("title", nil, say(v.title+" · "+e.site+" "+e.guide)),
			el("link", at("rel", "icon", "type", "image/svg+xml", "href", Root+markFile)),
			el("link", at("rel", "stylesheet", "href", Root+styleFile)),
		),
		el("body", nil,
			el("a", at("class", "skip", "href", "#main"), say(e.skip)),
			g.bar(e, v),
			columns,
		),
	)
	var b bytes.Buffer
	b.WriteString("<!doctype html>\n")
	_ = html.Render(&b, page) // a buffer refuses nothing
	b.WriteByte('\n')
	return b.Bytes()
}

// bar is the head of every page: where one is, the search, the other languages.
func (g *Guide) bar(e *edition, v *view) *html.Node {
	links := el("nav", at("class", "tools", "aria-label", e.site),
		el("a", at("href", "/"), say(e.application)),
		el("a", at("href", "/docs"), say("API")),
	)
	for _, other := range g.editions {
		if other.code != e.code {
			links.AppendChild(el("a", at("href", other.twin(v), "hreflang", other.tag, "lang", other.tag), say(other.language)))
		}
	}
	return el("header", at("class", "bar"),
		el("div", at("class", "where"),
			el("a", at("class", "brand", "href", "/"),
				el("img", at("src", Root+markFile, "width", "22", "height", "22", "alt", "")), say(e.site)),
			el("a", at("class", "name", "href", First(e.code)), say(e.guide)),
		),
		el("form", at("role", "search", "action", First(e.code)+searchName),
			el("input", at("type", "search", "name", "q", "value", v.question, "maxlength", fmt.Sprint(maxQuestion),
				"aria-label", e.search, "placeholder", e.search, "autocomplete", "off")),
			el("button", nil, say(e.find)),
		),
		links,
		el("button", at("class", "open", "type", "button", "popovertarget", "contents"), say(e.contents)),
	)
}

// twin is where an edition has what is shown in another one: the page of the same name, the same
// search, or else its beginning.
func (e *edition) twin(v *view) string {
	if v.page == nil && v.question != "" {
		return searchAddress(e.code, v.question)
	}
	if v.page != nil {
		for _, part := range e.parts {
			for _, p := range part.pages {
				if p.name() == v.page.name() && p.isReference() == v.page.isReference() && languageOf(p.file) == e.code {
					return p.address
				}
			}
		}
	}
	return First(e.code)
}

// contents is the table of contents. Narrow windows show it when its button is pressed.
func contents(e *edition, here *page) *html.Node {
	nav := el("nav", at("id", "contents", "class", "contents", "popover", "", "aria-label", e.contents))
	for i, part := range e.parts {
		id := fmt.Sprintf("part-%d", i+1)
		list := el("ul", at("aria-labelledby", id))
		for _, p := range part.pages {
			attributes := at("href", p.address)
			if p == here {
				attributes = append(attributes, "aria-current", "page")
			}
			if first := languages[0].tag; e.tag != first && languageOf(p.file) != e.code {
				attributes = append(attributes, "lang", first, "hreflang", first)
			}
			list.AppendChild(el("li", nil, el("a", attributes, say(p.title))))
		}
		nav.AppendChild(el("p", at("class", "part", "id", id), say(part.name)))
		nav.AppendChild(list)
	}
	return nav
}

// headings lists the headings of a page: beside it where there is room (nav), above it, collapsed, where
// there is none (details).
func headings(e *edition, p *page, as string) *html.Node {
	list := el("ul", nil)
	for i := range p.sections {
		if s := &p.sections[i]; s.level > 1 {
			link := el("a", at("href", "#"+s.id), say(s.heading))
			list.AppendChild(el("li", at("class", fmt.Sprintf("level-%d", s.level)), link))
		}
	}
	if list.FirstChild == nil {
		return nil
	}
	if as == "details" {
		return el("details", at("class", "within"), el("summary", nil, say(e.onThisPage)), list)
	}
	return el("nav", at("class", "toc", "aria-label", e.onThisPage), el("p", at("class", "part"), say(e.onThisPage)), list)
}

// turning leads to the pages before and after.
func turning(e *edition, p *page) *html.Node {
	nav := el("nav", at("class", "turning", "aria-label", e.turning))
	for i := range e.order {
		if e.order[i] != p {
			continue
		}
		if i > 0 {
			nav.AppendChild(turn("prev", e.previous, e.order[i-1]))
		}
		if i+1 < len(e.order) {
			nav.AppendChild(turn("next", e.next, e.order[i+1]))
		}
	}
	if nav.FirstChild == nil {
		return nil
	}
	return nav
}

func turn(rel, word string, to *page) *html.Node {
	return el("a", at("href", to.address, "rel", rel, "class", rel), el("span", nil, say(word)), say(to.title))
}
