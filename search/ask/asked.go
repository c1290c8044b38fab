package ask

import (
	"slices"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Asked is a planned request with its question: the input of every later step.
type Asked struct {
	Request  *plan.Request
	Subjects []engines.Subject
	Plan     *plan.Plan         // of the whole answer: the first subject's, since all have the same preset
	Bound    []filter.Condition // the filter of the scope
	Question Question
	// Vocabulary gives the words of a phrasing whose frequencies are measured.
	Vocabulary func(query int) *analysis.Vocabulary
	Rules      []*MatchedRules // per subject; nil: no rule matches the question
}

// Pins reports whether rules pin anything.
func (r *Asked) Pins() bool {
	return slices.ContainsFunc(r.Rules, func(of *MatchedRules) bool { return of != nil && len(of.Pins) > 0 })
}

// Hides reports whether rules hide anything.
func (r *Asked) Hides() bool {
	return slices.ContainsFunc(r.Rules, func(of *MatchedRules) bool {
		return of != nil && len(of.Chunks)+len(of.Documents) > 0
	})
}

// MayShow reports whether a chunk of a subject may be shown beside the engines' hits: a pin shows
// no chunk that a search would hide.
func (r *Asked) MayShow(of int, chunk *engine.Chunk) bool {
	hidden := r.Rules != nil && r.Rules[of].HiddenBy(chunk.ID, chunk.DocumentID) != ""
	return r.Question.Passes(chunk) && !hidden
}

// Rearranges reports whether the answer is reordered after the fusion.
func (r *Asked) Rearranges() bool {
	return r.Plan.Rerank != nil || r.Plan.SecondStage != nil || r.Plan.Diversity > 0 || r.ReturnsParents()
}

// Reach is how many of the best chunks may come into the answer.
func (r *Asked) Reach() int {
	n := r.Plan.TopK
	if r.Plan.Rerank != nil {
		n = max(n, r.Plan.Rerank.Window)
	}
	if r.Plan.SecondStage != nil {
		n = max(n, r.Plan.SecondStage.Window)
	}
	if r.Plan.Diversity > 0 {
		n = max(n, r.DiverseWindow())
	}
	return n
}

const (
	// MaxFolded bounds how many of the best chunks are compared with each other.
	MaxFolded = 500
	// foldMargin is how many chunks behind the page are read with it: near-duplicates of its last
	// hits have nearly the same score and stand there.
	foldMargin = 5
)

// Reads is how many of the best chunks are read to show the first n.
func (r *Asked) Reads(n int) int {
	if fold, _ := r.Request.Folds(); fold {
		return n + foldMargin
	}
	return n
}

// From how many of the best chunks a diverse answer is chosen: at least leastDiverse, three
// times those that are shown, at most mostDiverse.
const (
	leastDiverse = 50
	mostDiverse  = 200
)

// DiverseWindow is the number of chunks that the answer is chosen from.
func (r *Asked) DiverseWindow() int { return min(max(leastDiverse, 3*r.Plan.TopK), mostDiverse) }

// Page is the part of an answer of n chunks that is shown: at most limit of them,
// from offset on.
func (r *Asked) Page(n int) (from, to int) {
	to = n
	if r.Request.Offset != nil {
		from = min(*r.Request.Offset, n)
	}
	if r.Request.Limit != nil {
		to = min(from+*r.Request.Limit, n)
	}
	return from, to
}

// ReturnsParents reports whether hits bring their sections along.
func (r *Asked) ReturnsParents() bool { return r.Plan.Return == plan.ReturnParent }

// BaseBoosts gives each subject's boost over the largest of the request; nil where all are equal.
func (r *Asked) BaseBoosts() []float64 {
	if len(r.Request.Boosts) == 0 {
		return nil
	}
	of := func(id string) float64 {
		if b, named := r.Request.Boosts[id]; named {
			return b
		}
		return 1
	}
	largest, smallest := 0.0, float64(plan.MaxBoost)
	for _, id := range r.Request.KnowledgeBases {
		largest, smallest = max(largest, of(id)), min(smallest, of(id))
	}
	if largest == smallest {
		return nil
	}
	boosts := make([]float64, len(r.Subjects))
	for i := range r.Subjects {
		boosts[i] = of(r.Subjects[i].KB.ID) / largest
	}
	return boosts
}

// Without is the same question for the counts of a field, without the filter on it; the
// scope's filter stays, and so do conditions within any_of and not.
func (r *Asked) Without(field string) Asked {
	other := *r
	other.Question.Facets = []string{field}
	conditions := r.Question.Filter.Conditions[len(r.Bound):]
	other.Question.Filter.Conditions = slices.Concat(r.Bound, slices.DeleteFunc(slices.Clone(conditions),
		func(c filter.Condition) bool { return plan.OnOneField(&c) && c.Field == field }))
	return other
}

// CutsReranked reports whether the threshold on the score waits for the second stage or the reranker.
func (r *Asked) CutsReranked() bool { return r.Plan.Rerank != nil || r.Plan.SecondStage != nil }

// FusedThreshold is the threshold on the fused ranking, before a second stage or a reranker.
func (r *Asked) FusedThreshold() plan.Threshold {
	threshold := r.Plan.Threshold
	if r.CutsReranked() {
		threshold.Score = nil
	}
	return threshold
}
