package retrieve

import (
	"testing"

	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
)

// TestSimilaritiesAreTheBestOfTheirKind, and unknown where no leg knows one.
func TestSimilaritiesAreTheBestOfTheirKind(t *testing.T) {
	planned := &engines.Subject{Plan: plan.Plan{Fusion: scoring.Fusion{Method: scoring.RRF}}}
	rt := &Retrieval{Answered: Answered{prepared: prepared{target: &target{Subject: planned}, Legs: []leg{
		{Leg: plan.Leg{Kind: scoring.Vector}}, {Leg: plan.Leg{Kind: scoring.Vector}}, {Leg: plan.Leg{Kind: scoring.Text}},
	}}}}
	high, low, none := new(0.9), new(0.1), new(0.0)
	f := func(first, second, text *float64, wantVector, wantTerm *float64) {
		t.Helper()
		vector, term := rt.Similarities([]scoring.Contribution{{Raw: first}, {Raw: second}, {Raw: text}})
		if vector != wantVector || (term == nil) != (wantTerm == nil) || term != nil && *term != *wantTerm {
			t.Errorf("similarities %v and %v, want %v and %v", vector, term, wantVector, wantTerm)
		}
	}
	f(high, low, none, high, none)
	f(low, high, nil, high, nil)
	f(nil, low, low, low, nil) // a text score without its normalised one
	f(low, nil, none, low, none)
	f(nil, nil, nil, nil, nil)
}
