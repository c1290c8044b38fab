package refine

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// Rerank scores the best in a second stage, if the plan has one; then it orders the best chunks
// by the reranker's score and the fused one; pinned hits are scored and keep their places. The
// others keep their places behind them, with no more than the score of the last. The threshold on
// the score applies to the result, the relative one to the fused scores. If the reranker
// fails, the fused order stands and the answer is degraded.
func (s *Refiner) Rerank(ctx context.Context, r *ask.Asked, set *Set) (err error) {
	if err = s.scoreAgain(ctx, r, set); err != nil {
		return err
	}
	if r.Plan.Rerank != nil && len(set.Entries) > 0 {
		ctx, span := tracing.Start(ctx, engines.SpanRerank)
		err = s.readByReranker(ctx, r, set)
		span.End(err)
	}
	if err == nil && r.CutsReranked() {
		set.CutAgain(&plan.Threshold{Score: r.Plan.Threshold.Score})
	}
	return err
}

func (s *Refiner) readByReranker(ctx context.Context, r *ask.Asked, set *Set) error {
	plan := r.Plan.Rerank
	best := set.Entries[:min(len(set.Entries), plan.Window)]
	texts, err := set.TextsToRerank(ctx, best)
	if err != nil {
		return err
	}
	scores, err := s.Scores(ctx, r, texts)
	if err != nil {
		set.Degraded = append(set.Degraded, answer.NewDegraded(answer.StepRerank, "", err))
		return nil
	}
	set.Reranked = make(map[rank.Key]*answer.Reranked, len(best))
	for i := range best {
		e := &best[i]
		account := &answer.Reranked{Score: scores[i], Fused: e.Score, Rank: i + 1, Weight: plan.Weight}
		set.Reranked[set.Key(e)] = account
		boost := 1.0
		if set.Boosts != nil {
			boost = set.Boosts[e.Source]
		}
		e.Score = plan.Weight*boost*scores[i] + (1-plan.Weight)*e.Score // boosted already
	}
	best = best[min(set.InFront(), len(best)):]
	sort.SliceStable(best, func(i, j int) bool { return best[i].Score > best[j].Score })
	if len(best) > 0 {
		for i := set.InFront() + len(best); i < len(set.Entries); i++ {
			set.Entries[i].Score = min(set.Entries[i].Score, best[len(best)-1].Score)
		}
	}
	return nil
}

// TextsToRerank reads the texts of entries for the reranker alone; empty where a chunk is gone.
func (set *Set) TextsToRerank(ctx context.Context, entries []scoring.Fused) ([]string, error) {
	chunks, err := set.Fetch(ctx, entries, (*retrieve.Retrieval).ReadChunks)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(entries))
	for i, chunk := range chunks {
		if chunk != nil {
			texts[i] = rank.TextOf(chunk)
		}
	}
	return texts, nil
}

// Scores asks for the scores of texts, one each, for the question as parsed.
func (s *Refiner) Scores(ctx context.Context, r *ask.Asked, texts []string) ([]float64, error) {
	ctx, cancel := engines.HalfTheTime(ctx)
	defer cancel()
	question := r.Question.Parsed.Text
	if question == "" {
		question = r.Request.Query
	}
	plan := r.Plan.Rerank
	if plan.BudgetMS == 0 {
		return Rerank(ctx, s.Rerankers[plan.Name], question, texts)
	}
	within, cancel := context.WithTimeout(ctx, time.Duration(plan.BudgetMS)*time.Millisecond)
	defer cancel()
	scores, err := Rerank(within, s.Rerankers[plan.Name], question, texts)
	if err != nil && ctx.Err() == nil && errors.Is(within.Err(), context.DeadlineExceeded) {
		err = fault.New(fault.Timeout, "reranker %s gave no answer within its budget of %d ms", plan.Name, plan.BudgetMS)
	}
	return scores, err
}

// Refiner takes the steps after the fusion.
type Refiner struct {
	Analyzer  ask.Analyzer
	Rerankers map[string]Reranker
	Retriever *retrieve.Retriever
}

// Reranker scores texts against a question, one score in [0, 1] per text.
type Reranker interface {
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// Rerank asks a reranker for the score of each text.
func Rerank(ctx context.Context, by Reranker, query string, texts []string) ([]float64, error) {
	scores, err := by.Rerank(ctx, query, texts)
	if err == nil && len(scores) != len(texts) {
		err = fault.New(fault.Unavailable, "the reranker gave %d scores for %d texts", len(scores), len(texts))
	}
	return scores, err
}
