package search

import (
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// run is one search in progress.
type run struct {
	ask.Asked
	unavailable []answer.Degraded // knowledge bases that are unavailable
	vectorless  []answer.Degraded // knowledge bases that lack vectors
	rewriting   []answer.Degraded // the language model, if it failed
	timings     answer.Timings
	measured    []retrieve.Measured // per subject
	demand      retrieve.Demand
	threshold   plan.Threshold // on the fused ranking
	foldReach   int            // how many of the best chunks must have different texts
	bytes       *answer.Allowance
}

// forPage sets the demands of a page of the answer.
func (r *run) forPage(bytes *answer.Allowance) {
	r.bytes = bytes
	r.demand = retrieve.Demand{Prefetch: r.prefetch(), DeferScores: true}
	r.threshold, r.foldReach = r.FusedThreshold(), r.Reach()
	if !r.Rearranges() {
		_, r.foldReach = r.Page(r.foldReach)
	}
}

// forExplanation sets the demands of an explanation of any chunk.
func (r *run) forExplanation(bytes *answer.Allowance) {
	r.bytes = bytes
	r.threshold, r.foldReach = r.FusedThreshold(), r.Reach()
}

// forCounts gives the run that counts a field without its own filter. Its hits are not shown, so they
// are neither reranked nor cut by the reranker's scores.
func (r *run) forCounts(field string) *run {
	return &run{
		Asked: r.Without(field), timings: answer.Timings{Legs: map[string]float64{}}, measured: r.measured,
		unavailable: r.unavailable, vectorless: r.vectorless, rewriting: r.rewriting,
		demand: retrieve.Demand{DeferScores: true}, threshold: r.Plan.Threshold, bytes: &answer.Allowance{},
	}
}

// prefetch is the number of best hits whose chunks an engine may return; 0 where
// the page does not follow from the ranking of one engine alone.
func (r *run) prefetch() int {
	rearranged := r.Rearranges() || r.Pins() || r.Plan.GroupBy != "" || len(r.Plan.Distinct) > 0
	if rearranged || len(r.Subjects) > 1 {
		return 0
	}
	_, to := r.Page(r.Plan.TopK)
	return r.Reads(to)
}
