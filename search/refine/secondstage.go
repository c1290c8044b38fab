package refine

import (
	"context"
	"math"
	"sort"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// scoreAgain is the second stage of a plan that has one. Pinned hits keep their places.
func (s *Refiner) scoreAgain(ctx context.Context, r *ask.Asked, set *Set) (err error) {
	plan := r.Plan.SecondStage
	if plan == nil || len(set.Entries) == 0 {
		return nil
	}
	ctx, span := tracing.Start(ctx, engines.SpanSecondStage)
	defer func() { span.End(err) }()
	if beyond := len(set.Entries) - plan.Window; beyond > 0 {
		set.Keep(set.Entries[:plan.Window])
		set.More = true
	}
	chunks, err := set.Fetch(ctx, set.Entries, (*retrieve.Retrieval).ReadChunks) // to be scored, not for the answer
	if err != nil {
		return err
	}
	wordings := make([][]map[string]float64, len(set.Retrievals))
	for i := range set.Retrievals {
		wordings[i] = set.Retrievals[i].WeightsOfWords()
	}
	set.Second = make(map[rank.Key]*answer.SecondScore, len(set.Entries))
	for i := range set.Entries {
		e := &set.Entries[i]
		score := s.bestScore(plan, set, e, chunks[i], wordings[e.Source])
		score.Fused, score.Rank = e.Score, i+1
		set.Second[set.Key(e)] = score
		if e.Score = rank.Weighted(plan, score); set.Boosts != nil {
			e.Score *= set.Boosts[e.Source]
		}
	}
	ranked := set.Entries[set.InFront():]
	sort.SliceStable(ranked, func(i, j int) bool { return ranked[i].Score > ranked[j].Score })
	return nil
}

// bestScore is the best score of an entry by any wording of the question.
func (s *Refiner) bestScore(
	plan *plan.SecondStage, set *Set, e *scoring.Fused, chunk *engine.Chunk, wordings []map[string]float64,
) *answer.SecondScore {
	best := &answer.SecondScore{}
	var tokens []analysis.Token
	if chunk != nil {
		tokens = s.Analyzer.Tokens(rank.WholeText(chunk))
	}
	held := rank.WordsHeld(wordings, tokens)
	for query := range wordings {
		score := &answer.SecondScore{Words: held[query], Cosine: set.cosineOf(e, query)}
		if query == 0 || rank.Weighted(plan, score) > rank.Weighted(plan, best) {
			best = score
		}
	}
	return best
}

// cosineOf is the cosine of an entry to a wording, nil if unknown: in the field named
// vector, else the best of any.
func (set *Set) cosineOf(e *scoring.Fused, query int) (best *float64) {
	rt, hit := set.From(e), set.Hit(e)
	for i := range hit.Observations {
		l, cosine := &rt.Legs[i], hit.Observations[i].Raw
		switch {
		case l.Kind != scoring.Vector || l.Query != query || math.IsNaN(cosine):
		case l.Field == engine.FieldVector:
			return &cosine
		default:
			best = answer.Larger(best, &cosine)
		}
	}
	return best
}
