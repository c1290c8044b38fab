package bm25

import (
	"math"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/textquery"
)

// frequencyIn asks the matcher itself.
func frequencyIn(text, phrase string, slop int) float32 {
	x := New(Options{})
	_ = x.Add([]Doc{{Key: 1, Tokens: strings.Fields(text)}})
	s := x.Snapshot()
	pl := s.plan(nil)
	g := s.addScorer(pl, nil, textquery.Phrase{Terms: strings.Fields(phrase), Slop: slop, Weight: 1})
	if len(g) == 0 {
		return 0
	}
	sc, ok := bindScorer(pl, g[0], 0, s.views[0])
	if !ok {
		return 0
	}
	return sc.freqIn(0)
}

func TestPhraseFrequency(t *testing.T) {
	f := func(text, phrase string, slop int, want float64) {
		t.Helper()
		if got := frequencyIn(text, phrase, slop); math.Abs(float64(got)-want) > 1e-6 {
			t.Errorf("%q has %q~%d %v times, want %v", text, phrase, slop, got, want)
		}
	}
	f("a b c", "a b", 0, 1)
	f("a b a b", "a b", 0, 2)
	f("a x b", "a b", 0, 0)
	f(strings.Repeat("a ", 3), "a a", 0, 2)
	f("a b a b a", "a b a", 0, 2)
	f("a x b", "a b", 1, 1./2)
	f("a x b", "a b", 5, 1./2)
	f("a x y b", "a b", 1, 0)
	f("b a", "a b", 1, 0) // swapped words are two moves apart
	f("b a", "a b", 2, 1./3)
	f("a b a", "a b", 2, 1+1./3) // a b, then b a
	f("a b x a b", "a b", 2, 2)
	f("a b c", "a b c", 3, 1)
	f("a c b", "a b c", 3, 1./3)
	f("a", "a a", 2, 0) // one word is not two
	f("a a", "a a", 2, 1)
	f("a x a", "a a", 2, 1./2)
	f("a b", "a unknown", 2, 0)
}
