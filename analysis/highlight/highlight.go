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
	"strings"
)

// Options of fragments. The zero value means the defaults.
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

// Fragments gives the best fragments of a text, best first: those with the most
// distinct terms of the query, then the most matches, then the earlier. The text
// is escaped for HTML, Pre and Post are not. A text in which nothing matches gives
// one fragment without marks: the sentence most like the query, else its
// beginning; an empty text gives none.
func (m *Matcher) Fragments(text string, o Options) []string {
	o = o.withDefaults()
	c := cutters.Get().(*cutter)
	defer c.done()
	c.text, c.size = text, o.FragmentSize
	c.tokens = m.exact(c.tokens[:0], text)
	found := c.fragments(m.find(c.tokens, c.size, c.hits[:0]), o.Fragments)
	if len(found) == 0 {
		found = c.unmarked(m.alike())
	}
	return c.render(found, o)
}

// unmarked gives the fragment most like the query, else that at the beginning.
func (c *cutter) unmarked(like *likeness) []fragment {
	c.tokens = like.tokens(c.tokens[:0], c.text)
	found := c.fragments(like.find(c.tokens, c.size, c.hits[:0]), 1)
	if len(found) == 0 {
		found = c.fragments(append(c.hits[:0], hit{}), 1)
	}
	for i := range found {
		found[i].matches = nil
	}
	return found
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

// render writes the fragments, escaped, with their marks. They are parts of one
// string: an allocation for all of them.
func (c *cutter) render(all []fragment, o Options) []string {
	b, ends := c.buf[:0], c.ends[:0]
	for i := range all {
		f := &all[i]
		c.marks = f.marks(c.marks[:0])
		at, add := f.start, appendEscaped
		if !needsEscaping(c.text[f.start:f.end]) {
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
		ends = append(ends, len(b))
	}
	c.buf, c.ends = b, ends
	written, start := string(b), 0
	fragments := make([]string, len(ends))
	for i, end := range ends {
		fragments[i], start = written[start:end], end
	}
	return fragments
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

// needsEscaping reports whether anything of a text is written otherwise in HTML. Five
// searches by the processor's widest instructions take less than one look at each byte.
func needsEscaping(text string) bool {
	for _, b := range []byte(`&'<>"`) {
		if strings.IndexByte(text, b) >= 0 {
			return true
		}
	}
	return false
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
