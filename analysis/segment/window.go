package segment

import "github.com/hybridge-search/hybridge/analysis/fold"

// A text of which few words are wanted need not be cut as a whole: if no word of the
// dictionary has two runes next to each other, every cut separates them, so either side can
// be cut by itself. Such a piece of a text is a window.

// Wanted says which words of ideographs are wanted.
type Wanted struct {
	Table   *fold.Table
	Firsts  fold.Runes             // their first runes
	Longest func(runes []rune) int // the length of the longest one that these runes begin with, or 0
}

func (w *Wanted) longest(runes []rune) int {
	if !w.Firsts.May(runes[0]) {
		return 0
	}
	return w.Longest(runes)
}

// Run is a run of ideographs, cut around wanted words. It is valid until the next cut with
// its lattice.
type Run struct {
	Runes []rune
	// Words are the words around wanted ones, in bytes of the run. Two places differ by one
	// exactly if the words are neighbours.
	Words []Placed
	// Count is the number of words; each stretch that was not cut counts as one. It is 0 if
	// the cut could depend on what is next to the run.
	Count int
}

// Placed is a word and its number in its run.
type Placed struct {
	Word
	Place int
}

// CutAround cuts the run of ideographs that begins at a byte of a text, around the wanted
// words. The run ends before an ideograph that folds to another length.
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

// readIdeographs sets the folded ideographs that a text begins with.
func (s *Lattice) readIdeographs(text string, t *fold.Table) {
	s.runes, s.at = s.runes[:0], s.at[:0]
	i := 0
	for ; i < len(text); i += fold.IdeographBytes {
		r := fold.Ideograph(text, i)
		if r == 0 {
			break
		}
		to, sameLength := t.Simplified(r)
		if !sameLength {
			break
		}
		s.runes, s.at = append(s.runes, to), append(s.at, i)
	}
	s.at = append(s.at, i)
}

// runCut cuts a run window by window. Its lattice holds the runes of the window.
type runCut struct {
	*Lexicon
	*Lattice
	whole  []rune
	places []int // the byte at which each rune begins, and the end
	done   int   // the end of the last window
	count  int
}

// restore gives the lattice its whole slices back, to be reused.
func (c *runCut) restore() { c.runes, c.at = c.whole, c.places }

// skipTo counts the stretch between the last window and a rune.
func (c *runCut) skipTo(rune int) {
	if rune > c.done {
		c.count++
	}
}

// cutWindow cuts the window of a wanted word. It reports false if the cut could depend on
// what is next to the run; nothing is if the run is alone.
func (c *runCut) cutWindow(word, end int, alone bool) bool {
	from, to := c.boundaryBefore(word), c.windowEnd(word, end)
	for c.cut(from, to); c.unsure(); c.cut(from, to) {
		from, to = c.widen(from, to)
	}
	if c.tied && !alone {
		return false
	}
	if from < c.done { // the whole run was cut
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

// boundaryBefore returns the last place up to i, after the last window, that no word
// extends across.
func (c *runCut) boundaryBefore(i int) int {
	for i > c.done && c.tree.mayJoin(c.whole[i-1], c.whole[i]) {
		i--
	}
	return i
}

// boundaryAfter returns the first place after i that no word extends across.
func (c *runCut) boundaryAfter(i int) int {
	for i++; i < len(c.whole) && c.tree.mayJoin(c.whole[i-1], c.whole[i]); {
		i++
	}
	return i
}

// windowEnd returns the end of the window of a wanted word and of those that begin in it.
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

// unsure reports whether the cut of a window could depend on what is around it.
func (c *runCut) unsure() bool {
	left, right := c.mayContinue()
	return left || right || c.tied && c.open != [2]bool{}
}

// mayContinue reports on which sides a wanted word that the model finds may go on outside
// of the window.
func (s *Lattice) mayContinue() (left, right bool) {
	return s.open[0] && s.mayHold(0, s.byModel[0]), s.open[1] && s.mayHold(s.byModel[1], len(s.runes))
}

// widen extends a window to the sides where a word may go on, or to the whole run if that
// cannot be enough.
func (c *runCut) widen(from, to int) (int, int) {
	left, right := c.mayContinue()
	if c.tied || left && from == c.done {
		return 0, len(c.whole)
	}
	if left {
		from = c.boundaryBefore(from - 1)
	}
	if right {
		to = c.boundaryAfter(to)
	}
	return from, to
}
