package refine

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/lib/vector"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// Diversify chooses the answer from the best chunks by maximal marginal relevance (Carbonell
// and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998): next comes the
// chunk of the largest
//
//	(1 − diversity) · (s − last)/(best − last) − diversity · max over those before it of (cos − m)/(1 − m)
//
// where best and last are of the chunks to choose from, and m is the mean cosine between them:
// scores and cosines cluster in a narrow range, a different one for each model, so only their
// place in it tells how good a chunk is, and how similar two are. s is raw_score where chunks are
// ranked by it: scores near 1 hardly differ. Chunks without a vector, or by another model, count as
// similar to none. Scores stay unchanged, and pinned hits take no part.
func (s *Refiner) Diversify(ctx context.Context, r *ask.Asked, set *Set) (err error) {
	pinned := set.InFront()
	entries := set.Entries[pinned:]
	if r.Plan.Diversity == 0 || len(entries) < 2 {
		return nil
	}
	ctx, span := tracing.Start(ctx, engines.SpanDiversify)
	defer func() { span.End(err) }()
	n := min(len(entries), r.DiverseWindow())
	vectors, err := set.vectorsOf(ctx, entries[:n])
	if err != nil {
		return err
	}
	choice := rank.NewChoice(set.RankingScores(r.Plan, entries[:n]), vectors, r.Plan.Diversity)
	order := choice.Order()
	chosen := append(make([]scoring.Fused, 0, len(set.Entries)), set.Entries[:pinned]...)
	set.Diversity = make(map[rank.Key]*answer.Diversity, n)
	for _, at := range order {
		e := &entries[at]
		chosen = append(chosen, *e)
		set.Diversity[set.Key(e)] = &answer.Diversity{Rank: pinned + at + 1, Similarity: choice.Similar[at]}
	}
	set.Entries = slices.Concat(chosen, entries[n:])
	return nil
}

// vectorsOf reads the vectors of some entries, those of their knowledge bases' first vector field.
// Knowledge bases of another model than the first one's are skipped, as their
// cosines to it mean nothing.
func (set *Set) vectorsOf(ctx context.Context, entries []scoring.Fused) ([][]float32, error) {
	vectors := make([][]float32, len(entries))
	model := set.From(&entries[0]).KB.EmbeddingModel
	scan := func(rt *retrieve.Retrieval, ctx context.Context, ids []string) ([]engine.Chunk, error) {
		scanner := rt.Scanner()
		if scanner == nil || rt.VectorField() == "" || rt.KB.EmbeddingModel != model {
			return nil, nil
		}
		req := engine.ScanRequest{KB: rt.KB, IDs: ids, Limit: len(ids)}
		found, err := engines.Ask(ctx, rt.Subject, engines.CallScan, scanner.Scan, req)
		if err != nil {
			return nil, err
		}
		return inOrder(found, ids), nil
	}
	chunks, err := set.Fetch(ctx, entries, scan)
	if err != nil {
		return nil, err
	}
	some := false
	for i, chunk := range chunks {
		if chunk != nil {
			vectors[i] = vector.Unit(chunk.Vectors[set.From(&entries[i]).VectorField()])
			some = some || vectors[i] != nil
		}
	}
	if !some {
		set.Degraded = append(set.Degraded, answer.NewDegraded(answer.StepDiversity, "",
			fault.New(fault.Unavailable, "the chunks have no vectors to compare")))
	}
	return vectors, nil
}

// inOrder puts chunks in the order of ids; missing ones are skipped.
func inOrder(chunks []engine.Chunk, ids []string) []engine.Chunk {
	by := make(map[string]*engine.Chunk, len(chunks))
	for i := range chunks {
		by[chunks[i].ID] = &chunks[i]
	}
	ordered := make([]engine.Chunk, 0, len(chunks))
	for _, id := range ids {
		if c := by[id]; c != nil {
			ordered = append(ordered, *c)
		}
	}
	return ordered
}
