package highlight

import (
	"cmp"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
)

// sortHits sorts hits by offset; tokens of search mode are nearly in order.
func sortHits(hits []hit) []hit {
	byOffset := func(a, b hit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) }
	if !slices.IsSortedFunc(hits, byOffset) {
		slices.SortStableFunc(hits, byOffset)
	}
	return hits
}

// cutter cuts fragments around the hits of a text. It looks at no more text around a
// hit than fits into a fragment, so it is linear in the text. Its slices are scratch
// space for the next text.
type cutter struct {
	text   string
	size   int // of a fragment, in runes
	hits   []hit
	best   []fragment
	seen   []int // by term: the number of the last fragment that has it
	number int   // of the latest fragment, from 1

	tokens []analysis.Token

	marks []mark
	buf   []byte
	ends  []int // of the fragments in buf
}

// cutters are reused; no result refers to their memory.
var cutters = sync.Pool{New: func() any { return new(cutter) }}

func newCutter(text string, o Options) *cutter {
	c := cutters.Get().(*cutter)
	c.text, c.size = text, o.FragmentSize
	return c
}

// maxKept bounds the scratch space of an idle cutter, in elements.
const maxKept = 1 << 12

func (c *cutter) release() {
	if cap(c.tokens) <= maxKept && cap(c.hits) <= maxKept && cap(c.buf) <= 16*maxKept {
		clear(c.tokens)
		c.text = ""
		cutters.Put(c)
	}
}

// fragments returns the best fragments around the hits, at most limit of them. They are
// valid until release.
func (c *cutter) fragments(hits []hit, limit int) []fragment {
	c.hits, c.best = hits, c.best[:0]
	lowest := 0 // the end of the fragment before
	for len(hits) > 0 {
		f := fragment{}
		if hits[0].start >= lowest {
			f = c.around(hits[0], lowest)
		}
		if f.end <= f.start || f.end < hits[0].end {
			hits = hits[1:]
			continue
		}
		f.end = c.avoidHits(f.end, hits)
		rest := c.addHits(&f, hits)
		f.start, f.end = c.trim(f)
		if f.end > f.start {
			c.insert(&f, limit)
		}
		lowest = f.end
		hits = rest
	}
	return c.best
}

// insert puts a fragment among the best. Fragments come in the order of the text.
func (c *cutter) insert(f *fragment, limit int) {
	at := len(c.best)
	for at > 0 && f.isBetter(&c.best[at-1]) {
		at--
	}
	if at == limit {
		return
	}
	if len(c.best) == limit {
		c.best = c.best[:limit-1]
	}
	c.best = slices.Insert(c.best, at, *f)
}

// around is the stretch that shows a hit. It starts at lowest or later.
func (c *cutter) around(h hit, lowest int) fragment {
	start := c.start(h, lowest)
	return fragment{start: start, end: c.end(start, h.end)}
}

// start looks back for the beginning of the hit's sentence, as far as leaves room for
// the hit. If there is none, a third of the room goes before the hit.
func (c *cutter) start(h hit, lowest int) int {
	room := c.size - h.runes
	third := h.start
	for i, steps := h.start, 0; ; {
		if i <= lowest {
			return max(i, lowest)
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
		next, n := c.backWithin(c.back(i), lowest, far-steps-1)
		if i, steps = next, steps+1+n; steps <= room/3 {
			third = i
		}
	}
	for i := third; i < h.start; {
		if c.cuttable(i) && !c.splitsWord(i) {
			return i
		}
		_, size := utf8.DecodeRuneInString(c.text[i:])
		i += size
	}
	return h.start
}

// end goes as far as the size allows: to the last end of a sentence after the hit and
// after the first third, else to a place between words, else between graphemes. It is 0
// if none of them exists.
func (c *cutter) end(start, hitEnd int) int {
	third := c.forward(start, c.size/3+1)
	last := c.forward(third, c.size-c.size/3-1)
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
			return c.wordEnd(i, hitEnd)
		}
	}
	return 0
}

// backWithin goes back from i over ASCII and ideographs that end no sentence, at most n
// runes and not below limit. It also returns how many runes that were.
func (c *cutter) backWithin(i, limit, n int) (at, runes int) {
	text := c.text
	for i > limit && runes < n {
		from := i
		for lowest := max(limit, i-(n-runes)); i > lowest && endsNothing[text[i-1]]; {
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

// forward returns the offset n runes after i, or the end of the text.
func (c *cutter) forward(i, n int) int {
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

// isWide reports whether a rune from U+4000 to U+9FFF, mostly an ideograph, is at byte
// i: a fast path for Chinese.
func isWide(s string, i int) bool {
	return i >= 0 && i < len(s)-2 && s[i]-0xe4 < 6 && s[i+1]&0xc0 == 0x80 && s[i+2]&0xc0 == 0x80
}

// back returns the offset one rune before i.
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

// wordEnd goes back from an end to the last place after the hit that is between words,
// if there is one.
func (c *cutter) wordEnd(end, hitEnd int) int {
	for i := end; i >= hitEnd && i > 0; {
		if !c.splitsWord(i) && c.cuttable(i) {
			return i
		}
		i = c.back(i)
	}
	return end
}

// avoidHits moves an end that would cut through a hit to before it, and repeats that if
// the new end cuts through another. The first hit stays whole.
func (c *cutter) avoidHits(end int, hits []hit) int {
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

// addHits adds its hits to a fragment and returns the hits after it.
func (c *cutter) addHits(f *fragment, hits []hit) []hit {
	c.number++
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
	c.seen[term] = c.number
	return before != c.number
}

// trim strips white space from both ends, up to the outer hits.
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
