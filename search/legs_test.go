package search

import (
	"math"
	"testing"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// prepared is a retrieval by a text and a vector leg of weight 1.
func prepared(fusion scoring.Fusion) *retrieval {
	plan := Plan{Fusion: fusion, Candidates: 10, Joint: true}
	return &retrieval{
		Subject:  &Subject{Plan: plan, KB: engine.KnowledgeBase{Ref: engine.Ref{ID: "manuals"}}},
		question: &question{},
		legs: []leg{
			{Leg: Leg{Name: "text", Kind: scoring.Text, Weight: 1}},
			{Leg: Leg{Name: "vector", Kind: scoring.Vector, Weight: 1}},
		},
	}
}

// TestTextWeighsByCoverage: √(known · average length / 134), the length within 42 to
// 251, on the text leg alone.
func TestTextWeighsByCoverage(t *testing.T) {
	parsed := analysis.Query{Terms: []analysis.QueryTerm{{Text: "refund", Count: 1}, {Text: "wombat", Count: 1}}}
	f := func(df []int, averageLength, want float64) {
		t.Helper()
		rt := prepared(scoring.Fusion{})
		rt.question.parsed = parsed
		rt.legs[0].frequencies = analysis.Frequencies{Docs: 100, AverageLength: averageLength, DF: df}
		rt.weighByCoverage()
		if got := rt.legs[0].Weight; math.Abs(got-want) > 1e-12 {
			t.Errorf("df %v, length %v: weight %v, want %v", df, averageLength, got, want)
		}
		if rt.legs[1].Weight != 1 {
			t.Errorf("the vector leg weighs %v", rt.legs[1].Weight)
		}
	}
	all, none := []int{5, 5}, []int{0, 0}
	f(all, 134, 1)
	f(all, 67, math.Sqrt(0.5))
	f(all, 42, math.Sqrt(42.0/134))
	f(all, 41, math.Sqrt(42.0/134))
	f(all, 251, math.Sqrt(251.0/134))
	f(all, 252, math.Sqrt(251.0/134))
	f(all, 0, 1) // nothing to measure by
	f(none, 134, 0)
	half := analysis.Frequencies{Docs: 100, DF: []int{5, 0}}
	f(half.DF, 134, math.Sqrt(analysis.Known(parsed, half)))
}

// TestSumsOfZScores: each weight over its leg's deviation; where nothing tells the
// chunks apart, all weights are 1.
func TestSumsOfZScores(t *testing.T) {
	f := func(text, vector, wantText, wantVector float64) {
		t.Helper()
		rt := prepared(scoring.Fusion{Method: scoring.Linear, Normalizer: scoring.ZScore})
		rt.legs[0].moments = &scoring.Moments{Mean: 2, Deviation: text}
		rt.legs[1].moments = &scoring.Moments{Mean: 0.3, Deviation: vector}
		sum := rt.sum([]int{0, 1})
		if sum.Weights[0] != wantText || sum.Weights[1] != wantVector || sum.Absent != nil || sum.Candidates != 10 {
			t.Errorf("deviations %v and %v: %+v, want weights %v and %v", text, vector, sum, wantText, wantVector)
		}
	}
	f(4, 0.5, 0.25, 2)
	f(0, 0.5, 0, 2)
	f(0, 0, 1, 1)
}
