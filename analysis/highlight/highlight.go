// Package highlight shows where a text answers a query: short fragments of the
// original text with the matched words marked, the same for every engine.
//
// It works on the tokens of package analysis and their offsets into the
// original text, in time linear in the text, whatever its size. A fragment
// never cuts a rune, a grapheme or a marked word, and ends with a sentence
// where there is one.
package highlight

import (
	"html"
	"unsafe"

	"github.com/hybridge-search/hybridge/analysis"
)

// Options of Highlight. The zero value means the defaults.
type Options struct {
	FragmentSize int    // runes of a fragment without marks, 120
	Fragments    int    // how many at most, 5
	Pre          string // in front of a matched word, <em>
	Post         string // behind it, </em>
}

func (o Options) withDefaults() Options {
	if o.FragmentSize <= 0 {
		o.FragmentSize = 120
	}
	if o.Fragments <= 0 {
		o.Fragments = 5
	}
	if o.Pre == "" && o.Post == "" {
		o.Pre, o.Post = "<em>", "</em>"
	}
	return o
}

// Highlight gives the best fragments of a text, best first: those with the
// most distinct terms of the query, then the most matches, then the earlier.
// tokens are those of the text. The text is escaped for HTML, Pre and Post are
// not. A text in which nothing matches gives one fragment without marks: the
// sentence most like the query, else its beginning; an empty text gives none.
func Highlight(text string, tokens []analysis.Token, m *Matcher, o Options) []string {
	return highlight(text, func(*cutter, string, *analysis.Wanted) []analysis.Token { return tokens }, m, o)
}

// Selector finds the wanted tokens of a text; analysis.Analyzer is one.
type Selector interface {
	Select(text string, w *analysis.Wanted) []analysis.Token
}

// appender is a Selector that gives tokens in space that is used again; analysis.Analyzer
// is one.
type appender interface {
	AppendSelected(tokens []analysis.Token, text string, w *analysis.Wanted) []analysis.Token
}

// Text gives the same fragments as Highlight, several times faster: only the
// stretches of a text that can match are cut into tokens.
func Text(text string, s Selector, m *Matcher, o Options) []string {
	return highlight(text, selected(s), m, o)
}

// Marked is one text of a page.
type Marked struct {
	Text      string
	By        *Matcher
	Fragments []string // those that Text gives, set by Page
}

// Page sets the fragments of all texts. They share their memory: none is given back
// as long as one of them is used.
func Page(all []Marked, s Selector, o Options) {
	c := cutters.Get().(*cutter)
	defer c.done()
	c.page(all, s, o.withDefaults())
	c.handOut(all, c.written())
}

// Lend is Page for who needs the fragments until release is called, if it ever is: they
// are gone then.
func Lend(all []Marked, s Selector, o Options) (release func()) {
	c := cutters.Get().(*cutter)
	c.page(all, s, o.withDefaults())
	if c.lent == nil {
		c.lent = []string{} // as no text has fragments of nil
	}
	c.lent = c.parts(c.lent[:0], unsafe.String(unsafe.SliceData(c.buf), len(c.buf)))
	c.handOut(all, c.lent)
	return c.done
}

// page writes the fragments of all texts.
func (c *cutter) page(all []Marked, s Selector, o Options) {
	choose := selected(s)
	for i := range all {
		c.write(all[i].Text, choose, all[i].By, o)
		c.behind = append(c.behind, len(c.ends))
	}
}

// handOut gives each text its fragments.
func (c *cutter) handOut(all []Marked, fragments []string) {
	from := 0
	for i, to := range c.behind {
		all[i].Fragments, from = fragments[from:to:to], to
	}
}

// chooser gives the tokens of a text, at least those wanted.
type chooser func(c *cutter, text string, w *analysis.Wanted) []analysis.Token

// selected lets a Selector choose.
func selected(s Selector) chooser {
	a, ok := s.(appender)
	if !ok {
		return func(_ *cutter, text string, w *analysis.Wanted) []analysis.Token { return s.Select(text, w) }
	}
	return func(c *cutter, text string, w *analysis.Wanted) []analysis.Token {
		c.tokens = a.AppendSelected(c.tokens[:0], text, w)
		return c.tokens
	}
}

func highlight(text string, choose chooser, m *Matcher, o Options) []string {
	c := cutters.Get().(*cutter)
	defer c.done()
	c.write(text, choose, m, o.withDefaults())
	return c.written()
}

// write writes the fragments of a text behind those of others.
func (c *cutter) write(text string, choose chooser, m *Matcher, o Options) {
	c.text, c.size = text, o.FragmentSize
	found := c.fragments(m.find(choose(c, text, m.exact), o.FragmentSize, c.hits[:0]), o.Fragments)
	if len(found) > 0 {
		c.render(found, o)
		return
	}
	like := m.like()
	found = c.fragments(like.find(choose(c, text, like.wanted), o.FragmentSize, c.hits[:0]), 1)
	if len(found) == 0 {
		found = c.fragments(append(c.hits[:0], hit{}), 1)
	}
	for i := range found {
		found[i].matches = nil
	}
	c.render(found, o)
}

// hit is a token, in bytes of the text, that matches a term of the query.
type hit struct {
	start, end int
	runes      int
	term       int
}

// fragment is a stretch of the text; its hits are those of matches that lie within
// it, from first to last.
type fragment struct {
	start, end     int
	first, last    int
	matches        []hit
	distinct, hits int
}

func (f *fragment) has(h hit) bool { return h.start >= f.start && h.end <= f.end }

// mark is a stretch of hits that overlap or touch, shown as one.
type mark struct{ start, end int }

// marks adds the marks of a fragment to others.
func (f *fragment) marks(all []mark) []mark {
	for _, h := range f.matches {
		if !f.has(h) {
			continue
		}
		if last := len(all) - 1; last >= 0 && h.start <= all[last].end {
			all[last].end = max(all[last].end, h.end)
			continue
		}
		all = append(all, mark{h.start, h.end})
	}
	return all
}

// isBetter reports whether a fragment comes before one that is in front of it in the
// text.
func (f *fragment) isBetter(before *fragment) bool {
	if f.distinct != before.distinct {
		return f.distinct > before.distinct
	}
	return f.hits > before.hits
}

// render writes the fragments, escaped, with their marks.
func (c *cutter) render(all []fragment, o Options) {
	b := c.buf
	for i := range all {
		f := &all[i]
		c.marks = f.marks(c.marks[:0])
		at, add := f.start, appendEscaped
		if !escapesIn(c.text[f.start:f.end]) {
			add = appendText
		}
		for _, m := range c.marks {
			b = add(b, c.text[at:m.start])
			b = append(b, o.Pre...)
			b = add(b, c.text[m.start:m.end])
			b = append(b, o.Post...)
			at = m.end
		}
		b = add(b, c.text[at:f.end])
		c.ends = append(c.ends, len(b))
	}
	c.buf = b
}

// written gives all fragments that were written, as parts of one text.
func (c *cutter) written() []string { return c.parts(make([]string, 0, len(c.ends)), string(c.buf)) }

// parts adds the fragments, which are parts of all that was written.
func (c *cutter) parts(to []string, written string) []string {
	start := 0
	for _, end := range c.ends {
		to, start = append(to, written[start:end]), end
	}
	return to
}

func appendText(b []byte, text string) []byte { return append(b, text...) }

// appendEscaped is html.EscapeString without a string for each part.
func appendEscaped(b []byte, text string) []byte {
	from := 0
	for i := range len(text) {
		if by := text[i]; by <= '>' && escapes[by] != "" {
			b = append(append(b, text[from:i]...), escapes[by]...)
			from = i + 1
		}
	}
	return append(b, text[from:]...)
}

// escapesIn reports whether something of a text stands for something else in HTML; of
// what is shorter than eight bytes it is not worth a look.
func escapesIn(text string) bool {
	if len(text) < 8 {
		return true
	}
	for rest := text; len(rest) >= 8; rest = rest[8:] {
		if escapesAny(eight(rest)) {
			return true
		}
	}
	return escapesAny(eight(text[len(text)-8:]))
}

// each has a one in every byte.
const each = 0x0101010101010101

// eight are the first bytes of a text.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// escapesAny reports whether one of eight bytes stands for something in HTML: & and '
// differ in their lowest bit, < and > in the one above.
func escapesAny(all uint64) bool {
	quotes, ands, angles := all^'"'*each, (all|1*each)^'\''*each, (all|2*each)^'>'*each
	zero := (quotes-each)&^quotes | (ands-each)&^ands | (angles-each)&^angles
	return zero&(0x80*each) != 0
}

// escapes are those of the bytes that stand for something in HTML.
var escapes = func() (all ['>' + 1]string) {
	for b := range all {
		if s := html.EscapeString(string(rune(b))); s != string(rune(b)) {
			all[b] = s
		}
	}
	return all
}()
