package search

import (
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// run is one search under way.
type run struct {
	ask.Asked
	unavailable []answer.Degraded // knowledge bases that cannot be asked at present
	vectorless  []answer.Degraded // those that lack vectors
	rewriting   []answer.Degraded // the language model, where it failed
	timings     answer.Timings
	measured    []retrieve.Measured // per subject
	demand      retrieve.Demand
	threshold   plan.Threshold // what is applied to the fused ranking
	foldReach   int            // how many of the best chunks must be of different texts
	bytes       *answer.Allowance
}

// forPage has the steps do what a page of the answer needs.
func (r *run) forPage(bytes *answer.Allowance) {
	r.bytes = bytes
	r.demand = retrieve.Demand{Prefetch: r.prefetch(), DeferScores: true}
	r.threshold, r.foldReach = r.FusedThreshold(), r.Reach()
	if !r.Rearranges() {
		_, r.foldReach = r.Page(r.foldReach)
	}
}

// forExplanation has the steps do what an explanation of any chunk needs.
func (r *run) forExplanation(bytes *answer.Allowance) {
	r.bytes = bytes
	r.threshold, r.foldReach = r.FusedThreshold(), r.Reach()
}

// forCounts gives the run that counts a field as if the filter said nothing of it. What it counts nobody sees, so it
// is neither reranked nor cut by what a reranker says.
func (r *run) forCounts(field string) *run {
	return &run{
		Asked: r.Without(field), timings: answer.Timings{Legs: map[string]float64{}}, measured: r.measured,
		unavailable: r.unavailable, vectorless: r.vectorless, rewriting: r.rewriting,
		demand: retrieve.Demand{DeferScores: true}, threshold: r.Plan.Threshold, bytes: &answer.Allowance{},
	}
}

// prefetch is how many of the best hits an engine may bring the chunks of; 0 where
// the page does not follow from the ranking of one engine alone.
func (r *run) prefetch() int {
	rearranged := r.Rearranges() || r.Pins() || r.Plan.GroupBy != "" || len(r.Plan.Distinct) > 0
	if rearranged || len(r.Subjects) > 1 {
		return 0
	}
	_, to := r.Page(r.Plan.TopK)
	return r.Reads(to)
}
