package scoring

import (
	"math"
	"testing"
)

// TestEvidence: it stands in place of the raw scores in the formula, which thresholds and
// explanations keep.
func TestEvidence(t *testing.T) {
	candidates := []Candidate{
		chunk("near", at(1, 2), at(1, 0.9)), chunk("far", at(2, 1), at(2, 0.8)), chunk("bare", at(3, 1), Observation{Raw: math.NaN()}),
		chunk("odd", at(4, 1), at(3, 0.7)),
	}
	legs := pair(0.2, 0.8)
	legs[0].Moments, legs[1].Moments = &Moments{Mean: 1, Deviation: 1}, &Moments{Mean: 0.5, Deviation: 0.25}
	legs[1].Evidence = []float64{0.25, 1.25, math.NaN(), math.Inf(1)}
	fused := linearOver(ZScore).Fuse(legs, candidates)
	// near 0.2·1 + 0.8·(-1), far 0.2·0 + 0.8·3, bare and odd the lowest known z
	want := map[string]float64{"near": -0.6, "far": 2.4, "bare": -0.8, "odd": -0.8}
	for i := range fused {
		if f := &fused[i]; math.Abs(f.Raw-want[f.ID()]) > 1e-12 {
			t.Errorf("%s has the sum %v, want %v", f.ID(), f.Raw, want[f.ID()])
		}
	}
	if fused[0].ID() != "far" || fused[0].Score <= fused[1].Score {
		t.Errorf("the best is %s with %v, the next has %v", fused[0].ID(), fused[0].Score, fused[1].Score)
	}
	c := fused[0].Legs()[1]
	if c.Raw == nil || *c.Raw != 0.8 || c.Evidence == nil || *c.Evidence != 1.25 || math.Abs(*c.Normalized-3) > 1e-12 {
		t.Errorf("explained as %+v; want a c.Raw and *c.Raw 0.8 and a c.Evidence and *c.Evidence 1.25 and math.Abs(*c.Normalized - 3) at most 1e-12", c)
	}
	if c := fused[0].Legs()[0]; c.Evidence != nil {
		t.Errorf("a leg without evidence shows %v", *c.Evidence)
	}
	kept, _ := Thresholds{Legs: []LegThreshold{{Index: 1, Min: 0.85}}}.Cut(fused)
	if len(kept) != 1 || kept[0].ID() != "near" {
		t.Errorf(`a threshold on raw scores keeps %d; want 1 kept and kept[0].ID() "near"`, len(kept))
	}
}

// TestMergeParts: a list fused in parts of the same weights is the list fused as one.
func TestMergeParts(t *testing.T) {
	legs, candidates := fourLegs()
	for i := range legs {
		legs[i].Moments = &Moments{Mean: 0.5, Deviation: 0.2}
	}
	whole := linearOver(ZScore).Fuse(legs, candidates)
	half := len(candidates) / 2
	merged := MergeParts(linearOver(ZScore).Fuse(legs, candidates[:half]), linearOver(ZScore).Fuse(legs, candidates[half:]))
	if len(merged) != len(whole) {
		t.Fatalf("%d of %d", len(merged), len(whole))
	}
	for i := range whole {
		if merged[i].ID() != whole[i].ID() || merged[i].Raw != whole[i].Raw {
			t.Fatalf("number %d is %s, in one list %s", i+1, merged[i].ID(), whole[i].ID())
		}
	}
	if len(MergeParts()) != 0 || len(MergeParts(nil, nil)) != 0 {
		t.Error("of nothing something came")
	}
}
