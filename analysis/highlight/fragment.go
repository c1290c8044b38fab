package highlight

import (
	"cmp"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
)

// inOrder sorts hits by their place; search-mode tokens are nearly so.
func inOrder(hits []hit) []hit {
	byPlace := func(a, b hit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) }
	if !slices.IsSortedFunc(hits, byPlace) {
		slices.SortStableFunc(hits, byPlace)
	}
	return hits
}

// cutter walks over the hits of a text and cuts fragments around them. Every
// fragment is looked for within its own size: linear in the text. Its slices are
// scratch space, used again for other texts.
type cutter struct {
	text string
	size int
	hits []hit
	all  []fragment
	seen []int // by term: the last fragment, counted from 1, that has it
	made int   // how many fragments there are

	tokens []analysis.Token

	marks []mark
	buf   []byte
	ends  []int // of the fragments in buf
}

// cutters are kept for the next text; nothing of them is handed out.
var cutters = sync.Pool{New: func() any { return new(cutter) }}

// maxKept bounds the scratch space that an idle cutter holds, in elements.
const maxKept = 1 << 12

func (c *cutter) done() {
	if cap(c.tokens) <= maxKept && cap(c.hits) <= maxKept && cap(c.buf) <= 16*maxKept {
		clear(c.tokens)
		c.text = ""
		cutters.Put(c)
	}
}

// fragments gives the best of those of the hits, at most limit, which are valid until
// the cutter is done.
func (c *cutter) fragments(hits []hit, limit int) []fragment {
	c.hits, c.all = hits, c.all[:0]
	behind := 0
	for len(hits) > 0 {
		f := fragment{}
		if hits[0].start >= behind {
			f = c.around(hits[0], behind)
		}
		if f.end <= f.start || f.end < hits[0].end {
			hits = hits[1:]
			continue
		}
		f.end = c.avoid(f.end, hits)
		rest := c.take(&f, hits)
		f.start, f.end = c.trim(f)
		if f.end > f.start {
			c.keep(&f, limit)
		}
		behind = f.end
		hits = rest
	}
	return c.all
}

// keep puts a fragment, which is behind those before it, among the best of them.
func (c *cutter) keep(f *fragment, limit int) {
	at := len(c.all)
	for at > 0 && f.isBetter(&c.all[at-1]) {
		at--
	}
	if at == limit {
		return
	}
	if len(c.all) == limit {
		c.all = c.all[:limit-1]
	}
	c.all = slices.Insert(c.all, at, *f)
}

// around is the stretch to show a hit in, from behind the fragment before.
func (c *cutter) around(h hit, behind int) fragment {
	start := c.start(h, behind)
	return fragment{start: start, end: c.end(start, h.end)}
}

// start looks for the beginning of the hit's sentence, as far back as the hit
// still fits; without one, a third of the room goes in front of the hit.
func (c *cutter) start(h hit, behind int) int {
	room := c.size - h.runes
	third := h.start
	for i, steps := h.start, 0; ; {
		if i <= behind {
			return max(i, behind)
		}
		if c.mayEnd(i) && c.endsSentence(i) && c.cuttable(i) {
			return i
		}
		if steps >= room {
			break
		}
		far := room
		if steps < room/3 {
			far = room / 3
		}
		next, n := c.backWithin(c.back(i), behind, far-steps-1)
		if i, steps = next, steps+1+n; steps <= room/3 {
			third = i
		}
	}
	for i := third; i < h.start; {
		if c.cuttable(i) && !c.inWord(i) {
			return i
		}
		_, size := utf8.DecodeRuneInString(c.text[i:])
		i += size
	}
	return h.start
}

// end goes as far as the size allows: to the last end of a sentence behind the
// hit and the first third, else between words, else between graphemes. 0 when
// nothing is possible.
func (c *cutter) end(start, hitEnd int) int {
	third := c.ahead(start, c.size/3+1)
	last := c.ahead(third, c.size-c.size/3-1)
	if last == len(c.text) && last >= hitEnd {
		return last
	}
	first := max(third, hitEnd, start+1)
	for i := last; i >= first; i = c.back(i) {
		if i, _ = c.backWithin(i, first, c.size); c.mayEnd(i) && c.endsSentence(i) && c.cuttable(i) {
			return i
		}
	}
	for i := last; i >= hitEnd && i > start; i = c.back(i) {
		if c.cuttable(i) {
			return c.gap(i, hitEnd)
		}
	}
	return 0
}

// backWithin goes back from i, at most n runes and not beyond limit, while no sentence
// ends there, over ASCII and ideographs. It returns how many runes that was.
func (c *cutter) backWithin(i, limit, n int) (at, runes int) {
	text := c.text
	for i > limit && runes < n {
		from := i
		for lowest := max(limit, i-(n-runes)); i > lowest && ordinary[text[i-1]]; {
			i--
		}
		runes += from - i
		if i <= limit || runes >= n || !isWide(text, i-3) {
			break
		}
		i -= 3
		runes++
	}
	return i, runes
}

// ahead is the place n runes behind i, or the end of the text.
func (c *cutter) ahead(i, n int) int {
	text := c.text
	for i < len(text) && n > 0 {
		switch {
		case text[i] < utf8.RuneSelf:
			i++
		case isWide(text, i):
			i += 3
		default:
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		}
		n--
	}
	return i
}

// isWide reports an ideograph, or another rune from U+4000 to U+9FFF, at byte i: a
// fast answer for most Chinese texts.
func isWide(s string, i int) bool {
	return i >= 0 && i < len(s)-2 && s[i]-0xe4 < 6 && s[i+1]&0xc0 == 0x80 && s[i+2]&0xc0 == 0x80
}

// back is the place one rune in front of i.
func (c *cutter) back(i int) int {
	if i > 0 && c.text[i-1] < utf8.RuneSelf {
		return i - 1
	}
	if isWide(c.text[:i], i-3) {
		return i - 3
	}
	_, size := utf8.DecodeLastRuneInString(c.text[:i])
	return i - size
}

// gap goes back from an end to the last one between words behind the hit, if
// there is one.
func (c *cutter) gap(end, hitEnd int) int {
	for i := end; i >= hitEnd && i > 0; {
		if !c.inWord(i) && c.cuttable(i) {
			return i
		}
		i = c.back(i)
	}
	return end
}

// avoid moves an end that would cut a hit in front of it, and again when it
// then cuts another one, but never into the first hit.
func (c *cutter) avoid(end int, hits []hit) int {
	for moved := true; moved; {
		moved = false
		for _, h := range hits {
			if h.start >= end {
				break
			}
			if h.end > end && h.start > hits[0].start {
				end, moved = max(h.start, hits[0].end), h.start > hits[0].end
				break
			}
		}
	}
	return end
}

// take gives the fragment its hits and returns the hits behind it.
func (c *cutter) take(f *fragment, hits []hit) []hit {
	c.made++
	n := 0
	for ; n < len(hits) && hits[n].start < f.end; n++ {
		h := hits[n]
		if !f.has(h) {
			continue
		}
		f.hits++
		if c.isNew(h.term) {
			f.distinct++
		}
		if f.hits == 1 {
			f.first = h.start
		}
		f.last = max(f.last, h.end)
	}
	f.matches = hits[:n]
	return hits[n:]
}

// isNew reports whether this is the fragment's first hit of a term.
func (c *cutter) isNew(term int) bool {
	if n := term + 1 - len(c.seen); n > 0 {
		c.seen = append(c.seen, make([]int, n)...)
	}
	before := c.seen[term]
	c.seen[term] = c.made
	return before != c.made
}

// trim takes the white space off both ends, outside of the marks.
func (c *cutter) trim(f fragment) (start, end int) {
	first, last := f.end, f.start
	if f.hits > 0 {
		first, last = f.first, f.last
	}
	start, end = f.start, f.end
	for start < first {
		r, size := utf8.DecodeRuneInString(c.text[start:])
		if !unicode.IsSpace(r) || !c.cuttable(start+size) {
			break
		}
		start += size
	}
	for end > max(start, last) {
		r, size := utf8.DecodeLastRuneInString(c.text[:end])
		if !unicode.IsSpace(r) || !c.cuttable(end-size) {
			break
		}
		end -= size
	}
	return start, end
}

// isTerminator reports a sign that ends a sentence whatever follows.
func isTerminator(r rune) bool {
	switch r {
	case '。', '！', '？', '…', '\n', '．', '｡':
		return true
	}
	return false
}

// isCloser reports a sign that belongs to the sentence in front of it.
func isCloser(r rune) bool {
	switch r {
	case '”', '’', '」', '』', '）', ')', ']', '"', '\'', '》':
		return true
	}
	return false
}

// mayEndSentence holds the last bytes of terminators and closers.
var mayEndSentence = func() (last [256]bool) {
	for r := range rune(utf8.MaxRune) {
		if s := string(r); isTerminator(r) || isCloser(r) || r == '.' || r == '!' || r == '?' {
			last[s[len(s)-1]] = true
		}
	}
	return last
}()

// ordinary holds the ASCII that ends no sentence.
var ordinary = func() (all [256]bool) {
	for b := range utf8.RuneSelf {
		all[b] = !mayEndSentence[b]
	}
	return all
}()

// mayEnd is a fast answer for most places.
func (c *cutter) mayEnd(i int) bool { return i > 0 && mayEndSentence[c.text[i-1]] }

// endsSentence reports whether a sentence ends in front of byte i.
func (c *cutter) endsSentence(i int) bool {
	before := c.text[:i]
	if isWide(before, i-3) {
		return false
	}
	r, size := utf8.DecodeLastRuneInString(before)
	for n := 0; n < 2 && isCloser(r); n++ { // ！” ?) 。」
		before = before[:len(before)-size]
		r, size = utf8.DecodeLastRuneInString(before)
	}
	latin := r == '.' || r == '!' || r == '?'
	if before == "" || !latin && !isTerminator(r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(c.text[i:])
	if latin {
		return i == len(c.text) || unicode.IsSpace(next) // not 3.14, not a != b
	}
	return !isTerminator(next) && (!isCloser(next) || len(before) < i)
}

// inWord reports whether a cut at i would divide a word of an alphabet.
func (c *cutter) inWord(i int) bool {
	if i > 0 && i < len(c.text) && c.text[i-1] < utf8.RuneSelf && c.text[i] < utf8.RuneSelf {
		return isAlphanumeric(c.text[i-1]) && isAlphanumeric(c.text[i])
	}
	before, _ := utf8.DecodeLastRuneInString(c.text[:i])
	after, _ := utf8.DecodeRuneInString(c.text[i:])
	return spaced(before) && spaced(after)
}

// spaced reports whether a rune belongs to a word between spaces.
func spaced(r rune) bool {
	if isIdeograph(r) {
		return false
	}
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !unicode.In(r, unspaced...)
}

var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// cuttable reports whether no grapheme is cut at i. It looks at the two runes
// only, so it also refuses some cuts that would be possible (between flags).
// https://unicode.org/reports/tr29/#Grapheme_Cluster_Boundary_Rules
func (c *cutter) cuttable(i int) bool {
	if i <= 0 || i >= len(c.text) {
		return true
	}
	if c.text[i-1] < utf8.RuneSelf && c.text[i] < utf8.RuneSelf {
		return c.text[i-1] != '\r' || c.text[i] != '\n'
	}
	before, _ := utf8.DecodeLastRuneInString(c.text[:i])
	after, _ := utf8.DecodeRuneInString(c.text[i:])
	switch {
	case plain(before) && plain(after):
		return before != '\r' || after != '\n'
	case unicode.In(after, unicode.M, unicode.Cf), after >= 0x1f3fb && after <= 0x1f3ff:
		return false // marks, joiners, skin tones
	case unicode.Is(unicode.Cf, before), isFlag(before) && isFlag(after):
		return false
	}
	return !isJamo(after) && (!unicode.Is(unicode.Mn, before) || !unicode.IsLetter(after))
}

func isAlphanumeric(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}

// isIdeograph is a fast answer for the runes of most Chinese texts.
func isIdeograph(r rune) bool { return r >= 0x4e00 && r <= 0x9fff }

// plain reports runes that never join another.
func plain(r rune) bool {
	return r < 0x300 && r != 0xad || isIdeograph(r) || r >= 0x3000 && r < 0x302a || r >= 0xff01 && r <= 0xff60
}

func isFlag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// isJamo reports whether a rune may continue a Hangul syllable.
func isJamo(r rune) bool {
	return r >= 0x1100 && r <= 0x11ff || r >= 0xa960 && r <= 0xa97f || r >= 0xd7b0 && r <= 0xd7ff
}
