package presets_test

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

func at[T any](v T) *T { return &v }

func TestCustomPresetLaysItsDefaultsUnderTheRequest(t *testing.T) {
	planners, err := presets.With(map[string]presets.Custom{"support": {Base: "rrf", TopK: at(7), Overrides: search.Overrides{
		Weights:   map[string]float64{"text": 0.9, "vector": 0.1},
		RRFK:      at(10.0),
		Rerank:    &search.Rerank{Name: "best"},
		Threshold: search.Threshold{Vector: at(0.8)},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	kb := engine.KnowledgeBase{Kind: engine.KindChunks, Dimensions: 3}
	req := search.Request{Overrides: search.Overrides{
		Weights: map[string]float64{"vector": 0.5}, RRFK: at(20.0), Threshold: search.Threshold{Score: at(0.1)},
	}}
	plan, err := planners["support"](&req, kb.Fields())
	if err != nil {
		t.Fatal(err)
	}
	if plan.Preset != "support" || plan.Rerank == nil || plan.Rerank.Name != "best" || plan.TopK != 7 || plan.Candidates != 21 {
		t.Errorf(`preset %s, top_k %d, candidates %d; want plan.Preset "support" and a plan.Rerank and plan.Rerank.Name "best" and plan.TopK 7 and plan.Candidates 21`, plan.Preset, plan.TopK, plan.Candidates)
	}
	if want := (scoring.Fusion{Method: scoring.RRF, RRFK: 20}); plan.Fusion != want {
		t.Errorf("fusion %+v, want %+v", plan.Fusion, want)
	}
	if plan.Legs[0].Weight != 0.9 || plan.Legs[1].Weight != 0.5 {
		t.Errorf("legs %+v, want weights 0.9 and 0.5", plan.Legs)
	}
	if *plan.Threshold.Vector != 0.8 || *plan.Threshold.Score != 0.1 {
		t.Errorf("threshold %+v; want *plan.Threshold.Vector 0.8 and *plan.Threshold.Score 0.1", plan.Threshold)
	}
	if len(req.Weights) != 1 || req.TopK != nil {
		t.Errorf("the request was changed: %+v; want 1 req.Weights and no req.TopK", req)
	}
	if len(planners) != len(presets.Builtin())+1 {
		t.Errorf("%d presets", len(planners))
	}
}

// TestCustomPresetWeighsFurtherVectors: its weights may name vector fields that only
// some knowledge bases have.
func TestCustomPresetWeighsFurtherVectors(t *testing.T) {
	titles := presets.Custom{Base: "rrf", Overrides: search.Overrides{Weights: map[string]float64{"vector": 0.5, "title_vector": 0.3}}}
	planners, err := presets.With(map[string]presets.Custom{"titles": titles})
	if err != nil {
		t.Fatal(err)
	}
	kb := engine.KnowledgeBase{
		Kind: engine.KindChunks, Dimensions: 2, VectorFields: []engine.VectorField{{Name: "title_vector", Source: "title"}},
	}
	plan, err := planners["titles"](&search.Request{}, kb.Fields())
	if err != nil || len(plan.Legs) != 3 || plan.Legs[1].Weight != 0.5 || plan.Legs[2].Weight != 0.3 {
		t.Errorf("%+v, %v; want no error and 3 plan.Legs and plan.Legs[1].Weight 0.5 and plan.Legs[2].Weight 0.3", plan.Legs, err)
	}
	kb.VectorFields = nil
	if _, err := planners["titles"](&search.Request{}, kb.Fields()); err == nil {
		t.Error("a knowledge base without the field was planned")
	}
}

func TestBadCustomPresets(t *testing.T) {
	f := func(name string, custom presets.Custom, want string) {
		t.Helper()
		_, err := presets.With(map[string]presets.Custom{name: custom})
		if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s over %s: %v, want %q", name, custom.Base, err, want)
		}
	}
	f("rrf", presets.Custom{Base: "rrf"}, "a name that no built-in preset has")
	f("mine", presets.Custom{Base: "rff"}, "presets[mine].base is \"rff\"; it must be one of balanced")
	f("mine", presets.Custom{Base: ""}, "presets[mine].base")
	f("mine", presets.Custom{Base: "rrf", Overrides: search.Overrides{Weights: map[string]float64{"txet": 1}}}, "weights.txet")
	f("mine", presets.Custom{Base: "linear", Overrides: search.Overrides{Normalizer: at(scoring.Normalizer("max"))}}, "presets[mine].normalizer")
	f("mine", presets.Custom{Base: "rrf", Overrides: search.Overrides{Candidates: at(0)}}, "presets[mine].candidates is 0")
}
