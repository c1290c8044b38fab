package search

import (
	"context"
	"errors"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// rerank scores the best in a second stage, where the plan has one; then it orders the best chunks
// by the reranker's score and the fused one; what rules pin has its score and keeps its place. The
// others keep their places behind them, with no more than the score of the last. The threshold on
// the score holds for what comes out, the relative one for what was fused. When the reranker
// fails, the fused order stands and the answer is degraded.
func (s *Searcher) rerank(ctx context.Context, r *run, set *answerSet) (err error) {
	if err = s.scoreAgain(ctx, r, set); err != nil {
		return err
	}
	if r.Plan.Rerank != nil && len(set.entries) > 0 {
		ctx, span := tracing.Start(ctx, engines.SpanRerank)
		err = s.readByReranker(ctx, r, set)
		span.End(err)
	}
	if err == nil && r.cutsReranked() {
		set.recut(&plan.Threshold{Score: r.Plan.Threshold.Score})
	}
	return err
}

// cutsReranked reports whether the threshold on the score waits for the second stage or the reranker.
func (r *run) cutsReranked() bool { return r.Plan.Rerank != nil || r.Plan.SecondStage != nil }

// fusedThreshold is what is applied to the fused ranking, before a second stage or a reranker.
func (r *run) fusedThreshold() plan.Threshold {
	threshold := r.Plan.Threshold
	if r.cutsReranked() {
		threshold.Score = nil
	}
	return threshold
}

func (s *Searcher) readByReranker(ctx context.Context, r *run, set *answerSet) error {
	plan := r.Plan.Rerank
	best := set.entries[:min(len(set.entries), plan.Window)]
	texts, err := set.textsToRerank(ctx, best)
	if err != nil {
		return err
	}
	scores, err := s.reranked(ctx, r, texts)
	if err != nil {
		set.degraded = append(set.degraded, answer.NewDegraded(answer.StepRerank, "", err))
		return nil
	}
	set.reranked = make(map[chunkOf]*answer.Reranked, len(best))
	for i := range best {
		e := &best[i]
		said := &answer.Reranked{Score: scores[i], Fused: e.Score, Rank: i + 1, Weight: plan.Weight}
		set.reranked[set.chunkOf(e)] = said
		boost := 1.0
		if set.boosts != nil {
			boost = set.boosts[e.Source]
		}
		e.Score = plan.Weight*boost*scores[i] + (1-plan.Weight)*e.Score // boosted already
	}
	best = best[min(set.inFront(), len(best)):]
	sort.SliceStable(best, func(i, j int) bool { return best[i].Score > best[j].Score })
	if len(best) > 0 {
		for i := set.inFront() + len(best); i < len(set.entries); i++ {
			set.entries[i].Score = min(set.entries[i].Score, best[len(best)-1].Score)
		}
	}
	return nil
}

// textsToRerank are those of entries, read for the reranker and not for the answer; empty where a chunk is gone.
func (set *answerSet) textsToRerank(ctx context.Context, entries []scoring.Fused) ([]string, error) {
	chunks, err := set.fetch(ctx, entries, (*retrieve.Retrieval).ReadChunks)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(entries))
	for i, chunk := range chunks {
		if chunk != nil {
			texts[i] = rerankedText(chunk)
		}
	}
	return texts, nil
}

// rerankedText is what a reranker reads of a chunk: title and content, or a question and its answer.
func rerankedText(chunk *engine.Chunk) string {
	text := chunk.FieldText(engine.FieldText)
	if chunk.QA != nil {
		text = chunk.Question + "\n" + chunk.Answer
	}
	return strings.ToValidUTF8(text[:min(len(text), plan.MaxRerankedText)], "")
}

// reranked asks for the scores of texts, one each, by the question as it is understood.
func (s *Searcher) reranked(ctx context.Context, r *run, texts []string) (scores []float64, err error) {
	defer func() {
		if err == nil && len(scores) != len(texts) {
			err = fault.New(fault.Unavailable, "the reranker gave %d scores for %d texts", len(scores), len(texts))
		}
	}()
	ctx, cancel := engines.HalfTheTime(ctx)
	defer cancel()
	question := r.Question.Parsed.Text
	if question == "" {
		question = r.Request.Query
	}
	plan := r.Plan.Rerank
	if plan.BudgetMS == 0 {
		return s.Rerankers[plan.Name].Rerank(ctx, question, texts)
	}
	within, cancel := context.WithTimeout(ctx, time.Duration(plan.BudgetMS)*time.Millisecond)
	defer cancel()
	scores, err = s.Rerankers[plan.Name].Rerank(within, question, texts)
	if err != nil && ctx.Err() == nil && errors.Is(within.Err(), context.DeadlineExceeded) {
		err = fault.New(fault.Timeout, "reranker %s gave no answer within its budget of %d ms", plan.Name, plan.BudgetMS)
	}
	return scores, err
}

// recut drops what is under a threshold on the score, from what is counted too.
func (set *answerSet) recut(threshold *plan.Threshold) {
	set.uncut = set.entries
	pinned := set.entries[:set.inFront()]
	set.entries = set.entries[len(pinned):] // whose scores fall
	set.cut(threshold)
	left := slices.Concat(pinned, set.entries)
	set.entries = set.uncut
	set.leave(left)
}

// leave leaves some of the entries, of what is counted too.
func (set *answerSet) leave(some []scoring.Fused) {
	before := len(set.entries)
	all := len(set.counted) == before
	set.entries = some
	switch {
	case len(set.entries) == before:
	case all:
		set.counted = set.entries
	default: // copies go with the chunk that stands for them
		passing := make(map[chunkOf]bool, len(set.entries))
		for i := range set.entries {
			passing[set.chunkOf(&set.entries[i])] = true
		}
		var counted []scoring.Fused
		for i := range set.counted {
			e := &set.counted[i]
			better, copied := set.copies[set.chunkOf(e)]
			if passing[set.chunkOf(e)] || copied && passing[chunkOf{better.from, better.id}] {
				counted = append(counted, *e)
			}
		}
		set.counted = counted
	}
}
