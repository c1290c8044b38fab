package parse

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func init() {
	for _, extension := range []string{".html", ".htm"} {
		formats[extension] = ofPage(func(f *file) ([]section, error) { return readHTML(f.source) })
	}
}

// readHTML extracts the text that a reader of the page sees. Its blocks have no line
// numbers, as nobody reads the source of a page.
func readHTML(source []byte) ([]section, error) {
	if err := checkElements(source); err != nil {
		return nil, err
	}
	root, err := html.Parse(bytes.NewReader(source))
	if err != nil { // it reads from memory, so it can only be its limit of 512
		return nil, refused("elements of HTML nested more than 512 deep")
	}
	var r htmlReader
	if title := find(root, atom.Title); title != nil {
		if text := strings.Trim(textOf(title), "\uFFFD \n"); text != "" { // Tika writes &#0; where there is none
			r.enter(1, text)
		}
	}
	r.page = len(r.path)
	r.walk(root)
	r.flush(block{})
	return r.sections, nil
}

// maxAttributes is how many attributes of an element count for nothing.
const maxAttributes = 100

// checkElements counts the elements that a page will have. Formatting that was left open
// begins again in each block that follows, so it counts again with each tag.
func checkElements(source []byte) error {
	tokens := html.NewTokenizer(bytes.NewReader(source))
	open := make(map[atom.Atom]int)
	formatting, total := 0, 0
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return nil
		}
		if kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		name, more := tokens.TagName()
		element := atom.Lookup(name)
		attributes := 0
		for more {
			_, _, more = tokens.TagAttr()
			attributes++
		}
		total += 1 + formatting + max(0, attributes-maxAttributes)
		if total > maxElements {
			return refused(
				"more than %d elements of HTML; formatting left open, such as <b>, counts again in each element after it",
				maxElements)
		}
		switch {
		case !reopened[element]:
		case kind == html.EndTagToken && open[element] > 0:
			open[element]--
			formatting--
		case kind != html.EndTagToken:
			open[element]++
			formatting++
		}
	}
}

// reopened are the elements that begin again in each block while they are open.
var reopened = setOf(
	atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike,
	atom.Strong, atom.Tt, atom.U,
)

// htmlText returns the text of a fragment on one line.
func htmlText(fragment []byte) (string, error) {
	sections, err := readHTML(fragment)
	if err != nil {
		return "", err
	}
	var words []string
	for _, s := range sections {
		for _, b := range s.blocks {
			words = append(words, strings.Fields(b.text)...)
		}
	}
	return strings.Join(words, " "), nil
}

type htmlReader struct {
	headings
	page int // heading levels used by the page's title
	text strings.Builder
	gap  bool   // white space is due before the next word
	mark string // goes before the next block
}

func (r *htmlReader) walk(n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		r.write(n.Data)
		return
	case n.Type == html.CommentNode || invisible[n.DataAtom]:
		return
	case n.Type != html.ElementNode:
		r.children(n)
		return
	}
	switch n.DataAtom { //nolint:exhaustive // the elements that are special
	case atom.Br:
		r.text.WriteByte('\n')
		r.gap = false
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.flush(block{})
		r.enter(r.page+int(n.Data[1]-'0'), textOf(n))
	case atom.Pre:
		r.flush(block{})
		r.text.WriteString(textOf(n))
		r.flush(block{byLines: true})
	case atom.Table:
		r.flush(block{})
		r.text.WriteString(strings.Join(rows(n), "\n"))
		r.flush(block{byLines: true})
	case atom.Li:
		r.flush(block{})
		r.mark = "- "
		r.children(n)
		r.flush(block{})
	default:
		r.element(n)
	}
}

func (r *htmlReader) element(n *html.Node) {
	if inline[n.DataAtom] {
		r.children(n)
		return
	}
	r.flush(block{})
	r.children(n)
	r.flush(block{})
}

func (r *htmlReader) children(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		r.walk(child)
	}
}

// write adds text with collapsed white space, as a browser shows it.
func (r *htmlReader) write(data string) {
	const space = " \t\r\n\f"
	words := strings.Fields(data)
	if len(words) == 0 {
		r.gap = r.gap || data != ""
		return
	}
	if r.text.Len() > 0 && (r.gap || strings.TrimLeft(data, space) != data) {
		r.text.WriteByte(' ')
	}
	r.text.WriteString(strings.Join(words, " "))
	r.gap = strings.TrimRight(data, space) != data
}

// flush ends the current block.
func (r *htmlReader) flush(b block) {
	b.text = strings.Trim(r.text.String(), "\n")
	r.text.Reset()
	r.gap = false
	if blank(b.text) {
		return
	}
	b.tight = r.mark != ""
	b.text = r.mark + b.text
	r.mark = ""
	r.add(b)
}

// rows returns the rows of a table, cells separated by " | ". An inner table is part of its
// cell.
func rows(n *html.Node) []string {
	var all []string
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.DataAtom != atom.Tr {
			all = append(all, rows(child)...)
			continue
		}
		var cells []string
		for cell := child.FirstChild; cell != nil; cell = cell.NextSibling {
			if cell.DataAtom == atom.Td || cell.DataAtom == atom.Th {
				cells = append(cells, strings.Join(strings.Fields(textOf(cell)), " "))
			}
		}
		all = append(all, strings.Join(cells, " | "))
	}
	return all
}

func textOf(n *html.Node) string {
	var out strings.Builder
	var collect func(*html.Node)
	collect = func(n *html.Node) {
		if n.Type == html.TextNode {
			out.WriteString(n.Data)
		}
		if invisible[n.DataAtom] {
			return
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			collect(child)
		}
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		collect(child)
	}
	return out.String()
}

func find(n *html.Node, name atom.Atom) *html.Node {
	if n.DataAtom == name && n.Namespace == "" {
		return n
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if found := find(child, name); found != nil {
			return found
		}
	}
	return nil
}

// invisible are the elements without text of the page; navigation is one of them.
var invisible = setOf(
	atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg,
	atom.Title, atom.Nav, atom.Iframe, atom.Object, atom.Head,
)

// inline are the elements that do not end a block.
var inline = setOf(
	atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite,
	atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font,
	atom.I, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Q,
	atom.Rp, atom.Rt, atom.Ruby, atom.S, atom.Samp, atom.Small,
	atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U,
	atom.Var, atom.Wbr, atom.Img, atom.Button, atom.Input,
)

func setOf(elements ...atom.Atom) map[atom.Atom]bool {
	set := make(map[atom.Atom]bool, len(elements))
	for _, e := range elements {
		set[e] = true
	}
	return set
}
