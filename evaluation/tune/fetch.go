package tune

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// Question is one that is judged.
type Question struct {
	Set, ID string
	Judged  metric.Judgments
	Scale   int // the highest grade of the set; 0: of the judgments
	// Drops is the id of a hit that does not count, as evaluation.Set says; empty: all do.
	Drops string
}

// question is one that is asked, and its place among those of its set.
type question struct {
	Question
	judged *metric.Judged
}

// rows holds the candidates of each question by one way of retrieving, fit for fusions of one method and normaliser.
type rows struct {
	fetch  int
	fusion scoring.Fusion
	of     []row // by question
}

// row holds the candidates of one question: with two legs and 200 hits each about 3 to 9 kB.
type row struct {
	columns *scoring.Columns
	shares  []float64 // what the planned weight of each leg is multiplied by
	grades  []int32   // of the candidates of columns
	// reranked holds a reranker's scores, NaN for hits that it did not read; nil: the plan has none.
	reranked []float64
	known    map[string]float64 // features of the question; nil: nobody asks
	drops    int                // candidates that do not count: 0 or 1
	apart    bool
	proof    bool // rankings can be checked against the search
}

const rowBytes = 96 // of a row and of columns by themselves

func (r *row) bytes() int {
	return rowBytes + r.columns.Bytes() + 8*len(r.shares) + 4*len(r.grades) + 8*len(r.reranked)
}

// sortOut says which arms are of one way of retrieving, and of one fusion of what that finds.
func (s *Space) sortOut(arms []arm) (fetches []search.Request, all []*rows, err error) {
	found, laid := map[string]int{}, map[string]int{}
	for i := range arms {
		a := &arms[i]
		places := make([]float64, len(a.ranges))
		for j := range places {
			places[j] = 0.5
		}
		_, plan, err := s.plan(a, places)
		if err != nil {
			return nil, nil, err
		}
		fetch, key, err := s.fetchOf(a)
		if err != nil {
			return nil, nil, err
		}
		at, known := found[key]
		if !known {
			at, found[key] = len(fetches), len(fetches)
			fetches = append(fetches, *fetch)
		}
		a.fetch = at
		a.fusion = scoring.Fusion{Method: plan.Fusion.Method, Normalizer: plan.Fusion.Normalizer}
		key = fmt.Sprint(at, a.fusion)
		at, known = laid[key]
		if !known {
			at, laid[key] = len(all), len(all)
			all = append(all, &rows{fetch: a.fetch, fusion: a.fusion})
		}
		a.columns = at
	}
	if len(fetches) > MaxRetrievals {
		return nil, nil, fault.Invalid("retrieval", len(fetches), "at most 32 ways of retrieving together")
	}
	return fetches, all, nil
}

// fetchOf is the request by which an arm's questions are asked, and what tells it from others: not how what is
// found is fused. Whoever knows what z-scores need can fuse by all normalisers but theoretical, which takes
// cosines for evidence.
func (s *Space) fetchOf(a *arm) (*search.Request, string, error) {
	req := a.request
	plan, err := s.planOf(&req)
	if err != nil {
		return nil, "", err
	}
	if plan.Fusion.Method == scoring.Linear && plan.Fusion.Normalizer != scoring.Theoretical {
		more := req
		more.Normalizer = new(scoring.ZScore)
		if other, err := s.planOf(&more); err == nil && other.Fusion.Normalizer == scoring.ZScore {
			req, plan = more, other
		}
	}
	key := *plan
	key.Preset, key.Legs, key.Threshold.Score, key.Threshold.Relative = "", slices.Clone(plan.Legs), nil, nil
	key.Fusion = scoring.Fusion{Method: plan.Fusion.Method, Normalizer: plan.Fusion.Normalizer}
	for i := range key.Legs {
		key.Legs[i].Weight = 0
		if signal := key.Legs[i].Signal; signal != nil {
			weightless := *signal
			weightless.Weight = 0
			key.Legs[i].Signal = &weightless
		}
	}
	if r := key.Rerank; r != nil {
		key.Rerank = &search.Reranking{Name: r.Name, Window: r.Window, BudgetMS: r.BudgetMS}
	}
	text, err := json.Marshal(key)
	return &req, string(text), err
}

// dropped is the grade of a candidate that does not count.
const dropped = metric.Unjudged + 1

// rowOf lays out what was found for a question.
func rowOf(fusion scoring.Fusion, said *search.Observed, q *Question) row {
	r := row{
		columns: fusion.Columns(said.Legs, said.Candidates, said.Others), shares: said.Shares,
		apart: said.Apart, proof: !said.Apart || said.Others != nil,
	}
	candidates := r.columns.Candidates()
	r.grades = make([]int32, len(candidates))
	for i, candidate := range candidates {
		id := said.Candidates[candidate].ID
		grade, is := q.Judged[id]
		if !is {
			grade = metric.Unjudged
		}
		if id == q.Drops {
			grade, r.drops = dropped, 1
		}
		if said.Reranked != nil {
			r.reranked = append(r.reranked, said.Reranked[candidate])
		}
		r.grades[i] = int32(max(math.MinInt32, min(grade, math.MaxInt32))) //nolint:gosec // it is within
	}
	return r
}
