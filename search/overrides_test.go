package search_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

func everything() search.Overrides {
	return search.Overrides{
		Candidates: new(7), Weights: map[string]float64{"text": 1, "vector": 2}, RRFK: new(3.0),
		Normalizer: new(scoring.L2), Pivot: new(4.0), MinimumShouldMatch: new("30%"), TextRequired: new(true),
		TextQuery: search.TextQuery{PhraseBoost: new(0.5), PhraseSlop: new(3), PartWeight: new(0.6)},
		UseRerank: new(false), Rerank: &search.Rerank{Name: "best"}, GroupBy: new(search.GroupByDocument),
		Return: search.ReturnChunk, DidYouMean: new(true), Rewrite: &search.Rewrite{Phrasings: 1},
		Threshold: search.Threshold{Score: new(0.1), Relative: new(0.2), Text: new(0.3), Vector: new(0.4)},
	}
}

// TestOverridesOver sets one member after the other on top of overrides that set all,
// and of some that set none.
func TestOverridesOver(t *testing.T) {
	base, none := everything(), search.Overrides{}
	if got := none.Over(base); !reflect.DeepEqual(got, base) {
		t.Errorf("nothing over all is %+v", got)
	}
	if got := base.Over(none); !reflect.DeepEqual(got, base) {
		t.Errorf("all over nothing is %+v", got)
	}
	for i := range reflect.TypeFor[search.Overrides]().NumField() {
		field := reflect.TypeFor[search.Overrides]().Field(i)
		var one search.Overrides
		value := reflect.ValueOf(&one).Elem().Field(i)
		switch value.Kind() { //nolint:exhaustive // the kinds of the members
		case reflect.Pointer:
			value.Set(reflect.New(field.Type.Elem()))
		case reflect.Map:
			value.Set(reflect.ValueOf(map[string]float64{"text": 5, "vector": 6}))
		case reflect.String:
			value.SetString(search.ReturnParent)
		case reflect.Slice:
			value.Set(reflect.ValueOf([]search.Signal{{Weight: 3}}))
		case reflect.Struct:
			if field.Type == reflect.TypeFor[search.TextQuery]() {
				value.Set(reflect.ValueOf(search.TextQuery{PhraseBoost: new(0.7), PhraseSlop: new(1), PartWeight: new(0.8)}))
				break
			}
			value.Set(reflect.ValueOf(search.Threshold{Score: new(0.5), Relative: new(0.6), Text: new(0.7), Vector: new(0.8)}))
		}
		got := one.Over(base)
		for j := range reflect.TypeFor[search.Overrides]().NumField() {
			want := reflect.ValueOf(base).Field(j).Interface()
			if i == j {
				want = value.Interface()
			}
			if member := reflect.ValueOf(got).Field(j).Interface(); !reflect.DeepEqual(member, want) {
				t.Errorf("%s over all: %+v, want %+v", field.Name, member, want)
			}
		}
	}
	got := search.Overrides{Weights: map[string]float64{"vector": 9}}.Over(base)
	if want := map[string]float64{"text": 1, "vector": 9}; !reflect.DeepEqual(got.Weights, want) {
		t.Errorf("weights %v, want %v", got.Weights, want)
	}
	if base.Weights["vector"] != 2 {
		t.Error("the weights below were changed")
	}
}

func TestOverridesValidate(t *testing.T) {
	good := everything()
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	f := func(field string, change func(o *search.Overrides)) {
		t.Helper()
		bad := everything()
		change(&bad)
		var got *fault.Error
		if err := bad.Validate(); !errors.As(err, &got) || got.Field != field || got.Kind != fault.InvalidArgument {
			t.Errorf("%v, want %s refused", err, field)
		}
	}
	f("candidates", func(o *search.Overrides) { o.Candidates = new(0) })
	f("candidates", func(o *search.Overrides) { o.Candidates = new(search.MaxCandidates + 1) })
	f("weights.text", func(o *search.Overrides) { o.Weights["text"] = -1 })
	f("weights.text", func(o *search.Overrides) { o.Weights["text"] = math.NaN() })
	f("weights.text", func(o *search.Overrides) { o.Weights["text"] = math.Inf(1) })
	f("weights", func(o *search.Overrides) { o.Weights = map[string]float64{"text": 0, "vector": 0} })
	f("rrf_k", func(o *search.Overrides) { o.RRFK = new(0.9) })
	f("rrf_k", func(o *search.Overrides) { o.RRFK = new(math.NaN()) })
	f("normalizer", func(o *search.Overrides) { o.Normalizer = new(scoring.Normalizer("softmax")) })
	f("pivot", func(o *search.Overrides) { o.Pivot = new(0.0) })
	f("minimum_should_match", func(o *search.Overrides) { o.MinimumShouldMatch = new("many") })
	f("text_query.phrase_boost", func(o *search.Overrides) { o.TextQuery.PhraseBoost = new(100.1) })
	f("text_query.phrase_slop", func(o *search.Overrides) { o.TextQuery.PhraseSlop = new(-1) })
	f("text_query.part_weight", func(o *search.Overrides) { o.TextQuery.PartWeight = new(0.0) })
	f("threshold.score", func(o *search.Overrides) { o.Threshold.Score = new(1.1) })
	f("threshold.relative", func(o *search.Overrides) { o.Threshold.Relative = new(-0.1) })
	f("threshold.text", func(o *search.Overrides) { o.Threshold.Text = new(-0.1) })
	f("threshold.vector", func(o *search.Overrides) { o.Threshold.Vector = new(-1.1) })
	f("rerank.window", func(o *search.Overrides) { o.Rerank = &search.Rerank{Name: "r", Window: new(0)} })
	f("rerank.window", func(o *search.Overrides) { o.Rerank = &search.Rerank{Name: "r", Window: new(1001)} })
	f("rerank.weight", func(o *search.Overrides) { o.Rerank = &search.Rerank{Name: "r", Weight: new(math.NaN())} })
	f("rerank.budget_ms", func(o *search.Overrides) { o.Rerank = &search.Rerank{Name: "r", BudgetMS: new(0)} })
	f("diversity", func(o *search.Overrides) { o.Diversity = new(1.1) })
	f("diversity", func(o *search.Overrides) { o.Diversity = new(math.NaN()) })
	f("group_by", func(o *search.Overrides) { o.GroupBy = new("author") })
	for _, accepted := range []search.Overrides{
		{},
		{Weights: map[string]float64{"text": 0}}, // the preset's weight of vector is there
		{GroupBy: new("")},
		{Candidates: new(search.MaxCandidates), RRFK: new(1.0), Pivot: new(1e6)},
		{Threshold: search.Threshold{Score: new(1.0), Relative: new(0.0), Text: new(0.0), Vector: new(-1.0)}},
	} {
		if err := accepted.Validate(); err != nil {
			t.Errorf("%+v: %v", accepted, err)
		}
	}
}
