package scoring

import (
	"fmt"
	"strings"
	"testing"
)

// places writes a merged ranking as "source/id score".
func places(merged []Fused) string {
	var s []string
	for _, m := range merged {
		s = append(s, fmt.Sprintf("%d/%s %.3f", m.Source, m.ID(), m.Score))
	}
	return strings.Join(s, ", ")
}

// from marks chunks as those of a ranking.
func from(ranking int, fused []Fused) []Fused {
	for i := range fused {
		fused[i].Source = int32(ranking)
	}
	return fused
}

func TestMerge(t *testing.T) {
	merge := func(f Fusion, legs []Leg, lists ...[]Candidate) (string, Basis) {
		var answers []Ranking
		for i, list := range lists {
			answers = append(answers, Ranking{Legs: legs, Fused: from(i, f.Fuse(legs, list))})
		}
		merged, basis := f.Merge(answers...)
		return places(merged), basis
	}
	f := func(fusion Fusion, lists [][]Candidate, want string, wantBasis Basis) {
		t.Helper()
		if got, basis := merge(fusion, pair(0.5, 0.5), lists...); got != want || basis != wantBasis {
			t.Errorf("%s: got %s by %s\nwant %s by %s", fusion.Method, got, basis, want, wantBasis)
		}
	}
	lists := [][]Candidate{
		{chunk("a", at(1, 2), at(1, 1)), chunk("b", beyond(0), at(2, 0.5))},
		{chunk("c", at(1, 6), at(1, 1)), chunk("a", at(2, 2), at(2, 1))},
		{},
	}
	// raw: a 0.5·2 + 0.5·2 = 2, b 0.75 | c 3 + 1 = 4, a 2. Both a's have raw 2,
	// and the first base's has the better rank. Scores over the best of all, 4.
	f(Fusion{Method: ScriptScore}, lists, "1/c 1.000, 0/a 0.500, 1/a 0.500, 0/b 0.188", ByRaw)
	// scores: a 1, b 0.5·61/62 = 0.492 | c 1, a 61/62 = 0.984
	f(Fusion{Method: RRF}, lists, "0/a 1.000, 1/c 1.000, 1/a 0.984, 0/b 0.492", ByScore)
	// all have raw 0.5·2 + 0.5·1 = 1.5: the better single rank, then the id
	ties := [][]Candidate{
		{chunk("a", at(2, 2), at(2, 0)), chunk("e", at(3, 2), at(3, 0))},
		{chunk("z", at(1, 2), at(1, 0)), chunk("d", at(3, 2), at(3, 0))},
	}
	f(Fusion{Method: ScriptScore}, ties, "1/z 1.000, 0/a 1.000, 1/d 1.000, 0/e 1.000", ByRaw)
	f(Fusion{Method: RRF}, nil, "", ByScore)
}

func TestBasis(t *testing.T) {
	bound := func(b float64) []Leg {
		legs := pair(0.5, 0.5)
		legs[0].Bound = b
		return legs
	}
	f := func(fusion Fusion, want Basis, plans ...[]Leg) {
		t.Helper()
		if got := fusion.basis(plans...); got != want {
			t.Errorf("%+v: %s, want %s", fusion, got, want)
		}
	}
	f(Fusion{Method: RRF}, ByScore, bound(0), bound(0))
	f(Fusion{Method: ScriptScore}, ByRaw, bound(0), bound(0))
	f(Fusion{Method: ScriptScore}, ByScore, bound(0), pair(0.1, 0.9))
	f(Fusion{Method: Single}, ByRaw, bound(0), bound(16))
	f(linearOver(MinMax), ByScore, bound(0), bound(0))
	f(linearOver(ZScore), ByScore, bound(0), bound(0))
	f(linearOver(Theoretical), ByRaw, bound(16), bound(16))
	f(linearOver(Theoretical), ByScore, bound(16), bound(17))
	f(linearOver(Theoretical), ByScore, bound(0), bound(0))
	f(linearOver(Theoretical), ByScore, bound(16), bound(16)[:1])
}
