package fold

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Folded is a folded text. It can map offsets back to the original.
type Folded struct {
	Text  string // may be the original itself
	spans []span // meaningless unless offsets were asked for
	buf   []byte
}

// Size is the memory that it holds for reuse, in bytes.
func (f *Folded) Size() int { return cap(f.buf) }

// Locator maps offsets back to the original text, if they were asked for.
func (f *Folded) Locator() Locator { return Locator{spans: f.spans} }

// span maps folded bytes from `to` on to original bytes from `from` on, byte for byte. All
// bytes of a cluster map to the whole cluster.
type span struct {
	to, from int
	cluster  bool
}

// String folds a text.
func (t *Table) String(text string) string {
	folded := t.Fold(text, Folded{}, false)
	return folded.Text
}

// Fold folds a text in time linear in its length. It reuses the memory of an earlier one.
func (t *Table) Fold(text string, space Folded, offsets bool) Folded {
	w := writer{Table: t, buf: space.buf[:0], spans: space.spans[:0], offsets: offsets}
	for i := 0; i < len(text); {
		i += w.ascii(text, i)
		i += w.ideographs(text, i)
		if i < len(text) {
			i += w.step(text, i)
		}
	}
	w.spans = append(w.spans, span{to: len(w.buf), from: len(text)})
	if string(w.buf) != text {
		text = string(w.buf)
	}
	return Folded{Text: text, spans: w.spans, buf: w.buf}
}

// writer is the state of one Fold.
type writer struct {
	*Table
	buf     []byte
	spans   []span
	offsets bool
}

// ascii folds the ASCII at i and returns its length. It excludes the last rune, which may
// combine with what follows.
func (w *writer) ascii(text string, i int) int {
	end := i
	for end < len(text) && text[end] < utf8.RuneSelf {
		end++
	}
	if end < len(text) {
		end--
	}
	if end <= i {
		return 0
	}
	to := len(w.buf)
	w.buf = append(w.buf, text[i:end]...)
	for at, b := range w.buf[to:] {
		w.buf[to+at] = byte(w.runes[b])
	}
	if w.offsets {
		w.mark(span{to: to, from: i})
	}
	return end - i
}

// ideographs folds the ideographs at i that keep their length, and returns that. It leaves
// out the last one if what follows may combine with it.
func (w *writer) ideographs(text string, i int) int {
	end := i
	for {
		r := Ideograph(text, end)
		if r == 0 || w.runes[r] >= firstLonger {
			break
		}
		end += IdeographBytes
	}
	if w.Joins(text, end) {
		end -= IdeographBytes
	}
	if end <= i {
		return 0
	}
	to := len(w.buf)
	for at := i; at < end; at += IdeographBytes {
		w.buf = utf8.AppendRune(w.buf, w.runes[Ideograph(text, at)])
	}
	if w.offsets {
		w.mark(span{to: to, from: i})
	}
	return end - i
}

// step folds the rune or the cluster of combining runes at i and returns its length in the
// original.
func (w *writer) step(text string, i int) int {
	r, size := rune(text[i]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(text[i:])
	}
	if int(r) < len(w.runes) && w.runes[r] >= 0 && !w.Joins(text, i+size) {
		w.rune(w.runes[r], i, size)
		return size
	}
	if r == utf8.RuneError && size == 1 {
		w.rune(utf8.RuneError, i, size)
		return size
	}
	if size = norm.NFKC.NextBoundaryInString(text[i:], true); size <= 0 {
		size = len(text) - i
	}
	w.cluster(text[i:i+size], i)
	return size
}

// Joins reports whether the rune at i may combine with the one before it.
func (t *Table) Joins(text string, i int) bool {
	if i >= len(text) || text[i] < utf8.RuneSelf || Ideograph(text, i) != 0 {
		return false
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	if int(r) < len(t.runes) {
		return t.runes[r] == combining
	}
	return !norm.NFKC.PropertiesString(text[i : i+size]).BoundaryBefore()
}

func (w *writer) rune(r rune, from, size int) {
	to := len(w.buf)
	w.buf = utf8.AppendRune(w.buf, r)
	if w.offsets {
		w.mark(span{to: to, from: from, cluster: len(w.buf)-to != size})
	}
}

func (w *writer) cluster(s string, from int) {
	to := len(w.buf)
	for _, r := range norm.NFKC.String(s) {
		w.buf = w.appendFolded(w.buf, r)
	}
	if w.offsets && len(w.buf) > to {
		w.mark(span{to: to, from: from, cluster: true})
	}
}

// mark begins a span, unless it continues the last one.
func (w *writer) mark(s span) {
	if n := len(w.spans); n > 0 && !s.cluster {
		last := w.spans[n-1]
		if !last.cluster && s.from-last.from == s.to-last.to {
			return
		}
	}
	w.spans = append(w.spans, s)
}

// appendFolded folds a rune that is already in NFKC.
func (t *Table) appendFolded(dst []byte, r rune) []byte {
	if int(r) >= len(t.runes) {
		return utf8.AppendRune(dst, unicode.ToLower(r))
	}
	switch v := t.runes[r]; v {
	case dropped:
		return dst
	case combining:
		return utf8.AppendRune(dst, r)
	case composite:
		return append(dst, cases.Fold().String(string(r))...)
	default:
		return utf8.AppendRune(dst, v)
	}
}

// Locator maps folded offsets to original ones. It remembers its position, so each takes
// constant time while offsets rise, or nearly do.
type Locator struct {
	spans []span
	at    int
}

func (l *Locator) seek(to int) span {
	for l.at > 0 && l.spans[l.at].to > to {
		l.at--
	}
	for l.at+1 < len(l.spans) && l.spans[l.at+1].to <= to {
		l.at++
	}
	return l.spans[l.at]
}

// Start returns the original offset of the start of a folded token.
func (l *Locator) Start(to int) int {
	s := l.seek(to)
	if s.cluster {
		return s.from
	}
	return s.from + to - s.to
}

// End returns the original offset of the end of a folded token.
func (l *Locator) End(to int) int {
	s := l.seek(to - 1)
	if s.cluster {
		return l.spans[l.at+1].from
	}
	return s.from + to - s.to
}
