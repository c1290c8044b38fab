// Package highlight shows where a text answers a query: short fragments of the
// original text with the matched words marked, the same for every engine.
//
// It works on tokens and their offsets into the original text, in time linear in the
// text. A fragment never cuts through a rune, a grapheme or a marked word, and ends with
// a sentence if it can.
package highlight

import (
	"html"
	"strings"
)

// Options of fragments. The zero value means the defaults.
type Options struct {
	FragmentSize int    // runes of a fragment, not counting marks; 120
	Fragments    int    // maximum number; 5
	Pre          string // before a matched word; <em>
	Post         string // after it; </em>
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

// Fragments returns the best fragments of a text, best first: those with the most
// distinct terms of the query, then with the most matches, then the earlier ones. The
// text is escaped for HTML, Pre and Post are not. If nothing matched, it returns one
// fragment without marks: the sentence most similar to the query, or else the beginning.
// An empty text has no fragments.
func (m *Matcher) Fragments(text string, o Options) (fragments []string, matched bool) {
	o = o.withDefaults()
	c := newCutter(text, o)
	defer c.release()
	c.tokens = m.exact(c.tokens[:0], text)
	found := c.fragments(m.find(c.tokens, c.size, c.hits[:0]), o.Fragments)
	if matched = len(found) > 0; !matched {
		found = c.unmarked(m.similar())
	}
	return c.render(found, o), matched
}

// Whole returns all of a text, marked and escaped as fragments are; empty if nothing
// matches.
func (m *Matcher) Whole(text string, o Options) string {
	o = o.withDefaults()
	c := newCutter(text, o)
	defer c.release()
	c.tokens = m.exact(c.tokens[:0], text)
	c.hits = m.find(c.tokens, len(text), c.hits[:0])
	if len(c.hits) == 0 {
		return ""
	}
	c.best = append(c.best[:0], fragment{end: len(text), matches: c.hits})
	return c.render(c.best, o)[0]
}

// From returns the fragment without marks that begins with the sentence at a byte, as
// a list; empty where none fits.
func From(text string, sentence int, o Options) []string {
	o = o.withDefaults()
	c := newCutter(text, o)
	defer c.release()
	found := c.fragments(append(c.hits[:0], hit{start: sentence, end: sentence}), 1)
	for i := range found {
		found[i].matches = nil
	}
	return c.render(found, o)
}

// unmarked returns the fragment most similar to the query, or else the beginning of the
// text.
func (c *cutter) unmarked(s *similarMatcher) []fragment {
	c.tokens = s.tokens(c.tokens[:0], c.text)
	found := c.fragments(s.find(c.tokens, c.size, c.hits[:0]), 1)
	if len(found) == 0 {
		found = c.fragments(append(c.hits[:0], hit{}), 1)
	}
	for i := range found {
		found[i].matches = nil
	}
	return found
}

// hit is a token that matches a term of the query.
type hit struct {
	start, end int // in bytes of the text
	runes      int
	term       int
}

// fragment is a stretch of the text with the hits in it.
type fragment struct {
	start, end     int
	first, last    int   // the start of the first hit and the end of the last
	matches        []hit // holds the hits, and possibly others that reach out of it
	distinct, hits int   // how many terms and how many hits are in it
}

func (f *fragment) has(h hit) bool { return h.start >= f.start && h.end <= f.end }

// mark is a stretch of hits that overlap or touch, marked as one.
type mark struct{ start, end int }

// marks appends the marks of a fragment.
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

// isBetter reports whether a fragment ranks above one that is earlier in the text.
func (f *fragment) isBetter(before *fragment) bool {
	if f.distinct != before.distinct {
		return f.distinct > before.distinct
	}
	return f.hits > before.hits
}

// render writes the fragments, escaped and marked. They share one string, which is one
// allocation for all.
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

// appendEscaped is html.EscapeString without an allocation.
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

// needsEscaping reports whether a text holds anything that HTML escapes. Five vectorised
// searches are faster than one loop over the bytes.
func needsEscaping(text string) bool {
	for _, b := range []byte(`&'<>"`) {
		if strings.IndexByte(text, b) >= 0 {
			return true
		}
	}
	return false
}

// escapes holds how HTML escapes a byte; "" if it does not.
var escapes = func() (all ['>' + 1]string) {
	for b := range all {
		if s := html.EscapeString(string(rune(b))); s != string(rune(b)) {
			all[b] = s
		}
	}
	return all
}()
