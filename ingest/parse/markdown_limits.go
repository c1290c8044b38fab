package parse

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// parseMarkdown parses CommonMark with tables and strikethrough, within the limits. Beyond one
// of them nothing more is parsed, so that it ends soon.
func parseMarkdown(source []byte, lines lineIndex) (ast.Node, error) {
	g := &guard{source: source, lines: lines}
	p := parser.NewParser(
		parser.WithBlockParsers(wrapped(parser.DefaultBlockParsers(), func(v any) any {
			return guardedBlocks{v.(parser.BlockParser), g}
		})...),
		parser.WithInlineParsers(wrapped(append(parser.DefaultInlineParsers(),
			util.Prioritized(extension.NewStrikethroughParser(), 500)), func(v any) any {
			return guardedMarks{v.(parser.InlineParser), g}
		})...),
		parser.WithParagraphTransformers(
			util.Prioritized(inParts{parser.LinkReferenceParagraphTransformer, g}, 100),
			util.Prioritized(guardedTables{extension.NewTableParagraphTransformer(), g}, 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
	root := p.Parse(text.NewReader(source))
	return root, g.err
}

func wrapped(all []util.PrioritizedValue, wrap func(any) any) []util.PrioritizedValue {
	for i := range all {
		all[i].Value = wrap(all[i].Value)
	}
	return all
}

// guard counts what a file has of what is limited.
type guard struct {
	source []byte
	lines  lineIndex

	blocks, cells, work int
	err                 error // the first limit that was passed
}

func (g *guard) refuse(format string, args ...any) {
	if g.err == nil {
		g.err = refused(format, args...)
	}
}

// guardedBlocks limits the number of blocks, and their depth.
type guardedBlocks struct {
	parser.BlockParser
	*guard
}

// Open implements parser.BlockParser.
func (b guardedBlocks) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if b.err != nil {
		return nil, parser.NoChildren
	}
	n, state := b.BlockParser.Open(parent, reader, pc)
	if n == nil {
		return n, state
	}
	_, at := reader.Position()
	b.blocks++
	if n.Kind() == ast.KindHTMLBlock {
		b.blocks += costOfHTML
	}
	if b.blocks > maxBlocks {
		b.refuse("more than %d blocks of Markdown (paragraphs, items, quotes) at line %d; split the file",
			maxBlocks, b.lines.line(at.Start))
	}
	if state&parser.HasChildren != 0 && deeper(parent) {
		b.refuse("lists and quotes nested more than %d deep at line %d", maxDepth, b.lines.line(at.Start))
	}
	return n, state
}

// costOfHTML is how many more blocks a block of HTML counts for, as each is parsed by itself.
const costOfHTML = 4

// Continue implements parser.BlockParser.
func (b guardedBlocks) Continue(n ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if b.err != nil {
		return parser.Close
	}
	return b.BlockParser.Continue(n, reader, pc)
}

// deeper reports whether a node is as deep as lists and quotes may be.
func deeper(n ast.Node) bool {
	depth := 0
	for ; n != nil; n = n.Parent() {
		if n.Kind() != ast.KindListItem { // it is as deep as its list
			depth++
		}
	}
	return depth > maxDepth // the document is one
}

// guardedMarks limits the search for the other ends of marks within paragraphs, which takes
// the square of their length.
type guardedMarks struct {
	parser.InlineParser
	*guard
}

// Parse implements parser.InlineParser.
func (m guardedMarks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if m.err != nil {
		return nil
	}
	_, at := block.Position()
	if lines := parent.Lines(); lines != nil && lines.Len() > 0 {
		m.work += m.cost(m.source[at.Start:max(at.Start, lines.At(lines.Len()-1).Stop)])
		if m.work > maxMarkWork {
			first := lines.At(0).Start
			m.refuse("too many marks ([ ] < ! * _ ~ `) in too long lines, as the one of %d bytes at line %d; "+
				"break its lines, or name the file .txt", lines.At(lines.Len()-1).Stop-first, m.lines.line(first))
		}
	}
	return m.InlineParser.Parse(parent, block, pc)
}

// cost is how much may be read for the mark that the rest of a paragraph begins with. The
// weights were measured: a star looks through all that are open before it, the target of a
// link goes to the next space, and both are slower than a search for a bracket.
func (m guardedMarks) cost(rest []byte) int {
	switch {
	case len(rest) == 0:
		return 0
	case bytes.IndexByte([]byte("*_~"), rest[0]) >= 0:
		return 3 * len(rest)
	case rest[0] == '<':
		return 2 * len(rest)
	case bytes.HasPrefix(rest, []byte("](")):
		target := bytes.IndexAny(rest, " \t\n")
		if target < 0 {
			target = len(rest)
		}
		return len(rest) + 8*target
	default:
		return len(rest)
	}
}

// CloseBlock implements parser.CloseBlocker.
func (m guardedMarks) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := m.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// guardedTables limits the cells of tables, which have as many in each row as in the first.
type guardedTables struct {
	parser.ParagraphTransformer
	*guard
}

// Transform implements parser.ParagraphTransformer.
func (t guardedTables) Transform(n *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if t.err != nil {
		return
	}
	if line := t.delimiters(n.Lines()); line > 0 {
		delimiters := n.Lines().At(line)
		columns, rows := bytes.Count(delimiters.Value(t.source), []byte("|"))+1, n.Lines().Len()-line
		if t.cells += columns * rows; t.cells > maxCells {
			t.refuse("more than %d cells of tables, at line %d one of %d rows × %d columns; split it, or write it as text",
				maxCells, t.lines.line(delimiters.Start), rows, columns)
			return
		}
	}
	t.ParagraphTransformer.Transform(n, reader, pc)
}

// delimiters returns the line below the first row of a table; 0: there is none.
func (g *guard) delimiters(lines *text.Segments) int {
	for i := 1; i < lines.Len(); i++ {
		line := lines.At(i)
		value := line.Value(g.source)
		if len(bytes.Trim(value, " \t\n:|-")) == 0 && bytes.ContainsAny(value, "|:") {
			return i
		}
	}
	return 0
}

// A paragraph of more bytes than maxParagraph is parsed in parts of whole lines of at most
// maxPart bytes together.
const (
	maxParagraph = 4096
	maxPart      = 1024
)

// inParts parts long paragraphs, as one may be a whole file, and transforms each part.
type inParts struct {
	parser.ParagraphTransformer
	*guard
}

// Transform implements parser.ParagraphTransformer.
func (p inParts) Transform(n *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := n.Lines()
	if lines.Len() == 0 || lines.At(lines.Len()-1).Stop-lines.At(0).Start <= maxParagraph {
		p.ParagraphTransformer.Transform(n, reader, pc)
		return
	}
	if p.delimiters(lines) > 0 {
		return // a table stays whole
	}
	all := lines.Sliced(0, lines.Len())
	part, next, size := n, 0, 0
	var parts []*ast.Paragraph
	for i := range all {
		if size += all[i].Len(); i+1 < len(all) && size+all[i+1].Len() <= maxPart {
			continue
		}
		if next > 0 {
			part = ast.NewParagraph()
			n.Parent().InsertAfter(n.Parent(), parts[len(parts)-1], part)
		}
		part.SetLines(p.trimmed(all[next : i+1]))
		parts, next, size = append(parts, part), i+1, 0
	}
	for _, part := range parts {
		p.ParagraphTransformer.Transform(part, reader, pc)
	}
}

// trimmed returns lines without the space around them, as the lines of a paragraph are.
func (g *guard) trimmed(lines []text.Segment) *text.Segments {
	all := text.NewSegments()
	for _, line := range lines {
		all.Append(line.TrimLeftSpace(g.source))
	}
	last := all.At(all.Len() - 1)
	all.Set(all.Len()-1, last.TrimRightSpace(g.source))
	return all
}

// continues reports whether a paragraph is a further part of a long one: only then no blank
// line and no other block is between two paragraphs.
func continues(n ast.Node) bool {
	before := n.PreviousSibling()
	return before != nil && before.Kind() == n.Kind() && !n.HasBlankPreviousLines()
}
