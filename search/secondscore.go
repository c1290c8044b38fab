package search

import (
	"context"
	"math"
	"sort"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// weighted weighs words and cosine, in [0, 1].
func weighted(p *plan.SecondStage, s *answer.SecondScore) float64 {
	if s.Cosine == nil || p.Text+p.Vector == 0 {
		return s.Words
	}
	return max(0, min(1, (p.Text*s.Words+p.Vector**s.Cosine)/(p.Text+p.Vector)))
}

// scoreAgain is the second stage of a plan that has one. What rules pin keeps its place.
func (s *Searcher) scoreAgain(ctx context.Context, r *run, set *answerSet) (err error) {
	plan := r.Plan.SecondStage
	if plan == nil || len(set.entries) == 0 {
		return nil
	}
	ctx, span := tracing.Start(ctx, engines.SpanSecondStage)
	defer func() { span.End(err) }()
	if beyond := len(set.entries) - plan.Window; beyond > 0 {
		set.leave(set.entries[:plan.Window])
		set.more = true
	}
	chunks, err := set.fetch(ctx, set.entries, (*retrieve.Retrieval).ReadChunks) // to be scored, not for the answer
	if err != nil {
		return err
	}
	wordings := make([][]map[string]float64, len(set.retrievals))
	for i := range set.retrievals {
		wordings[i] = set.retrievals[i].WeightsOfWords()
	}
	set.second = make(map[chunkOf]*answer.SecondScore, len(set.entries))
	for i := range set.entries {
		e := &set.entries[i]
		said := s.bestScore(plan, set, e, chunks[i], wordings[e.Source])
		said.Fused, said.Rank = e.Score, i+1
		set.second[set.chunkOf(e)] = said
		if e.Score = weighted(plan, said); set.boosts != nil {
			e.Score *= set.boosts[e.Source]
		}
	}
	ranked := set.entries[set.inFront():]
	sort.SliceStable(ranked, func(i, j int) bool { return ranked[i].Score > ranked[j].Score })
	return nil
}

// bestScore is the best of an entry by any wording of the question.
func (s *Searcher) bestScore(
	plan *plan.SecondStage, set *answerSet, e *scoring.Fused, chunk *engine.Chunk, wordings []map[string]float64,
) *answer.SecondScore {
	best := &answer.SecondScore{}
	held := s.wordsHeld(wordings, chunk)
	for query := range wordings {
		said := &answer.SecondScore{Words: held[query], Cosine: set.cosineOf(e, query)}
		if query == 0 || weighted(plan, said) > weighted(plan, best) {
			best = said
		}
	}
	return best
}

// cosineOf is the cosine of an entry to a wording, nil where it is unknown: in the field named
// vector, else the best of any.
func (set *answerSet) cosineOf(e *scoring.Fused, query int) (best *float64) {
	rt, hit := set.from(e), set.hit(e)
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

// wordsHeld is, for each wording, the share of the weights whose words, or pairs of neighbours,
// the chunk holds; nil: it is gone.
func (s *Searcher) wordsHeld(wordings []map[string]float64, chunk *engine.Chunk) []float64 {
	shares := make([]float64, len(wordings))
	if chunk == nil {
		return shares
	}
	found, before := map[string]bool{}, ""
	for _, t := range s.Analyzer.Tokens(wholeText(chunk)) {
		if !t.Part {
			found[t.Text], found[before+t.Text] = true, true
			before = t.Text
		}
	}
	for query, weights := range wordings {
		held, all := 0.0, 0.0
		for word, weight := range weights {
			all += weight
			if found[word] {
				held += weight
			}
		}
		if all > 0 {
			shares[query] = min(held/all, 1)
		}
	}
	return shares
}

// wholeText is all that a chunk is found by.
func wholeText(chunk *engine.Chunk) string {
	parts := append([]string{rerankedText(chunk)}, chunk.ImportantKeywords...)
	return strings.Join(append(parts, chunk.Questions...), "\n")
}
