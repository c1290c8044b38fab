package tokens

import (
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/fold"
)

// Most stretches of Chinese are only ideographs, some with numbers or ASCII words among
// them. These need not be folded as a whole nor scanned for other kinds of words, and are
// cut only around wanted words.

// pickRuns appends the wanted tokens of a stretch of ideographs and ASCII words, run by
// run, and returns how many tokens the stretch has. Neighbours that nobody wants may count
// as one. It is not ok if the stretch has anything else, or if runs may join.
func (s *scanner) pickRuns(w *wanted, place *placement, text string) (pieces int, ok bool) {
	if w.keep != nil || len(text) > maxBlockBytes || !hasIdeograph(text) || s.segmenter.Lexicon() == nil {
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

func hasIdeograph(text string) bool {
	for at := range text {
		if fold.Ideograph(text, at) != 0 {
			return true
		}
	}
	return false
}

// pickRun picks from the run at byte at of a stretch and moves place past it.
func (s *scanner) pickRun(w *wanted, place *placement, text string, at int) bool {
	if fold.Ideograph(text, at) != 0 {
		return s.pickIdeographs(w, place, text, at)
	}
	n, pieces := 1, 0
	if text[at] != '.' { // a point within a number belongs to the number
		n, pieces = s.pickWord(w, place, text[at:])
	}
	place.base += n
	place.runes.runes += n
	place.position += pieces
	return n > 0
}

// pickIdeographs appends the wanted tokens of a run of ideographs. It is not ok if how
// the run is cut depends on what is beside it.
func (s *scanner) pickIdeographs(w *wanted, place *placement, text string, at int) (ok bool) {
	run := s.segmenter.Lexicon().CutAround(text, at, &w.Wanted, &s.lattice)
	for _, word := range run.Words {
		from, to := word.Start/fold.IdeographBytes, word.End/fold.IdeographBytes
		found := w.part(run.Runes[from:to])
		if found == nil {
			continue
		}
		s.tokens = append(s.tokens, analysis.Token{
			Text: found.text, Start: place.base + word.Start, End: place.base + word.End,
			RuneStart: place.runes.runes + from, RuneEnd: place.runes.runes + to,
			Position: place.position + word.Place, Part: word.Part, Stop: found.stop,
		})
	}
	place.base += len(run.Runes) * fold.IdeographBytes
	place.runes.runes += len(run.Runes)
	place.position += run.Count
	return run.Count > 0
}

// pickWord appends the ASCII word that a text begins with, if it is wanted, and returns
// its length. That is 0 if there is none, or if the dictionary may cut the word or join it
// to what is beside it.
func (s *scanner) pickWord(w *wanted, place *placement, text string) (n, pieces int) {
	s.buf = s.buf[:0]
	for n < len(text) && n <= maxPlainBytes && s.plainContinues(text, n) {
		s.buf = append(s.buf, s.folding.ASCII(text[n]))
		n++
	}
	joins := s.segmenter.Lexicon().JoinsASCII
	if n == 0 || n > maxPlainBytes || joins(s.buf[0]) || joins(s.buf[n-1]) {
		return 0, 0
	}
	if w.mayBeginWord(s.buf[0], text[1:]) {
		s.pickPlain(w, place)
	}
	return n, 1
}

// plainContinues reports whether a word of ASCII letters and digits goes on at byte i.
func (s *scanner) plainContinues(text string, i int) bool {
	return s.folding.Alphanumeric(text[i]) ||
		text[i] == '.' && i > 0 && i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1])
}
