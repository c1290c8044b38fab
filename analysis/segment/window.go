package segment

import "github.com/hybridge-search/hybridge/analysis/fold"

// A text that is searched for a few words need not be cut whole: between two runes that
// no word of the dictionary has together every cut goes through, so what is on either
// side is cut by itself.

// Wanted says which words of ideographs a text is searched for.
type Wanted struct {
	Table   *fold.Table
	Firsts  fold.Runes             // what they begin with
	Longest func(runes []rune) int // the length of the longest that these runes begin with, 0 if none
}

func (w *Wanted) longest(runes []rune) int {
	if !w.Firsts.May(runes[0]) {
		return 0
	}
	return w.Longest(runes)
}

// Run is a run of ideographs, cut where wanted words are. It is valid until the next
// cut with its lattice.
type Run struct {
	Runes []rune
	// Words are those around wanted ones, in bytes of the run. Their places differ by one
	// exactly where they are neighbours.
	Words []Placed
	// Count is the number of words, where those together that were not cut count as one.
	// It is 0 if what is beside the run could decide how it is cut.
	Count int
}

// Placed is a word and its place among those of its run.
type Placed struct {
	Word
	Place int
}

// CutAround cuts the run of ideographs at a byte of a text around the words that are
// wanted; the run ends where one does not keep its length when it is folded.
func (l *Lexicon) CutAround(text string, at int, wanted *Wanted, s *Lattice) Run {
	s.readIdeographs(text[at:], wanted.Table)
	s.wanted, s.placed = wanted, s.placed[:0]
	c := runCut{Lexicon: l, Lattice: s, whole: s.runes, places: s.at}
	alone := at == 0 && len(s.runes)*fold.IdeographBytes == len(text)
	for i := range c.whole {
		if i < c.done {
			continue
		}
		if n := wanted.longest(c.whole[i:]); n > 0 && !c.cutWindow(i, i+n, alone) {
			c.restore()
			return Run{Runes: c.whole}
		}
	}
	c.skipTo(len(c.whole))
	c.restore()
	return Run{Runes: c.whole, Words: s.placed, Count: c.count}
}

// readIdeographs takes those that a text begins with, as they fold.
func (s *Lattice) readIdeographs(text string, t *fold.Table) {
	s.runes, s.at = s.runes[:0], s.at[:0]
	i := 0
	for ; i < len(text); i += fold.IdeographBytes {
		r := fold.Ideograph(text, i)
		if r == 0 {
			break
		}
		to, asLong := t.Simplified(r)
		if !asLong {
			break
		}
		s.runes, s.at = append(s.runes, to), append(s.at, i)
	}
	s.at = append(s.at, i)
}

// runCut cuts a run window by window; its lattice has the runes of a window.
type runCut struct {
	*Lexicon
	*Lattice
	whole  []rune
	places []int // the byte at which each rune begins, and the end
	done   int   // the rune behind the last window
	count  int
}

// restore gives the lattice the slices that it can grow.
func (c *runCut) restore() { c.runes, c.at = c.whole, c.places }

// skipTo counts what is not cut in front of a rune.
func (c *runCut) skipTo(rune int) {
	if rune > c.done {
		c.count++
	}
}

// cutWindow cuts what has to be cut around a wanted word, and reports whether nothing
// beside the run, unless that is alone, could decide how.
func (c *runCut) cutWindow(word, end int, alone bool) bool {
	from, to := c.before(word), c.windowEnd(word, end)
	for c.cut(from, to); c.unsure(); c.cut(from, to) {
		from, to = c.widen(from, to)
	}
	if c.close && !alone {
		return false
	}
	if from < c.done { // all, from the beginning on
		c.placed, c.count = c.placed[:0], 0
	} else {
		c.skipTo(from)
	}
	for _, w := range c.words {
		c.placed = append(c.placed, Placed{w, c.count})
		c.count++
	}
	c.done = to
	return true
}

func (c *runCut) cut(from, to int) {
	c.runes, c.at = c.whole[from:to], c.places[from:to+1]
	c.open = [2]bool{from > 0, to < len(c.whole)}
	c.segment(c.Lattice)
}

// before is the last place up to i, behind the last window, that no word goes on over.
func (c *runCut) before(i int) int {
	for i > c.done && c.tree.mayJoin(c.whole[i-1], c.whole[i]) {
		i--
	}
	return i
}

// behind is the first place behind i that no word goes on over.
func (c *runCut) behind(i int) int {
	for i++; i < len(c.whole) && c.tree.mayJoin(c.whole[i-1], c.whole[i]); {
		i++
	}
	return i
}

// windowEnd is the end of the window of a wanted word, and of those that begin in it.
func (c *runCut) windowEnd(word, end int) int {
	for i := word; i < end; i++ {
		if i+1 == end && end < len(c.whole) && c.tree.mayJoin(c.whole[i], c.whole[end]) {
			end++
		}
		if i+1 < end {
			end = max(end, i+1+c.wanted.longest(c.whole[i+1:]))
		}
	}
	return end
}

// unsure reports whether what is around a window could decide how it is cut.
func (c *runCut) unsure() bool {
	before, behind := c.severed()
	return before || behind || c.close && c.open != [2]bool{}
}

// severed reports on which sides, where there are more runes, a wanted word of the model
// may go on.
func (s *Lattice) severed() (before, behind bool) {
	return s.open[0] && s.mayHold(0, s.loose[0]), s.open[1] && s.mayHold(s.loose[1], len(s.runes))
}

// widen gives a window more to the sides where a word may go on: where that is
// not enough, the whole run.
func (c *runCut) widen(from, to int) (int, int) {
	left, right := c.severed()
	if c.close || left && from == c.done {
		return 0, len(c.whole)
	}
	if left {
		from = c.before(from - 1)
	}
	if right {
		to = c.behind(to)
	}
	return from, to
}
