package scoring

import "testing"

// A chunk that no leg found has no score, and each leg says that it added nothing.
func TestUnfound(t *testing.T) {
	candidates := []Candidate{{}, chunk("a", Observation{Raw: unknown}, Observation{Raw: unknown})}
	for _, fusion := range []Fusion{{Method: RRF}, linearOver(ZScore), linearOver(MinMax), {Method: ScriptScore}} {
		all := fusion.Unfound(pair(0.4, 0.6), candidates, []int{1})
		if len(all) != 1 || all[0].ID() != "a" || all[0].Score != 0 || all[0].Raw != 0 {
			t.Fatalf(`%+v: %+v; want 1 all and all[0].ID() "a" and all[0].Score 0 and all[0].Raw 0`, fusion, all)
		}
		for _, leg := range all[0].Legs() {
			if leg.Contribution != 0 || leg.Rank != nil || leg.Raw != nil || leg.Normalized != nil {
				t.Errorf("%+v: %+v; want leg.Contribution 0 and no leg.Rank and no leg.Raw and no leg.Normalized", fusion, leg)
			}
		}
	}
}

func TestSparedChunksAreNotCut(t *testing.T) {
	candidates := []Candidate{chunk("a", at(1, 10), at(1, 0.9)), chunk("b", beyond(0), at(2, 0.5)), chunk("c", beyond(0), at(3, 0.1))}
	fused := Fusion{Method: RRF}.Fuse(pair(0.4, 0.6), candidates)
	for _, thresholds := range []Thresholds{
		{Score: value(0.99)},
		{Relative: value(1)},
		{Legs: []LegThreshold{{Index: 1, Min: 0.7}}},
	} {
		thresholds.Spares = func(f *Fused) bool { return f.ID() == "c" }
		kept, cuts := thresholds.Cut(fused)
		if got := ids(kept); got != "a c" || len(cuts) != 1 || cuts[0].Count != 1 {
			t.Errorf(`%+v keep %s, cuts %+v; want got "a c" and 1 cuts and cuts[0].Count 1`, thresholds, got, cuts)
		}
	}
}
