package scoring

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
)

func value(v float64) *float64 { return &v }

// ids lists what is left of a ranking.
func ids(fused []Fused) string {
	var s []string
	for _, f := range fused {
		s = append(s, f.ID())
	}
	return strings.Join(s, " ")
}

// Promise: "so always keeps that hit" (docs/score-contract.md).
// Promise: "it always keeps the best hit" (docs/guide/en/relevance.md).
func TestCut(t *testing.T) {
	// Saturated over 0.5·1 + 0.5·2 = 1.5, pivot 10:
	// a: (0.5·0.5 + 0.5·1.9)/1.5 = 0.8     text 10, cosine 0.9
	// b: (0 + 0.5·1.5)/1.5 = 0.5           text 0,  cosine 0.5
	// c: (0.5·0.75 + 0)/1.5 = 0.25         text 30, no vector
	// d: (0 + 0.5·0.3)/1.5 = 0.1           text 0,  cosine −0.7
	candidates := []Candidate{
		chunk("a", at(1, 10), at(1, 0.9)),
		chunk("b", beyond(0), at(2, 0.5)),
		chunk("c", at(2, 30), beyond(unknown)),
		chunk("d", beyond(0), at(3, -0.7)),
	}
	legs := pair(0.5, 0.5)
	fused := Fusion{Method: ScriptScore, Saturated: true}.Fuse(legs, candidates)
	text, vector := 0, 1
	for _, c := range []struct {
		name       string
		thresholds Thresholds
		kept, cuts string
	}{
		{"none", Thresholds{}, "a b c d", `null`},
		{
			"score",
			Thresholds{Score: value(0.25)},
			"a b c", `[{"threshold":"score","min":0.25,"count":1,"best":0.1}]`,
		},
		{
			"relative to the best", Thresholds{Relative: value(0.5)}, // 0.5·0.8 = 0.4
			"a b", `[{"threshold":"relative","min":0.4,"count":2,"best":0.25}]`,
		},
		{"relative 1 keeps the best", Thresholds{Relative: value(1)}, "a", `[{"threshold":"relative","min":0.8,"count":3,"best":0.5}]`},
		{
			"vector cuts what it does not know",
			Thresholds{Legs: []LegThreshold{{vector, 0.5}}},
			"a b", `[{"threshold":"vector","min":0.5,"count":2,"best":-0.7}]`,
		},
		{
			"first threshold counts",
			Thresholds{Score: value(0.3), Legs: []LegThreshold{{text, 1}, {vector, 0}}},
			"a", `[{"threshold":"text","min":1,"count":2,"best":0},{"threshold":"vector","min":0,"count":1,"best":null}]`,
		},
		{
			"the least score itself passes beside a leg's",
			Thresholds{Score: value(0.25), Legs: []LegThreshold{{text, 0}}},
			"a b c", `[{"threshold":"score","min":0.25,"count":1,"best":0.1}]`,
		},
		{
			"the least share itself passes beside a leg's",
			Thresholds{Relative: value(1), Legs: []LegThreshold{{text, 0}}},
			"a", `[{"threshold":"relative","min":0.8,"count":3,"best":0.5}]`,
		},
		{
			"relative to the best that absolute ones leave",
			Thresholds{Relative: value(0.8), Legs: []LegThreshold{{text, 20}}},
			"c", `[{"threshold":"text","min":20,"count":3,"best":10}]`,
		},
		{
			"nothing relevant",
			Thresholds{Relative: value(0.5), Legs: []LegThreshold{{vector, 0.95}}},
			"", `[{"threshold":"vector","min":0.95,"count":4,"best":0.9}]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept, cuts := c.thresholds.Cut(fused)
			if got := ids(kept); got != c.kept {
				t.Errorf("kept %q, want %q", got, c.kept)
			}
			for i := range cuts { // 0.6000000000000001 and the like
				cuts[i].Min = round(cuts[i].Min)
				if cuts[i].Best != nil {
					cuts[i].Best = value(round(*cuts[i].Best))
				}
			}
			got, err := json.Marshal(cuts)
			if err != nil || string(got) != c.cuts {
				t.Errorf("cuts %s (%v), want %s", brief.Of(got), err, c.cuts)
			}
		})
	}
}

func TestWhy(t *testing.T) {
	candidates := []Candidate{chunk("a", at(1, 10), at(1, 0.9)), chunk("b", beyond(0), at(2, 0.5))}
	fused := Fusion{Method: RRF}.Fuse(pair(0.4, 0.6), candidates)
	thresholds := Thresholds{Legs: []LegThreshold{{Index: 1, Min: 0.7}}}
	if cut, falls := thresholds.Why(fused, "b"); !falls || cut.Threshold != "vector" || *cut.Best != 0.5 {
		t.Errorf("b: %+v %v, want the vector threshold at 0.5", cut, falls)
	}
	for _, id := range []string{"a", "absent"} {
		if cut, falls := thresholds.Why(fused, id); falls {
			t.Errorf("%s: %+v, want no cut", id, cut)
		}
	}
}

func TestApplicable(t *testing.T) {
	all := Thresholds{Score: value(0.2), Legs: []LegThreshold{{0, 0}, {0, 1}, {1, -1}, {1, 0}, {2, 0.5}, {7, 1}}}
	got := all.Applicable([]Leg{textLeg(1), vectorLeg(1), degraded(vectorLeg(1))})
	want := []LegThreshold{{0, 1}, {1, 0}}
	if len(got.Legs) != 2 || got.Legs[0] != want[0] || got.Legs[1] != want[1] || got.Score == nil {
		t.Errorf("got %+v, want the legs' %v", got, want)
	}
	if len(all.Legs) != 6 {
		t.Error("the thresholds asked were changed")
	}
}

func round(v float64) float64 { return math.Round(v*1e9) / 1e9 }
