package search

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
)

// TestAVectorIsForKnowledgeBasesOfItsKind: of its model, where both are known, and of
// its dimension.
func TestAVectorIsForKnowledgeBasesOfItsKind(t *testing.T) {
	f := func(asked, held string, dimensions int, refused string) {
		t.Helper()
		q := &question{phrasing: phrasing{vector: []float32{1, 0}}, model: asked}
		kb := &engine.KnowledgeBase{EmbeddingModel: held, Dimensions: dimensions}
		vector, err := q.vectorFor(kb, &leg{})
		if refused == "" && (err != nil || len(vector) != 2) {
			t.Errorf(`model %q for %q: %v; want refused other than "" or no error and 2 vector`, asked, held, err)
		}
		if refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
			t.Errorf("model %q for %q, %d dimensions: %v, want %s", asked, held, dimensions, err, refused)
		}
	}
	f("e5", "e5", 2, "")
	f("e5", "", 2, "")
	f("", "e5", 2, "")
	f("e5", "bge", 2, `"bge"`)
	f("e5", "e5", 3, "2 numbers")
}

// TestSimilaritiesAreTheBestOfTheirKind, and unknown where no leg knows one.
func TestSimilaritiesAreTheBestOfTheirKind(t *testing.T) {
	rt := &retrieval{Subject: &engines.Subject{Plan: plan.Plan{Fusion: scoring.Fusion{Method: scoring.RRF}}}, legs: []leg{
		{Leg: plan.Leg{Kind: scoring.Vector}}, {Leg: plan.Leg{Kind: scoring.Vector}}, {Leg: plan.Leg{Kind: scoring.Text}},
	}}
	high, low, none := new(0.9), new(0.1), new(0.0)
	f := func(first, second, text *float64, wantVector, wantTerm *float64) {
		t.Helper()
		vector, term := rt.similarities([]scoring.Contribution{{Raw: first}, {Raw: second}, {Raw: text}})
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
