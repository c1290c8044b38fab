package presets_test

import (
	"encoding/json"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// TestSmallestAndLargestArePlanned: what a request may say at most and at least is planned as it is said, as nothing
// else is.
func TestSmallestAndLargestArePlanned(t *testing.T) {
	kb := engine.KnowledgeBase{Kind: engine.KindChunks, Dimensions: 384}
	f := func(preset, asked string, said func(*search.Plan) float64, want float64) {
		t.Helper()
		var req search.Request
		if err := json.Unmarshal([]byte(asked), &req); err != nil {
			t.Fatal(err)
		}
		plan, err := presets.Builtin()[preset](&req, kb.Fields())
		if err != nil {
			t.Errorf("%s %s: %v", preset, asked, err)
			return
		}
		if got := said(&plan); got != want {
			t.Errorf("%s %s: planned is %v, want %v", preset, asked, got, want)
		}
	}
	rrfK := func(p *search.Plan) float64 { return p.Fusion.RRFK }
	f("rrf", `{}`, rrfK, 60)
	f("rrf", `{"rrf_k": 1}`, rrfK, 1)
	f("rrf", `{"rrf_k": 2}`, rrfK, 2)
	f("rrf", `{"rrf_k": 1000000}`, rrfK, 1_000_000)
	topK := func(p *search.Plan) float64 { return float64(p.TopK) }
	f("rrf", `{}`, topK, 5)
	f("rrf", `{"top_k": 1}`, topK, 1)
	f("rrf", `{"top_k": 10000}`, topK, 10_000)
	candidates := func(p *search.Plan) float64 { return float64(p.Candidates) }
	f("rrf", `{"top_k": 3333}`, candidates, 9_999)
	f("rrf", `{"top_k": 3334}`, candidates, 10_000)
	f("rrf", `{"top_k": 10000}`, candidates, 10_000)
	f("rrf", `{"candidates": 5}`, candidates, 5)
	f("rrf", `{"candidates": 10000}`, candidates, 10_000)
	weight := func(leg int) func(*search.Plan) float64 {
		return func(p *search.Plan) float64 { return p.Legs[leg].Weight }
	}
	f("rrf", `{"weights": {"text": 0}}`, weight(0), 0)
	f("rrf", `{"weights": {"vector": 1000000000}}`, weight(1), 1e9)
	f("linear", `{"weights": {"text": 0.000001}}`, weight(0), 1e-6)
	diversity := func(p *search.Plan) float64 { return p.Diversity }
	f("vector", `{"diversity": 0}`, diversity, 0)
	f("vector", `{"diversity": 1}`, diversity, 1)
	window := func(p *search.Plan) float64 { return float64(p.Rerank.Window) }
	f("rrf", `{"rerank": {"name": "r"}}`, window, 50)
	f("rrf", `{"rerank": {"name": "r", "window": 1}}`, window, 1)
	f("rrf", `{"rerank": {"name": "r", "window": 1000}}`, window, 1_000)
	rerank := func(p *search.Plan) float64 { return p.Rerank.Weight }
	f("rrf", `{"rerank": {"name": "r"}}`, rerank, 0.7)
	f("rrf", `{"rerank": {"name": "r", "weight": 0}}`, rerank, 0)
	f("rrf", `{"rerank": "r"}`, rerank, 1)
	pivot := func(p *search.Plan) float64 { return p.Fusion.Pivot }
	f("script_score", `{"pivot": 0.5, "saturate": true}`, pivot, 0.5)
}
