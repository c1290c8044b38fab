package analysis

// Most stretches of Chinese are nothing but ideographs: those need neither be folded to
// a text nor looked over for words of other kinds, and only where a wanted word stands
// they are cut. Between two runes that no word of the dictionary has together every
// cut goes through, so what is on either side is cut by itself.

// readIdeographs reads a stretch for the lexicon, if it has nothing but ideographs
// that keep their length when they are folded.
func (s *scanner) readIdeographs(text string) bool {
	if len(text) > maxBlockBytes || s.segmenter.lexicon == nil {
		return false
	}
	runes, at := s.lattice.runes[:0], s.lattice.at[:0]
	for i := 0; i < len(text); i += ideographBytes {
		r := ideograph(text, i)
		if r == 0 {
			return false
		}
		if r = s.folding.table[r]; r >= firstLonger {
			return false
		}
		runes, at = append(runes, r), append(at, i)
	}
	at = append(at, len(text))
	s.lattice.runes, s.lattice.at = runes, at
	return true
}

// pickIdeographs keeps the wanted tokens of the stretch that was read, and returns
// how many it has, of those before and behind wanted ones at least one.
func (s *scanner) pickIdeographs(w *Wanted, place *placement) int {
	l, tokens := &s.lattice, len(s.tokens)
	runes, at := l.runes, l.at
	defer func() { l.runes, l.at = runes, at }()
	l.wanted = w
	pieces, behind := 0, 0
	for i := range runes {
		if i < behind || w.longest(runes[i:]) == 0 {
			continue
		}
		from, to := s.window(w, runes, i, behind)
		l.runes, l.at, l.open = runes[from:to], at[from:to+1], [2]bool{from > 0, to < len(runes)}
		words := s.segmenter.lexicon.segment(l)
		if (l.close || l.severed) && to-from < len(runes) {
			s.tokens = s.tokens[:tokens]
			l.runes, l.at, l.open = runes, at, [2]bool{}
			return s.keepWords(w, place, s.segmenter.lexicon.segment(l), 0)
		}
		if from > behind {
			pieces++
		}
		pieces += s.keepWords(w, place, words, pieces)
		behind = to
	}
	if behind < len(runes) {
		pieces++
	}
	return pieces
}

// window is what has to be cut around the wanted word at i, and those that begin in it.
func (s *scanner) window(w *Wanted, runes []rune, i, behind int) (from, to int) {
	tree := &s.segmenter.lexicon.tree
	for from = i; from > behind && tree.mayJoin(runes[from-1], runes[from]); {
		from--
	}
	to = i + 1
	for ; i < to; i++ {
		to = max(to, i+w.longest(runes[i:]))
		if i+1 == to && to < len(runes) && tree.mayJoin(runes[i], runes[to]) {
			to++
		}
	}
	return from, to
}

// keepWords keeps the wanted of the words of a window, behind so many pieces, and
// returns how many they are.
func (s *scanner) keepWords(w *Wanted, place *placement, words []extent, pieces int) int {
	l := &s.lattice
	first := l.at[0] / ideographBytes
	for i, word := range words {
		from, to := word.start/ideographBytes, word.end/ideographBytes
		term := w.part(l.runes[from-first : to-first])
		if term == "" {
			continue
		}
		e := s.terms.lookup(term)
		s.tokens = append(s.tokens, Token{
			Text: e.term, Start: place.base + word.start, End: place.base + word.end,
			RuneStart: place.runes.runes + from, RuneEnd: place.runes.runes + to,
			Position: place.position + pieces + i, Part: word.part, Stop: e.stop,
		})
	}
	return len(words)
}
