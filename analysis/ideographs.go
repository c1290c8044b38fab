package analysis

// Most stretches of Chinese are nothing but ideographs: those need neither be folded to
// a text nor looked over for words of other kinds before they are cut.

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
	l := &s.lattice
	l.wanted = w
	words := s.segmenter.lexicon.segment(l)
	for i, word := range words {
		from, to := word.start/ideographBytes, word.end/ideographBytes
		if !w.mayBeFirst(l.runes[from]) {
			continue
		}
		term := w.part(l.runes[from:to])
		if term == "" {
			continue
		}
		e := s.terms.lookup(term)
		s.tokens = append(s.tokens, Token{
			Text: e.term, Start: place.base + word.start, End: place.base + word.end,
			RuneStart: place.runes.runes + from, RuneEnd: place.runes.runes + to,
			Position: place.position + i, Part: word.part, Stop: e.stop,
		})
	}
	return len(words)
}
