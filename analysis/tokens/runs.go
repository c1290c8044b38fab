package tokens

import (
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/fold"
)

// Most stretches of Chinese are nothing but ideographs, some have numbers or words of
// ASCII among them: those need neither be folded to a text nor looked over for words of
// other kinds, and are cut only where a wanted word stands.

// pickRuns keeps the wanted tokens of a stretch of ideographs and ASCII words, run by run,
// and returns how many tokens it has, of those before and behind wanted ones at least
// one. It is not ok where there is anything else, or runs may join.
func (s *scanner) pickRuns(w *wanted, place *placement, text string) (pieces int, ok bool) {
	if w.keep != nil || len(text) > maxBlockBytes || s.lexicon == nil {
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
func (s *scanner) pickRun(w *wanted, place *placement, text string, at int) bool {
	if fold.Ideograph(text, at) != 0 {
		return s.pickIdeographs(w, place, text, at)
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

// pickIdeographs keeps the wanted tokens of a run of ideographs; it is not ok where that
// needs more than the run.
func (s *scanner) pickIdeographs(w *wanted, place *placement, text string, at int) (ok bool) {
	run := s.lexicon.CutAround(text, at, &w.Wanted, &s.lattice)
	for _, word := range run.Words {
		from, to := word.Start/fold.IdeographBytes, word.End/fold.IdeographBytes
		is := w.part(run.Runes[from:to])
		if is == nil {
			continue
		}
		s.tokens = append(s.tokens, analysis.Token{
			Text: is.text, Start: place.base + word.Start, End: place.base + word.End,
			RuneStart: place.runes.runes + from, RuneEnd: place.runes.runes + to,
			Position: place.position + word.Place, Part: word.Part, Stop: is.stop,
		})
	}
	place.base += len(run.Runes) * fold.IdeographBytes
	place.runes.runes += len(run.Runes)
	place.position += run.Count
	return run.Count > 0
}

// pickWord keeps the ASCII word that a text begins with, if it is wanted, and returns its
// length, 0 if there is none or the dictionary may cut it or join it to what is beside it.
func (s *scanner) pickWord(w *wanted, place *placement, text string) (n, pieces int) {
	s.buf = s.buf[:0]
	for n < len(text) && n <= maxPlainBytes && s.plainGoesOn(text, n) {
		s.buf = append(s.buf, s.folding.ASCII(text[n]))
		n++
	}
	edgy := s.lexicon.Edgy
	if n == 0 || n > maxPlainBytes || edgy(s.buf[0]) || edgy(s.buf[n-1]) {
		return 0, 0
	}
	if w.beginsWord(s.buf[0], text[1:]) {
		s.keepPlain(w, place)
	}
	return n, 1
}

// plainGoesOn reports whether a word of ASCII letters and digits has byte i of a text too.
func (s *scanner) plainGoesOn(text string, i int) bool {
	return s.folding.Alphanumeric(text[i]) ||
		text[i] == '.' && i > 0 && i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1])
}
