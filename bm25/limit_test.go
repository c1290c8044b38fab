package bm25

import (
	"math/rand/v2"
	"testing"

	"github.com/hybridge-search/hybridge/textquery"
)

// Pruning is exact only if no chunk of a window scores above the window's limit.
func TestNoScoreIsAboveItsLimit(t *testing.T) {
	x := New(Options{})
	if err := x.Add(zipfDocs(6, 9000, 25, 60)); err != nil {
		t.Fatal(err)
	}
	s := x.Snapshot()
	r := rand.New(rand.NewPCG(9, 9))
	for range 600 {
		p := textquery.Phrase{Slop: r.IntN(12), Weight: 1}
		for range 1 + r.IntN(3) {
			p.Terms = append(p.Terms, vocabularyOf(60)[min(r.IntN(60), r.IntN(60))])
		}
		pl := s.plan(nil)
		g := s.addScorer(pl, nil, p)
		if len(g) == 0 {
			continue
		}
		lo := uint32(r.IntN(8900))
		hi := lo + 1 + uint32(r.IntN(100))
		open := func() *scorer {
			sc, _ := bindScorer(pl, g[0], 0, s.views[0])
			return sc
		}
		limit, any := open().bound(lo, hi)
		sc := open()
		for ord := lo; ord < hi; ord++ {
			if freq := sc.freqIn(ord); freq > 0 && (!any || sc.scoreOf(ord, freq) > limit) {
				t.Fatalf("%v scores %v in [%d, %d), over %v", p, sc.scoreOf(ord, freq), lo, hi, limit)
			}
		}
	}
}
