package search_test

import (
	"math"
	"strings"
)

// testSecondStage looks at preset ragflow: words and cosine of the best, weighed by the request.
func testSecondStage(b *bench) {
	b.fill("k",
		chunk("both", "d1", "You may ask for a refund within thirty days.", 0.9, 0.1),
		chunk("apart", "d1", "A request is handled by the desk; the refund follows.", 0.3, 0.1),
		chunk("pair", "d2", "Every refund request is numbered.", 0.2, 0.2),
		chunk("zh", "d3", "如何申请退款：登录后在订单页面点击申请退款。", 0.8, 0.1),
		chunk("coffee", "d4", "Water and beans for the machine.", 1, 0),
	)
	ask := func(query, more string) string {
		b.Helper()
		r := b.answer(`{"query": "` + query + `", "vector": [1, 0, 0, 0], "knowledge_bases": ["k"], "preset": "ragflow"` + more + `}`)
		for i := range r.Hits {
			h := &r.Hits[i]
			said := h.SecondStage
			if said == nil || h.TermSimilarity == nil || *h.TermSimilarity != said.Words {
				b.Fatalf("%s: %+v", h.ID, said)
			}
			if said.Cosine != nil && math.Abs(*said.Cosine-*h.VectorSimilarity) > 1e-9 {
				b.Errorf("%s: cosine %v, similarity %v; want no said.Cosine or math.Abs(*said.Cosine - *h.VectorSimilarity) at most 1e-9", h.ID, *said.Cosine, *h.VectorSimilarity)
			}
			if want := 0.7*said.Words + 0.3**said.Cosine; more == "" && math.Abs(h.Score-want) > 1e-9 {
				b.Errorf("%s: score %v, want %v", h.ID, h.Score, want)
			}
		}
		return ids(r)
	}
	f := func(query, more, want string) {
		b.Helper()
		if got := ask(query, more); got != want {
			b.Errorf("%s %s: %s, want %s", query, more, got, want)
		}
	}
	// Neighbours of the question that are neighbours in the chunk count more than the same words apart.
	f("refund request", "", "pair apart both")
	f("refund request", `, "weights": {"text": 0, "vector": 1}`, "both apart pair")
	f("refund request", `, "weights": {"text": 1, "vector": 0}`, "pair apart both")
	f("申请退款", "", "zh")
	// Nothing is found that has no word of the question, unless it is asked for.
	f("burrow of a wombat", "", "")
	f("espresso", `, "text_required": false, "weights": {"text": 0.1, "vector": 0.9}`, "coffee both zh apart pair")
	f("espresso", `, "text_required": false, "threshold": {"score": 0.5}`, "")
	if got := ask("refund request", `, "threshold": {"score": 0.6}`); !strings.HasPrefix(got, "pair") || strings.Contains(got, "both") {
		b.Errorf(`cut by the score of the second stage: %s; want one that begins with "pair" and no "both" in it`, got)
	}
	r := b.answer(`{"query": "refund request", "vector": [1, 0, 0, 0], "knowledge_bases": ["k"], "preset": "ragflow", "limit": 1, "offset": 1, "explain": true}`)
	if ids(r) != "apart" || r.Total.Value != 3 || r.Explain.Plan.SecondStage.Window != 64 {
		b.Errorf("the second page of one: %s of %d, %+v", ids(r), r.Total.Value, r.Explain.Plan.SecondStage)
	}
}
