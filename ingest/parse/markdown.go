package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// frontMatter returns how many bytes of a file are front matter, from a first line --- or +++
// to the next.
func frontMatter(source []byte) int {
	first, rest, _ := bytes.Cut(source, []byte("\n"))
	fence := bytes.TrimRight(first, " \t")
	if string(fence) != "---" && string(fence) != "+++" {
		return 0
	}
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		rest = after
		if bytes.Equal(bytes.TrimRight(line, " \t"), fence) {
			return len(source) - len(rest)
		}
	}
	return 0
}

func init() {
	for _, extension := range []string{".md", ".markdown"} {
		formats[extension] = ofText(readMarkdown)
	}
}

// readMarkdown extracts the text: headings become titles, code and tables keep their lines,
// front matter is metadata.
func readMarkdown(f *file) ([]section, error) {
	source := f.source
	if n := frontMatter(source); n > 0 {
		f.Metadata = metadataOf(source[:n])
		// Blank lines in its place keep the line numbers right.
		blank := bytes.Repeat([]byte("\n"), bytes.Count(source[:n], []byte("\n")))
		source = append(blank, source[n:]...)
	}
	r := markdownReader{source: source, lines: indexLines(source)}
	root, err := parseMarkdown(source, r.lines)
	if err != nil {
		return nil, err
	}
	r.children(root)
	return r.sections, r.err
}

type markdownReader struct {
	headings
	source []byte
	lines  lineIndex
	err    error // of HTML within
}

func (r *markdownReader) children(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		r.block(n)
	}
}

func (r *markdownReader) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		r.enter(n.Level, r.inline(n))
	case *ast.Paragraph, *ast.TextBlock:
		r.addNode(n, block{text: r.inline(n), tight: continues(n)})
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		r.addNode(n, block{text: strings.TrimRight(string(n.Lines().Value(r.source)), "\n"), byLines: true})
	case *ast.HTMLBlock:
		text, err := htmlText(n.Lines().Value(r.source))
		if err != nil && r.err == nil {
			r.err = err
		}
		r.addNode(n, block{text: text})
	case *extast.Table:
		r.addNode(n, block{text: r.table(n), byLines: true})
	case *ast.List:
		r.list(n)
	default:
		r.children(n)
	}
}

// list puts a mark before the first block of each item.
func (r *markdownReader) list(list *ast.List) {
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "- "
		if list.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		before := r.count()
		r.children(item)
		if r.count() > before {
			b := r.at(before)
			b.text = mark + b.text
			b.tight = item != list.FirstChild() || list.Parent().Kind() == ast.KindListItem
		}
	}
}

// count returns how many blocks the current section has; at returns one of them.
func (r *markdownReader) count() int {
	if len(r.sections) == 0 || r.entered {
		return 0
	}
	return len(r.sections[len(r.sections)-1].blocks)
}

func (r *markdownReader) at(i int) *block { return &r.sections[len(r.sections)-1].blocks[i] }

func (r *markdownReader) table(table *extast.Table) string {
	var rows []string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, r.inline(cell))
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	return strings.Join(rows, "\n")
}

// inline returns the text of a node without its mark-up.
func (r *markdownReader) inline(parent ast.Node) string {
	var out strings.Builder
	_ = ast.Walk(parent, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			out.Write(plain(n, r.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				out.WriteByte('\n')
			}
		case *ast.String:
			out.Write(n.Value)
		case *ast.AutoLink:
			out.Write(n.Label(r.source))
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

// plain resolves escapes and entities, except in code.
func plain(n *ast.Text, source []byte) []byte {
	value := n.Segment.Value(source)
	if n.IsRaw() || n.Parent() != nil && n.Parent().Kind() == ast.KindCodeSpan {
		return value
	}
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
}

func (r *markdownReader) addNode(n ast.Node, b block) {
	if blank(b.text) {
		return
	}
	if first, last, ok := span(n); ok {
		b.first, b.last = r.lines.line(first), r.lines.line(max(first, last-1))
	}
	r.add(b)
}

// span returns the bytes of the source that a block and its text come from.
func span(parent ast.Node) (first, last int, found bool) {
	cover := func(s text.Segment) {
		if !found || s.Start < first {
			first = s.Start
		}
		last, found = max(last, s.Stop), true
	}
	_ = ast.Walk(parent, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			cover(t.Segment)
		}
		if entering && n.Type() == ast.TypeBlock {
			for i := range n.Lines().Len() {
				cover(n.Lines().At(i))
			}
		}
		return ast.WalkContinue, nil
	})
	return first, last, found
}
