package search

import (
	"context"
	"sort"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// maxReranked bounds how many of the best chunks a reranker reads.
const maxReranked = 100

// rerank orders the best chunks by the reranker's score, which replaces the fused one;
// the others keep their places behind them. When the reranker fails, the fused order
// stands and the answer is degraded.
func (s *Searcher) rerank(ctx context.Context, r *run, set *answerSet) (err error) {
	if r.plan.Rerank == "" || len(set.entries) == 0 {
		return nil
	}
	ctx, span := tracing.Start(ctx, spanRerank)
	defer func() { span.End(err) }()
	best := set.entries[:min(len(set.entries), max(r.plan.TopK, 1), maxReranked)]
	chunks, err := set.fetch(ctx, best, (*retrieval).readChunks) // for the reranker, not for the answer
	if err != nil {
		return err
	}
	texts := make([]string, len(best))
	for i, chunk := range chunks {
		if chunk != nil {
			texts[i] = chunk.FieldText(engine.FieldText)
		}
	}
	scores, err := s.reranked(ctx, r, texts)
	if err == nil && len(scores) != len(texts) {
		err = fault.New(fault.Unavailable, "the reranker gave %d scores for %d texts", len(scores), len(texts))
	}
	if err != nil {
		set.degraded = append(set.degraded, newDegraded(stepRerank, "", err))
		return nil
	}
	for i := range best {
		best[i].Score = scores[i]
		if set.boosts != nil {
			best[i].Score *= set.boosts[best[i].Source]
		}
	}
	sort.SliceStable(best, func(i, j int) bool { return best[i].Score > best[j].Score })
	return nil
}

func (s *Searcher) reranked(ctx context.Context, r *run, texts []string) ([]float64, error) {
	defer engine.Pause(ctx)()
	ctx, cancel := leavingTime(ctx)
	defer cancel()
	return s.Rerankers[r.plan.Rerank].Rerank(ctx, r.req.Query, texts)
}
