package plan_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/plan"
)

func everything() plan.Overrides {
	return plan.Overrides{
		Candidates: new(7), Weights: map[string]float64{"text": 1, "vector": 2}, RRFK: new(3.0),
		Normalizer: new(scoring.L2), Pivot: new(4.0), MinimumShouldMatch: new("30%"), TextRequired: new(true),
		TextQuery: plan.TextQuery{PhraseBoost: new(0.5), PhraseSlop: new(3), PartWeight: new(0.6)},
		UseRerank: new(false), Rerank: &plan.Rerank{Name: "best"}, GroupBy: new(plan.GroupByDocument),
		Return: plan.ReturnChunk, DidYouMean: new(true), Rewrite: &plan.Rewrite{Phrasings: 1},
		Threshold: plan.Threshold{Score: new(0.1), Relative: new(0.2), Text: new(0.3), Vector: new(0.4)},
	}
}

// TestOverridesOver sets one member after the other on top of overrides that set all,
// and of some that set none.
func TestOverridesOver(t *testing.T) {
	base, none := everything(), plan.Overrides{}
	if got := none.Over(base); !reflect.DeepEqual(got, base) {
		t.Errorf("nothing over all is %+v", got)
	}
	if got := base.Over(none); !reflect.DeepEqual(got, base) {
		t.Errorf("all over nothing is %+v", got)
	}
	for i := range reflect.TypeFor[plan.Overrides]().NumField() {
		field := reflect.TypeFor[plan.Overrides]().Field(i)
		var one plan.Overrides
		value := reflect.ValueOf(&one).Elem().Field(i)
		switch value.Kind() { //nolint:exhaustive // the kinds of the members
		case reflect.Pointer:
			value.Set(reflect.New(field.Type.Elem()))
		case reflect.Map:
			value.Set(reflect.ValueOf(map[string]float64{"text": 5, "vector": 6}))
		case reflect.String:
			value.SetString(plan.ReturnParent)
		case reflect.Slice:
			value.Set(reflect.ValueOf([]plan.Signal{{Weight: 3}}))
		case reflect.Struct:
			if field.Type == reflect.TypeFor[plan.TextQuery]() {
				value.Set(reflect.ValueOf(plan.TextQuery{PhraseBoost: new(0.7), PhraseSlop: new(1), PartWeight: new(0.8)}))
				break
			}
			value.Set(reflect.ValueOf(plan.Threshold{Score: new(0.5), Relative: new(0.6), Text: new(0.7), Vector: new(0.8)}))
		}
		got := one.Over(base)
		for j := range reflect.TypeFor[plan.Overrides]().NumField() {
			want := reflect.ValueOf(base).Field(j).Interface()
			if i == j {
				want = value.Interface()
			}
			if member := reflect.ValueOf(got).Field(j).Interface(); !reflect.DeepEqual(member, want) {
				t.Errorf("%s over all: %+v, want %+v", field.Name, member, want)
			}
		}
	}
	got := plan.Overrides{Weights: map[string]float64{"vector": 9}}.Over(base)
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
	f := func(field string, change func(o *plan.Overrides)) {
		t.Helper()
		bad := everything()
		change(&bad)
		var got *fault.Error
		if err := bad.Validate(); !errors.As(err, &got) || got.Field != field || got.Kind != fault.InvalidArgument {
			t.Errorf("%v, want %s refused", err, field)
		}
	}
	f("candidates", func(o *plan.Overrides) { o.Candidates = new(0) })
	f("candidates", func(o *plan.Overrides) { o.Candidates = new(plan.MaxCandidates + 1) })
	f("weights.text", func(o *plan.Overrides) { o.Weights["text"] = -1 })
	f("weights.text", func(o *plan.Overrides) { o.Weights["text"] = math.NaN() })
	f("weights.text", func(o *plan.Overrides) { o.Weights["text"] = math.Inf(1) })
	f("weights", func(o *plan.Overrides) { o.Weights = map[string]float64{"text": 0, "vector": 0} })
	f("rrf_k", func(o *plan.Overrides) { o.RRFK = new(0.9) })
	f("rrf_k", func(o *plan.Overrides) { o.RRFK = new(math.NaN()) })
	f("normalizer", func(o *plan.Overrides) { o.Normalizer = new(scoring.Normalizer("softmax")) })
	f("pivot", func(o *plan.Overrides) { o.Pivot = new(0.0) })
	f("minimum_should_match", func(o *plan.Overrides) { o.MinimumShouldMatch = new("many") })
	f("text_query.phrase_boost", func(o *plan.Overrides) { o.TextQuery.PhraseBoost = new(100.1) })
	f("text_query.phrase_slop", func(o *plan.Overrides) { o.TextQuery.PhraseSlop = new(-1) })
	f("text_query.part_weight", func(o *plan.Overrides) { o.TextQuery.PartWeight = new(0.0) })
	f("threshold.score", func(o *plan.Overrides) { o.Threshold.Score = new(1.1) })
	f("threshold.relative", func(o *plan.Overrides) { o.Threshold.Relative = new(-0.1) })
	f("threshold.text", func(o *plan.Overrides) { o.Threshold.Text = new(-0.1) })
	f("threshold.vector", func(o *plan.Overrides) { o.Threshold.Vector = new(-1.1) })
	f("rerank.window", func(o *plan.Overrides) { o.Rerank = &plan.Rerank{Name: "r", Window: new(0)} })
	f("rerank.window", func(o *plan.Overrides) { o.Rerank = &plan.Rerank{Name: "r", Window: new(1001)} })
	f("rerank.weight", func(o *plan.Overrides) { o.Rerank = &plan.Rerank{Name: "r", Weight: new(math.NaN())} })
	f("rerank.budget_ms", func(o *plan.Overrides) { o.Rerank = &plan.Rerank{Name: "r", BudgetMS: new(0)} })
	f("diversity", func(o *plan.Overrides) { o.Diversity = new(1.1) })
	f("diversity", func(o *plan.Overrides) { o.Diversity = new(math.NaN()) })
	f("group_by", func(o *plan.Overrides) { o.GroupBy = new("author") })
	for _, accepted := range []plan.Overrides{
		{},
		{Weights: map[string]float64{"text": 0}}, // the preset's weight of vector is there
		{GroupBy: new("")},
		{Candidates: new(plan.MaxCandidates), RRFK: new(1.0), Pivot: new(1e6)},
		{Threshold: plan.Threshold{Score: new(1.0), Relative: new(0.0), Text: new(0.0), Vector: new(-1.0)}},
	} {
		if err := accepted.Validate(); err != nil {
			t.Errorf("%+v: %v", accepted, err)
		}
	}
}
