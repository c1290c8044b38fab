package tune

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// evaluator measures plans on what was found.
type evaluator struct {
	metric    metric.Metric
	questions []question
	scratch   []scratch // one for each goroutine
}

// scratch is the working memory of one goroutine.
type scratch struct {
	scoring.Scratch
	weights []float64
	grades  []int
	scores  []float64 // of what was ranked, before a reranker
	blended []blended
}

func newEvaluator(m metric.Metric, questions []question) *evaluator {
	return &evaluator{metric: m, questions: questions, scratch: make([]scratch, runtime.GOMAXPROCS(0))}
}

// few is up to how many questions one goroutine measures alone.
const few = 64

// measure writes the metric of each of some questions into values, at their places: by a plan, of what was found by
// one way of retrieving.
func (e *evaluator) measure(r *rows, plan *search.Plan, some []int, values []float64) {
	parts := min(len(e.scratch), max(1, len(some)/few))
	if parts == 1 {
		e.measurePart(r, plan, some, values, &e.scratch[0])
		return
	}
	var all sync.WaitGroup
	for i := range parts {
		part := some[len(some)*i/parts : len(some)*(i+1)/parts]
		all.Go(func() { e.measurePart(r, plan, part, values, &e.scratch[i]) })
	}
	all.Wait()
}

func (e *evaluator) measurePart(r *rows, plan *search.Plan, some []int, values []float64, s *scratch) {
	for _, q := range some {
		row := &r.of[q]
		s.grades = s.grades[:0]
		for _, place := range e.rank(row, plan, s) {
			if grade := int(row.grades[place]); grade != dropped {
				s.grades = append(s.grades, grade)
			}
		}
		values[q] = e.metric.OfGrades(s.grades, e.questions[q].judged)
	}
}

// rank gives the first of a question's ranking, at most as many as the metric looks at.
func (e *evaluator) rank(row *row, plan *search.Plan, s *scratch) []int32 {
	s.weights = s.weights[:0]
	for leg, share := range row.shares {
		s.weights = append(s.weights, plan.Legs[leg].Weight*share)
	}
	thresholds := scoring.Thresholds{Score: plan.Threshold.Score, Relative: plan.Threshold.Relative}
	if plan.Rerank == nil || row.reranked == nil {
		return row.columns.Rank(plan.Fusion, s.weights, &thresholds, e.depth(row, plan), &s.Scratch)
	}
	thresholds.Score = nil // it holds for what comes out
	places := row.columns.Rank(plan.Fusion, s.weights, &thresholds, e.seen(row, plan), &s.Scratch)
	s.scores = row.columns.Scores(plan.Fusion, &s.Scratch, s.scores[:0])
	return places[:min(s.blend(places, row.reranked, plan), e.depth(row, plan))]
}

// seen is the number of hits that count: at least those that a reranker reads.
func (e *evaluator) seen(row *row, plan *search.Plan) int {
	if plan.Rerank == nil {
		return e.depth(row, plan)
	}
	return max(e.depth(row, plan), min(plan.Rerank.Window, plan.Candidates))
}

// blended is a chunk that a reranker read, or should have.
type blended struct {
	place int32
	score float64
}

// blend orders the best of a ranking by a reranker's score and the fused one, as search does, and gives how many of the
// ranking reach the threshold on the score: those behind the best have no more than the last of them.
func (s *scratch) blend(ranking []int32, said []float64, plan *search.Plan) (n int) {
	best := ranking[:min(len(ranking), plan.Rerank.Window, plan.Candidates)]
	s.blended = s.blended[:0]
	for i, place := range best {
		score := s.scores[i]
		if by := said[place]; !math.IsNaN(by) {
			score = plan.Rerank.Weight*by + (1-plan.Rerank.Weight)*score
		}
		s.blended = append(s.blended, blended{place, score})
	}
	slices.SortStableFunc(s.blended, func(a, b blended) int { return cmp.Compare(b.score, a.score) })
	for i := range s.blended {
		best[i], s.scores[i] = s.blended[i].place, s.blended[i].score
	}
	if plan.Threshold.Score == nil {
		return len(ranking)
	}
	for n < len(ranking) && s.scores[n] >= *plan.Threshold.Score {
		n++
	}
	return n
}

// whole reports whether what was just ranked is surely the ranking of the search: no other chunk can be among what is
// looked at, and a reranker has read what it would read.
func (e *evaluator) whole(row *row, plan *search.Plan, s *scratch) bool {
	if row.reranked != nil && plan.Rerank != nil {
		if slices.ContainsFunc(s.blended, func(b blended) bool { return math.IsNaN(row.reranked[b.place]) }) {
			return false
		}
	}
	return !row.apart || row.proof && row.columns.Complete(plan.Fusion, e.seen(row, plan), &s.Scratch)
}

// depth is the number of hits that the metric looks at and the plan has, with one that does not count.
func (e *evaluator) depth(row *row, plan *search.Plan) int {
	return min(min(e.metric.Depth(), plan.TopK)+row.drops, plan.Candidates)
}

// complete counts the questions whose ranking is certainly that of the search itself.
func (e *evaluator) complete(r *rows, plan *search.Plan) (n int) {
	s, plain := &e.scratch[0], *plan
	plain.Threshold = search.Threshold{}
	for q := range r.of {
		row := &r.of[q]
		e.rank(row, &plain, s)
		if e.whole(row, plan, s) {
			n++
		}
	}
	return n
}

// every are the places of all questions.
func (e *evaluator) every() []int {
	all := make([]int, len(e.questions))
	for i := range all {
		all[i] = i
	}
	return slices.Clip(all)
}
