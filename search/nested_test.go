package search_test

import (
	"encoding/json"
	"strings"

	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search"
)

func testNestedFilters(b *bench) {
	b.fill("k", shelf()...)
	for filter, want := range map[string]string{
		`{"any_of": [{"category": "account"}, {"page": {"lte": 0}}]}`: "login refund-zh",
		`{"not": {"category": ["billing", "animals"]}}`:               "login bare", // bare says nothing
	} {
		for _, preset := range []string{"balanced", "rrf", "text"} {
			r := b.answer(`{"query": "refund login password 退款 burrow", "vector": [0.1, 0.8, 0.1, 0], "knowledge_bases": ["k"],
				"preset": "` + preset + `", "filter": ` + filter + `, "copies": "keep"}`)
			if !sameIDs(ids(r), want) {
				b.Errorf("%s of %s: %s, want %s", preset, filter, ids(r), want)
			}
		}
	}
	e, err := b.searcher.Explain(b.Context(), scope, search.ExplainRequest{ChunkID: "invoice", Request: search.Request{
		Query: "refund", Vector: []float32{1, 0, 0, 0}, KnowledgeBases: []string{"k"},
		Filter: filter.Expression{"not": json.RawMessage(`{"category": "billing"}`)},
	}})
	if err != nil || e.Outcome != search.OutcomeFiltered || !strings.Contains(e.Detail, "not") {
		b.Errorf(`%v, %+v; want no error and e.Outcome OutcomeFiltered and "not" in it`, err, e)
	}
}

// sameIDs compares without order.
func sameIDs(got, want string) bool {
	g, w := strings.Fields(got), strings.Fields(want)
	left := map[string]int{}
	for _, id := range g {
		left[id]++
	}
	for _, id := range w {
		left[id]--
	}
	for _, n := range left {
		if n != 0 {
			return false
		}
	}
	return true
}
