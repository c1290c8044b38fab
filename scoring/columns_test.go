package scoring

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// TestColumnsRankAsFuse: whatever the weights, the numbers of the fusion and the thresholds, columns that were made by
// other ones give the ranking of Fuse.
func TestColumnsRankAsFuse(t *testing.T) {
	t.Parallel()
	var scratch Scratch
	rapid.Check(t, func(t *rapid.T) {
		legs := drawLegs(t, weights())
		f := rapid.SampledFrom(fusions()).Draw(t, "fusion")
		candidates := drawWindow(t, legs)
		if rapid.Bool().Draw(t, "signal") {
			legs = append(legs, Leg{Name: "signal", Kind: Signal})
			for i := range candidates {
				raw := float64(rapid.IntRange(0, 2).Draw(t, "value")) / 2
				candidates[i].Observations = append(candidates[i].Observations, Joint(Signal, raw))
			}
		}
		columns := f.Columns(legs, candidates, nil)
		for range 3 {
			given := make([]float64, len(legs))
			for i := range legs {
				given[i] = weights().Draw(t, "other weight")
				legs[i].Weight = given[i]
			}
			f.RRFK = rapid.SampledFrom([]float64{0, 1, 60, 1000}).Draw(t, "k")
			f.Pivot = rapid.SampledFrom([]float64{0, 0.5, 20}).Draw(t, "pivot")
			limits := drawLimits(t)
			n := rapid.IntRange(0, 14).Draw(t, "n")
			ranked, _ := limits.Cut(f.Fuse(legs, candidates))
			want := []int32{}
			for _, x := range ranked[:min(n, len(ranked))] {
				want = append(want, x.Index)
			}
			got := []int32{}
			for _, place := range columns.Rank(f, given, &limits, n, &scratch) {
				got = append(got, columns.Candidates()[place])
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%+v: %v, want %v", f, got, want)
			}
		}
	})
}

func drawLimits(t *rapid.T) (limits Thresholds) {
	least := rapid.SampledFrom([]float64{0, 0.2, 0.5, 1})
	if rapid.Bool().Draw(t, "cut by score") {
		limits.Score = new(least.Draw(t, "score"))
	}
	if rapid.Bool().Draw(t, "cut relatively") {
		limits.Relative = new(least.Draw(t, "relative"))
	}
	return limits
}

// TestColumnsAreComplete: where no chunk beyond the candidates reaches the last place, a ranking of more of them is the same.
func TestColumnsAreComplete(t *testing.T) {
	t.Parallel()
	legs := []Leg{
		{Name: "text", Kind: Text, Weight: 1, Moments: &Moments{Mean: 1, Deviation: 2}},
		{Name: "vector", Kind: Vector, Weight: 1, Moments: &Moments{Mean: 0.5, Deviation: 0.1}},
	}
	f := linearOver(ZScore)
	candidates := []Candidate{
		{ID: "a", Observations: []Observation{{Rank: 1, Raw: 9}, {Rank: 2, Raw: 0.8}}},
		{ID: "b", Observations: []Observation{{Rank: 2, Raw: 5}, {Rank: 1, Raw: 0.9}}},
		{ID: "c", Observations: []Observation{{Rank: 3, Raw: 4}, {Raw: 0.3}}},
	}
	// Another chunk has at most text 4, z 1.5, and cosine 0.8, z 3: 2.25 where both weigh a half; c has -0.25.
	columns := f.Columns(legs, candidates, []Observation{{Raw: 4}, {Raw: 0.8}})
	var s Scratch
	for n, want := range map[int]bool{1: true, 2: true, 3: false, 4: false} {
		columns.Rank(f, []float64{1, 1}, nil, n, &s)
		if got := columns.Complete(f, n, &s); got != want {
			t.Errorf("the first %d: complete is %v", n, got)
		}
	}
	// One that reaches the sum of the second may have its place, by its id.
	columns = f.Columns(legs, candidates, []Observation{{Raw: 5}, {Raw: 0.9}})
	for n, want := range map[int]bool{1: true, 2: false} {
		columns.Rank(f, []float64{1, 1}, nil, n, &s)
		if got := columns.Complete(f, n, &s); got != want {
			t.Errorf("the first %d, with another as good as the second: complete is %v", n, got)
		}
	}
}

func BenchmarkColumns(b *testing.B) {
	for _, f := range []Fusion{linearOver(ZScore), {Method: RRF}, {Method: ScriptScore, Saturated: true}} {
		b.Run(fmt.Sprint(f.Method), func(b *testing.B) {
			legs := []Leg{{Kind: Text, Weight: 1}, {Kind: Vector, Weight: 1}}
			candidates := make([]Candidate, 300)
			for i := range candidates {
				text, vector := Observation{Raw: float64(i * 7919 % 300)}, Observation{Raw: float64(i*104729%300) / 300}
				text.Rank, vector.Rank = max(0, 201-int(text.Raw)), max(0, 201-int(300*vector.Raw))
				candidates[i] = Candidate{ID: fmt.Sprint(i), Observations: []Observation{text, vector}}
			}
			columns := f.Columns(legs, candidates, nil)
			var s Scratch
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				columns.Rank(f, []float64{1, float64(i%50) / 10}, nil, 10, &s)
			}
		})
	}
}
