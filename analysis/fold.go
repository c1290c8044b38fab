package analysis

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/longbridgeapp/opencc"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/hybridge-search/hybridge/fault"
)

// class says what a folded rune is to the tokeniser.
type class uint8

const (
	other class = iota // separates tokens
	word               // letter or digit of a script that writes spaces
	mark               // belongs to the letter before it
	han                // segmented by the dictionary
	pair               // kana, Thai …: no spaces, no dictionary; indexed as pairs
)

// Values in folding.table that are not runes.
const (
	dropped   rune = -1 // ignorable (soft hyphen, joiners): nothing is left of it
	combining rune = -2 // may join the rune before it: normalised as one cluster
	composite rune = -3 // becomes several runes
)

// folding maps each rune of the basic plane to what it is matched as: NFKC,
// case folded, traditional Chinese to simplified. One rune to one rune where
// possible, so that offsets into the original text stay known.
type folding struct {
	table   [0x10000]rune
	classes [0x10000]class
	glances [0x10000]glance
	variant [0x10000]uint16 // the first other ideograph that folds to a rune, 0 if there is none
	another [0x10000]uint16 // the next that folds to the same rune as an ideograph
	plain   [256]bool       // ASCII letters and digits
}

// The ideographs of most Chinese texts. All are three bytes long and fold to an
// ideograph, if rarely to a longer one; none combines with a rune before it.
const (
	firstIdeograph, lastIdeograph = 0x4e00, 0x9fff
	ideographBytes                = 3
	firstLonger                   = 0x10000
)

// ideograph is the one from firstIdeograph to lastIdeograph that begins at byte i,
// or 0. To decode any rune takes several times as long.
func ideograph(s string, i int) rune {
	if i+2 >= len(s) {
		return 0
	}
	second, third := s[i+1]^0x80, s[i+2]^0x80
	r := rune(s[i]^0xe0)<<12 | rune(second)<<6 | rune(third)
	if second|third > 0x3f || uint32(r-firstIdeograph) > lastIdeograph-firstIdeograph {
		return 0
	}
	return r
}

// glance is all that a first look at a rune has to know: what it folds to, and in
// its highest bits whether that is a sign, or several runes, or none.
type glance uint32

const (
	sign   glance = 1 << 30
	uneven glance = 1 << 31
)

func (g glance) rune() rune { return rune(g &^ sign) }

var pairScripts = []*unicode.RangeTable{
	unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// loadFolding builds the table once for the process (about 50 ms).
var loadFolding = sync.OnceValues(newFolding)

func newFolding() (*folding, error) {
	simplified, err := simplifications()
	if err != nil {
		return nil, err
	}
	f := &folding{}
	caser := cases.Fold()
	for r := range rune(len(f.table)) {
		f.table[r] = foldRune(caser, r)
	}
	for r := range f.table {
		if s, ok := simplified[f.table[r]]; ok {
			f.table[r] = s
		}
		f.classes[r] = classify(rune(r))
	}
	f.table['’'], f.table['＇'] = '\'', '\''
	for r, folded := range f.table {
		switch {
		case folded < 0:
			f.glances[r] = uneven
		case f.class(folded) == other:
			f.glances[r] = glance(folded) | sign
		default:
			f.glances[r] = glance(folded)
		}
	}
	for r := rune(lastIdeograph); r >= firstIdeograph; r-- {
		if to := f.table[r]; to != r && to < firstLonger {
			f.another[r], f.variant[to] = f.variant[to], uint16(r)
		}
	}
	for b := range utf8.RuneSelf {
		f.plain[b] = f.classes[b] == word
	}
	return f, nil
}

// glance looks at a rune.
func (f *folding) glance(r rune) glance {
	if int(r) < len(f.glances) {
		return f.glances[r]
	}
	return uneven
}

// simplifications is OpenCC's character map from traditional to simplified.
// Whole phrases are not converted: both sides of a match are folded alike, and
// a rune for a rune keeps the offsets.
func simplifications() (map[rune]rune, error) {
	converter, err := opencc.New("t2s")
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "loading the table from traditional to simplified Chinese")
	}
	table := make(map[rune]rune, 4096)
	for r := rune(0x3400); r <= 0x9fff; r++ {
		s, err := converter.Convert(string(r))
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "converting %q to simplified Chinese", r)
		}
		if c, size := utf8.DecodeRuneInString(s); size == len(s) && c != r && c != utf8.RuneError {
			table[r] = c
		}
	}
	return table, nil
}

func foldRune(caser cases.Caser, r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return unicode.ToLower(r)
	case r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return r // ideographs and Hangul syllables: no case, normal as they are
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r),
		unicode.Is(unicode.Cf, r):
		return dropped
	case utf8.RuneLen(r) < 0:
		return utf8.RuneError
	case !norm.NFKC.PropertiesString(string(r)).BoundaryBefore():
		return combining
	}
	s := caser.String(norm.NFKC.String(string(r)))
	if c, size := utf8.DecodeRuneInString(s); size == len(s) {
		return c
	}
	return composite
}

func classify(r rune) class {
	switch {
	case unicode.Is(unicode.Han, r):
		return han
	case unicode.In(r, pairScripts...) && (unicode.IsLetter(r) || unicode.IsMark(r)):
		return pair
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return word
	case unicode.IsMark(r):
		return mark
	}
	return other
}

func (f *folding) class(r rune) class {
	if int(r) < len(f.classes) {
		return f.classes[r]
	}
	return classify(r)
}

// folded is a text as it is matched, with the way back to the original.
type folded struct {
	text  string // may be the original itself
	spans []span // of no use when offsets were not asked for
	buf   []byte
}

// span maps folded bytes from `to` on to original bytes from `from` on: byte
// for byte, or, when it is a cluster, all of them to the whole cluster.
type span struct {
	to, from int
	cluster  bool
}

// String folds a text without offsets.
func (f *folding) String(text string) string { return f.fold(text, folded{}, false).text }

// fold folds a text, in time linear in its length, in the space of an earlier one.
func (f *folding) fold(text string, space folded, offsets bool) folded {
	w := writer{folding: f, buf: space.buf[:0], spans: space.spans[:0], offsets: offsets}
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
	return folded{text: text, spans: w.spans, buf: w.buf}
}

// writer is a fold under way.
type writer struct {
	*folding
	buf     []byte
	spans   []span
	offsets bool
}

// ascii folds the ASCII at i but for its last rune, which something may join, and
// returns its length.
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
		w.buf[to+at] = byte(w.table[b])
	}
	if w.offsets {
		w.mark(span{to: to, from: i})
	}
	return end - i
}

// ideographs folds those at i that keep their length, but for the last one, if
// something may join it, and returns their length.
func (w *writer) ideographs(text string, i int) int {
	end := i
	for {
		r := ideograph(text, end)
		if r == 0 || w.table[r] >= firstLonger {
			break
		}
		end += ideographBytes
	}
	if w.joins(text, end) {
		end -= ideographBytes
	}
	if end <= i {
		return 0
	}
	to := len(w.buf)
	for at := i; at < end; at += ideographBytes {
		w.buf = utf8.AppendRune(w.buf, w.table[ideograph(text, at)])
	}
	if w.offsets {
		w.mark(span{to: to, from: i})
	}
	return end - i
}

// step folds the rune, or the cluster of combining runes, at i and returns its
// length in the original.
func (w *writer) step(text string, i int) int {
	r, size := rune(text[i]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(text[i:])
	}
	if int(r) < len(w.table) && w.table[r] >= 0 && !w.joins(text, i+size) {
		w.rune(w.table[r], i, size)
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

// joins reports whether the rune at i may combine with the one before it.
func (f *folding) joins(text string, i int) bool {
	if i >= len(text) || text[i] < utf8.RuneSelf || ideograph(text, i) != 0 {
		return false
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	if int(r) < len(f.table) {
		return f.table[r] == combining
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

// mark opens a span unless the last one goes on unbroken.
func (w *writer) mark(s span) {
	if n := len(w.spans); n > 0 && !s.cluster {
		last := w.spans[n-1]
		if !last.cluster && s.from-last.from == s.to-last.to {
			return
		}
	}
	w.spans = append(w.spans, s)
}

// appendFolded folds a rune that is in NFKC already.
func (f *folding) appendFolded(dst []byte, r rune) []byte {
	if int(r) >= len(f.table) {
		return utf8.AppendRune(dst, unicode.ToLower(r))
	}
	switch v := f.table[r]; v {
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

// locator turns folded offsets into original ones. It remembers its place:
// asking in rising order, or nearly, costs constant time.
type locator struct {
	spans []span
	at    int
}

func (l *locator) seek(to int) span {
	for l.at > 0 && l.spans[l.at].to > to {
		l.at--
	}
	for l.at+1 < len(l.spans) && l.spans[l.at+1].to <= to {
		l.at++
	}
	return l.spans[l.at]
}

// start is the original offset at which the folded byte begins.
func (l *locator) start(to int) int {
	s := l.seek(to)
	if s.cluster {
		return s.from
	}
	return s.from + to - s.to
}

// end is the original offset behind the folded byte before to.
func (l *locator) end(to int) int {
	s := l.seek(to - 1)
	if s.cluster {
		return l.spans[l.at+1].from
	}
	return s.from + to - s.to
}

// isASCII reports whether a text has only ASCII bytes.
func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
