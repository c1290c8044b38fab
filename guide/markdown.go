package guide

import (
	"bytes"
	"errors"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// page is one file, rendered.
type page struct {
	file     string
	address  string
	title    string
	body     []byte // HTML, after the title
	sections []section
}

// isReference reports whether a page is beside the guide.
func (p *page) isReference() bool { return path.Dir(p.file) == "." }

// section is the content below a heading, down to the next one.
type section struct {
	level   int    // of the heading
	id      string // of the heading, as GitHub makes it
	heading string
	text    string // without markup
}

// searchedLevel is down to which level headings begin sections.
const searchedLevel = 3

// tableOptions write no style, which the policy of the pages would refuse.
var tableOptions = extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)

// markdown reads GitHub's Markdown, and leaves HTML out.
var markdown = goldmark.New(
	goldmark.WithExtensions(
		extension.NewTable(tableOptions),
		extension.Strikethrough, extension.Linkify,
	),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
)

var errNoTitle = errors.New("the first line is no title, such as # Searching")

func (g *Guide) readPage(file string, source []byte) (*page, error) {
	root := markdown.Parser().Parse(text.NewReader(source))
	p := &page{file: file, address: addressOf(file)}
	if first, ok := root.FirstChild().(*ast.Heading); !ok || first.Level != 1 {
		return nil, errNoTitle
	}
	joinLines(root, source)
	markLongCells(root, source)
	ids := slugs{}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			p.sections[len(p.sections)-1].add(plain(n, source))
			continue
		}
		name := plain(h, source)
		id := ids.of(name)
		h.SetAttributeString("id", []byte(id))
		if h.Level <= searchedLevel {
			p.sections = append(p.sections, section{level: h.Level, id: id, heading: name})
		} else {
			p.sections[len(p.sections)-1].add(name)
		}
	}
	p.title = p.sections[0].heading
	g.relink(file, root, source)
	root.RemoveChild(root, root.FirstChild())
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, root); err != nil {
		return nil, err
	}
	p.body = body.Bytes()
	return p, nil
}

// joinLines takes out the ends of lines between Chinese characters, which would become spaces.
func joinLines(root ast.Node, source []byte) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		line, ok := n.(*ast.Text)
		if !ok || !entering || !line.SoftLineBreak() || n.NextSibling() == nil {
			return ast.WalkContinue, nil
		}
		before, _ := utf8.DecodeLastRune(line.Value(source))
		after, _ := utf8.DecodeRuneInString(plain(n.NextSibling(), source))
		if isWide(before) && isWide(after) {
			line.SetSoftLineBreak(false)
		}
		return ast.WalkContinue, nil
	})
}

// longCell is from how many letters on a cell of a table needs room to be read.
const longCell = 48

// markLongCells tells cells with sentences from those with values.
func markLongCells(root ast.Node, source []byte) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && n.Kind() == extast.KindTableCell && utf8.RuneCountInString(plain(n, source)) > longCell {
			n.SetAttributeString("class", []byte("long"))
		}
		return ast.WalkContinue, nil
	})
}

// isWide reports whether a rune is Chinese, or punctuation of it.
func isWide(r rune) bool {
	return unicode.Is(unicode.Han, r) || r >= 0x3000 && r <= 0x303f || r >= 0xff01 && r <= 0xff60
}

func (s *section) add(block string) {
	if block == "" {
		return
	}
	if s.text != "" {
		s.text += "\n"
	}
	s.text += block
}

// plain is the text of a node: lines of code and of lists stay lines, cells of a table stand apart.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.Label(source))
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		case *extast.TableCell:
			if !entering && n.NextSibling() != nil {
				b.WriteString(" · ")
			}
		default:
			if !entering && n.Type() == ast.TypeBlock && n.NextSibling() != nil {
				b.WriteByte('\n')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// slugs are the ids of a page's headings so far, and how often each was asked for.
type slugs map[string]int

// of is the id that GitHub gives a heading: in lower case, without punctuation, with hyphens for
// spaces, and with a number where there was one like it.
func (s slugs) of(heading string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	n, seen := s[id]
	s[id] = n + 1
	if !seen {
		return id
	}
	numbered := id + "-" + strconv.Itoa(n)
	s[numbered]++
	return numbered
}

// blocks renders what is wider than a narrow window, so that it scrolls by itself and by keys too,
// headings that can be linked to, and tables that can be read aloud.
type blocks struct{}

func (blocks) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(extast.KindTable, table)
	register.Register(extast.KindTableCell, cell)
	register.Register(ast.KindFencedCodeBlock, code)
	register.Register(ast.KindCodeBlock, code)
	register.Register(ast.KindHeading, heading)
}

func table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"wide\" tabindex=\"0\"><table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// cells writes cells as the extension does.
var cells = func() renderer.NodeRendererFunc {
	all := captured{}
	extension.NewTableHTMLRenderer(tableOptions).RegisterFuncs(all)
	return all[extast.KindTableCell]
}()

// captured are the functions of a renderer.
type captured map[ast.NodeKind]renderer.NodeRendererFunc

// Register implements renderer.NodeRendererFuncRegisterer.
func (c captured) Register(kind ast.NodeKind, f renderer.NodeRendererFunc) { c[kind] = f }

// cell writes a heading of a column that says nothing as no heading.
func cell(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if n.Parent().Kind() != extast.KindTableHeader || n.HasChildren() {
		return cells(w, source, n, entering)
	}
	if entering {
		_, _ = w.WriteString("<td></td>\n")
	}
	return ast.WalkContinue, nil
}

func code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<pre tabindex=\"0\"><code>")
		_, _ = w.Write(util.EscapeHTML(n.Lines().Value(source)))
		_, _ = w.WriteString("</code></pre>\n")
	}
	return ast.WalkSkipChildren, nil
}

func heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	tag := "h" + strconv.Itoa(h.Level)
	id, _ := h.AttributeString("id")
	name, _ := id.([]byte)
	if entering {
		_, _ = w.WriteString("<" + tag + " id=\"" + string(util.EscapeHTML(name)) + "\">")
	} else {
		_, _ = w.WriteString(" <a class=\"anchor\" href=\"#" + string(util.EscapeHTML(name)) +
			"\" aria-hidden=\"true\" tabindex=\"-1\">#</a></" + tag + ">\n")
	}
	return ast.WalkContinue, nil
}
