package search_test

import (
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// testWeightsPerQuery: what a preset's model makes of a question changes the weight of its words, says so, and is the
// same on every page, for every top_k, and over several knowledge bases as over one that has all of their chunks.
func testWeightsPerQuery(b *bench) {
	all := shelf()
	b.fill("whole", all...)
	b.fill("one", all[:3]...)
	b.fill("two", all[3:]...)
	model := &search.WeightModel{Intercept: 0.1, Coefficients: map[string]float64{
		"digits": 0.7, "terms": 0.2, "known": -0.3, "agreement": 0.4, "text_gap": 0.5, "vector_gap": -0.6,
		"text_in_vector": 0.15, "vector_in_text": -0.25,
	}}
	planners, err := presets.With(map[string]presets.Custom{"own": {Base: "balanced", WeightsBy: model}})
	if err != nil {
		b.Fatal(err)
	}
	b.searcher.Planners = planners
	body := func(query, more string) string {
		return `{"query": "` + query + `", "vector": [1, 0, 0, 0], "explain": true, ` + more + `}`
	}
	byQuestion := func(r *search.Response) *search.ByQuestion {
		b.Helper()
		at := slices.IndexFunc(r.Explain.Weights, func(w search.WeightAccount) bool { return w.Leg == "text" })
		return r.Explain.Weights[at].ByQuestion
	}
	one := `"knowledge_bases": ["whole"], "preset": "own"`
	whole := b.answer(body("refund page", one))
	by := byQuestion(whole)
	sum := by.Intercept
	for _, f := range by.Features {
		sum += f.Addition
	}
	if len(by.Features) != len(search.Features()) || math.Abs(by.Factor-math.Exp(sum)) > 1e-12 || by.Factor == 1 {
		b.Errorf("the account is %+v", by)
	}
	if w := whole.Hits[0].Legs[0].Weight; w == b.answer(body("refund page", `"knowledge_bases": ["whole"]`)).Hits[0].Legs[0].Weight {
		b.Errorf("the weight of words is still %v", w)
	}
	for _, more := range []string{`"top_k": 1`, `"offset": 1, "limit": 2`, `"candidates": 2`} {
		if got := byQuestion(b.answer(body("refund page", one+", "+more))); got.Factor != by.Factor {
			b.Errorf("%s: factor %v, want %v", more, got.Factor, by.Factor)
		}
	}
	if got := byQuestion(b.answer(body("refund page 7", one))); got.Factor == by.Factor {
		b.Error("a digit changes nothing")
	}
	r := b.answer(body("refund page", `"knowledge_bases": ["one", "two"], "preset": "own"`))
	if got := byQuestion(r); math.Abs(got.Factor-by.Factor) > 0.01 || ids(r) != ids(whole) {
		b.Errorf("of several: factor %v, hits %s; of one %v, %s", got.Factor, ids(r), by.Factor, ids(whole))
	}
}
