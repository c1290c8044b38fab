package analysis

// Most stretches of Chinese are nothing but ideographs, some have numbers or words of
// ASCII among them: those need neither be folded to a text nor looked over for words of
// other kinds, and only where a wanted word stands they are cut. Between two runes that
// no word of the dictionary has together every cut goes through, so what is on either
// side is cut by itself.

// pickRuns keeps the wanted tokens of a stretch of ideographs and ASCII words, run by run,
// and returns how many tokens it has, of those before and behind wanted ones at least
// one. It is not ok where there is anything else, or runs may join.
func (s *scanner) pickRuns(w *Wanted, place *placement, text string) (pieces int, ok bool) {
	if w.keep != nil || len(text) > maxBlockBytes || s.segmenter.lexicon == nil {
		return 0, false
	}
	tokens, run := len(s.tokens), *place
	for at := 0; at < len(text); at = run.base - place.base {
		if !s.pickRun(w, &run, text, at) {
			s.tokens = s.tokens[:tokens]
			return 0, false
		}
	}
	return run.position - place.position, true
}

// pickRun picks from the run at byte at of a stretch, and lets its place go on behind it.
func (s *scanner) pickRun(w *Wanted, place *placement, text string, at int) bool {
	if n := s.readIdeographs(text[at:]); n > 0 {
		pieces := s.pickIdeographs(w, place, n*ideographBytes == len(text))
		place.base += n * ideographBytes
		place.runes.runes += n
		place.position += pieces
		return pieces > 0
	}
	n, pieces := 1, 0
	if text[at] != '.' { // one within a number belongs to that
		n, pieces = s.pickWord(w, place, text[at:])
	}
	place.base += n
	place.runes.runes += n
	place.position += pieces
	return n > 0
}

// pickWord keeps the ASCII word that a text begins with, if it is wanted, and returns its
// length, 0 if there is none or the dictionary may cut it or join it to what is beside it.
func (s *scanner) pickWord(w *Wanted, place *placement, text string) (n, pieces int) {
	s.buf = s.buf[:0]
	for n < len(text) && n <= maxPlainBytes && s.plainGoesOn(text, n) {
		s.buf = append(s.buf, byte(s.folding.table[text[n]]))
		n++
	}
	edgy := &s.segmenter.lexicon.edgy
	if n == 0 || n > maxPlainBytes || edgy[s.buf[0]] || edgy[s.buf[n-1]] {
		return 0, 0
	}
	if w.beginsWord(s.folding, s.buf[0], text[1:]) {
		s.keepPlain(w, place)
	}
	return n, 1
}

// plainGoesOn reports whether a word of ASCII letters and digits has byte i of a text too.
func (s *scanner) plainGoesOn(text string, i int) bool {
	return s.folding.plain[text[i]] ||
		text[i] == '.' && i > 0 && i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1])
}

// readIdeographs reads those that a text begins with for the lexicon, as far as they keep
// their length when they are folded, and returns how many they are.
func (s *scanner) readIdeographs(text string) int {
	runes, at := s.lattice.runes[:0], s.lattice.at[:0]
	for i := 0; i < len(text); i += ideographBytes {
		r := ideograph(text, i)
		if r == 0 {
			break
		}
		if r = s.folding.table[r]; r >= firstLonger {
			break
		}
		runes, at = append(runes, r), append(at, i)
	}
	at = append(at, len(runes)*ideographBytes)
	s.lattice.runes, s.lattice.at = runes, at
	return len(runes)
}

// pickIdeographs keeps the wanted tokens of the run that was read, and returns how many
// it has, of those before and behind wanted ones at least one; 0 if the run is not alone
// in its stretch and what is beside it could decide.
func (s *scanner) pickIdeographs(w *Wanted, place *placement, alone bool) int {
	l, tokens := &s.lattice, len(s.tokens)
	runes, at := l.runes, l.at
	defer func() { l.runes, l.at = runes, at }()
	l.wanted = w
	pieces, behind := 0, 0
	for i := range runes {
		if i < behind {
			continue
		}
		n := w.longest(runes[i:])
		if n == 0 {
			continue
		}
		from, to := s.segmenter.lexicon.tree.before(runes, i, behind), s.windowEnd(w, runes, i, i+n)
		for s.cutWindow(runes, at, from, to); s.unsure(); s.cutWindow(runes, at, from, to) {
			from, to = s.widen(runes, from, to, behind)
		}
		switch {
		case l.close && !alone:
			return 0
		case from < behind: // all from the beginning on
			s.tokens, pieces = s.tokens[:tokens], 0
		case from > behind:
			pieces++
		}
		pieces += s.keepWords(w, place, l.words, pieces)
		behind = to
	}
	if behind < len(runes) {
		pieces++
	}
	return pieces
}

// windowEnd is the end of what has to be cut around the wanted runes from i to a place, and
// around those that begin in it.
func (s *scanner) windowEnd(w *Wanted, runes []rune, i, to int) int {
	tree := &s.segmenter.lexicon.tree
	for ; i < to; i++ {
		if i+1 == to && to < len(runes) && tree.mayJoin(runes[i], runes[to]) {
			to++
		}
		if i+1 < to {
			to = max(to, i+1+w.longest(runes[i+1:]))
		}
	}
	return to
}

func (s *scanner) cutWindow(runes []rune, at []int, from, to int) {
	l := &s.lattice
	l.runes, l.at, l.open = runes[from:to], at[from:to+1], [2]bool{from > 0, to < len(runes)}
	s.segmenter.lexicon.segment(l)
}

// unsure reports whether what is around a window could decide how it is cut.
func (s *scanner) unsure() bool {
	before, behind := s.lattice.severed()
	return before || behind || s.lattice.close && s.lattice.open != [2]bool{}
}

// widen gives a window more to the sides where a word may go on: where that is
// not enough, all.
func (s *scanner) widen(runes []rune, from, to, behind int) (int, int) {
	l, tree := &s.lattice, &s.segmenter.lexicon.tree
	left, right := l.severed()
	if l.close || left && from == behind {
		return 0, len(runes)
	}
	if left {
		from = tree.before(runes, from-1, behind)
	}
	if right {
		to = tree.behind(runes, to)
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
		is := w.part(l.runes[from-first : to-first])
		if is == nil {
			continue
		}
		s.tokens = append(s.tokens, Token{
			Text: is.text, Start: place.base + word.start, End: place.base + word.end,
			RuneStart: place.runes.runes + from, RuneEnd: place.runes.runes + to,
			Position: place.position + pieces + i, Part: word.part, Stop: is.stop,
		})
	}
	return len(words)
}
