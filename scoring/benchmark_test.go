package scoring

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// fourLegs is the largest ordinary search: 4 legs of 100 hits each that share
// few chunks.
func fourLegs() ([]Leg, []Candidate) {
	legs := []Leg{textLeg(0.15), vectorLeg(0.5), textLeg(0.05), vectorLeg(0.3)}
	legs[2].Name, legs[3].Name = "answer", "answer_vector"
	random := rand.New(rand.NewPCG(1, 2))
	candidates := make([]Candidate, 390)
	for i := range candidates {
		candidates[i] = chunk(fmt.Sprintf("chunk-%03d", i), make([]Observation, 4)...)
	}
	for l, leg := range legs {
		for place, i := range random.Perm(len(candidates)) {
			o := Observation{Raw: 20 - float64(place)*0.05}
			if leg.Kind == Vector {
				o.Raw = 0.9 - float64(place)*0.002
			}
			if place < 100 {
				o.Rank = place + 1
			}
			candidates[i].Observations[l] = o
		}
	}
	return legs, candidates
}

// BenchmarkFuse explains every chunk, as if all were shown.
func BenchmarkFuse(b *testing.B) {
	legs, candidates := fourLegs()
	run := func(name string, f Fusion) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Explain(f.Fuse(legs, candidates))
			}
		})
	}
	run("rrf", Fusion{Method: RRF})
	run("script_score", Fusion{Method: ScriptScore})
	for _, n := range Normalizers() {
		run(string(n), linearOver(n))
	}
	for i := range legs {
		legs[i].Moments = &Moments{Mean: 0.5, Deviation: 0.2}
	}
	run("z_score_known_moments", linearOver(ZScore))
}

func BenchmarkCut(b *testing.B) {
	legs, candidates := fourLegs()
	fused := Fusion{Method: RRF}.Fuse(legs, candidates)
	thresholds := Thresholds{Relative: value(0.5), Legs: []LegThreshold{{Index: 1, Min: 0.5}}}
	b.ReportAllocs()
	for b.Loop() {
		thresholds.Cut(fused)
	}
}
