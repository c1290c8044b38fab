package scoring

import (
	"math"
	"slices"
	"testing"
)

// Promise: "boosts that are all equal change nothing" (docs/score-contract.md).
// Promise: "never ranks its knowledge base's hits lower" (docs/score-contract.md).
func TestBoost(t *testing.T) {
	f := func(fusion Fusion, ranking []Fused, want ...int32) []Fused {
		t.Helper()
		got := fusion.Boost(ranking, []float64{1, 0.5})
		for i := range want {
			if got[i].Index != want[i] {
				t.Errorf("%s: place %d has %d, want %d", fusion.Method, i, got[i].Index, want[i])
			}
			if i > 0 && got[i].Score > got[i-1].Score {
				t.Errorf("%s: score %v above the one before it", fusion.Method, got[i].Score)
			}
		}
		return got
	}
	// 1·0.5 = 0.5 is behind 0.6 and before 0.4; 0.8·0.5 ties with 0.4 and was before it.
	got := f(Fusion{Method: RRF}, []Fused{
		{Index: 0, Source: 1, Raw: 0.03, Score: 1},
		{Index: 1, Source: 1, Raw: 0.02, Score: 0.8},
		{Index: 2, Raw: 0.015, Score: 0.6},
		{Index: 3, Raw: 0.01, Score: 0.4},
	}, 2, 0, 1, 3)
	if got[1].Score != 0.5 || got[1].Raw != 0.03 || got[0].Score != 0.6 {
		t.Errorf("%+v; want got[1].Score 0.5 and got[1].Raw 0.03 and got[0].Score 0.6", got)
	}
	// Sums that are apart though their scores are not: 12 − ln 2 = 11.31.
	z := normalDistribution
	got = f(Fusion{Method: Linear, Normalizer: ZScore}, []Fused{
		{Index: 0, Source: 1, Raw: 12, Score: 1},
		{Index: 1, Raw: 11.5, Score: 1},
		{Index: 2, Raw: 11, Score: 1},
		{Index: 3, Source: 1, Raw: -1, Score: z(-1)},
		{Index: 4, Raw: -1.5, Score: z(-1.5)},
		{Index: 5, Raw: -2, Score: z(-2)},
	}, 1, 0, 2, 4, 3, 5)
	for _, boosted := range []float64{0.25, 0.75} { // a larger boost never ranks its own lower; equal ones change nothing
		ranking := func() []Fused {
			return []Fused{{Index: 0, Source: 0, Raw: 3, Score: 0.9}, {Index: 1, Source: 1, Raw: 2, Score: 0.8}, {Index: 2, Source: 0, Raw: 1, Score: 0.5}}
		}
		place := func(b float64) int {
			return slices.IndexFunc(Fusion{Method: RRF}.Boost(ranking(), []float64{1, b}), func(x Fused) bool { return x.Source == 1 })
		}
		if place(boosted) < place(boosted+0.25) {
			t.Errorf("with a boost of %v it is at %d, with a larger one at %d", boosted, place(boosted), place(boosted+0.25))
		}
		if same := (Fusion{Method: RRF}).Boost(ranking(), []float64{1, 1}); !slices.Equal(same, ranking()) {
			t.Errorf("equal boosts change the ranking: %+v", same)
		}
	}
	if want := z(-1 - math.Log(2)); got[4].Score != want || got[3].Score != z(-1.5) {
		t.Errorf("scores %v, %v; want %v, %v", got[3].Score, got[4].Score, z(-1.5), want)
	}
}
