package search

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/lib/vector"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// diversify chooses the answer from the best chunks by maximal marginal relevance (Carbonell
// and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998): next comes the
// chunk of the largest
//
//	(1 − diversity) · (s − last)/(best − last) − diversity · max over those before it of (cos − m)/(1 − m)
//
// where best and last are of the chunks to choose from, and m is the mean cosine between them:
// scores and cosines crowd, each model's elsewhere, so it is their place among others that
// says how good a chunk is, and how alike two are. s is raw_score where that is what ranks:
// scores near 1 are hardly apart. Chunks without a
// vector, or by another model, are like none. Scores stay, and what rules pin takes no part.
func (s *Searcher) diversify(ctx context.Context, r *run, set *answerSet) (err error) {
	pinned := set.inFront()
	entries := set.entries[pinned:]
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
	choice := newChoice(set.worths(r, entries[:n]), vectors, r.Plan.Diversity)
	order := choice.order()
	chosen := append(make([]scoring.Fused, 0, len(set.entries)), set.entries[:pinned]...)
	set.diversity = make(map[chunkOf]*answer.Diversity, n)
	for _, at := range order {
		e := &entries[at]
		chosen = append(chosen, *e)
		set.diversity[chunkOf{set.from(e), e.ID()}] = &answer.Diversity{Rank: pinned + at + 1, Similarity: choice.similar[at]}
	}
	set.entries = slices.Concat(chosen, entries[n:])
	return nil
}

// choice is what a diverse order is made of.
type choice struct {
	relevance []float64   // (1 − diversity) · (s − last)/(best − last)
	vectors   [][]float32 // of length 1; nil where there is none
	penalty   float64     // diversity/(1 − m)
	mean      float64     // m
	similar   []*float64  // the largest cosine to one that was chosen before
}

// worths are what entries are ranked by.
func (set *answerSet) worths(r *run, entries []scoring.Fused) []float64 {
	rescored := r.Plan.Rerank != nil || r.Plan.SecondStage != nil
	byScore := rescored || set.boosts != nil || set.mergedBy == string(scoring.ByScore)
	worths := make([]float64, len(entries))
	for i := range worths {
		if worths[i] = entries[i].Raw; byScore {
			worths[i] = entries[i].Score
		}
	}
	return worths
}

func newChoice(worths []float64, vectors [][]float32, diversity float64) *choice {
	n := len(worths)
	c := &choice{relevance: make([]float64, n), vectors: vectors, similar: make([]*float64, n)}
	last, best := slices.Min(worths), slices.Max(worths)
	for i, w := range worths {
		if best > last {
			c.relevance[i] = (1 - diversity) * (w - last) / (best - last)
		}
	}
	pairs, sum := 0, 0.0
	for i := range vectors {
		for j := range i {
			if cosine, known := c.cosine(i, j); known {
				pairs++
				sum += cosine
			}
		}
	}
	if pairs > 0 {
		c.mean = sum / float64(pairs)
	}
	c.penalty = diversity / max(1-c.mean, 1e-6)
	return c
}

func (c *choice) cosine(i, j int) (cosine float64, known bool) {
	a, b := c.vectors[i], c.vectors[j]
	if a == nil || len(a) != len(b) {
		return 0, false
	}
	return float64(vector.Dot(a, b)), true
}

// order gives the places of all, the next one best; of equals, the earlier one.
func (c *choice) order() []int {
	left := make([]int, len(c.relevance))
	for i := range left {
		left[i] = i
	}
	order := make([]int, 0, len(left))
	for len(left) > 0 {
		next, most := 0, c.value(left[0])
		for i, at := range left {
			if v := c.value(at); v > most {
				next, most = i, v
			}
		}
		last := left[next]
		left = slices.Delete(left, next, next+1)
		order = append(order, last)
		for _, at := range left {
			cosine, known := c.cosine(at, last)
			if known && (c.similar[at] == nil || cosine > *c.similar[at]) {
				c.similar[at] = &cosine
			}
		}
	}
	return order
}

func (c *choice) value(at int) float64 {
	if c.similar[at] == nil {
		return c.relevance[at]
	}
	return c.relevance[at] - c.penalty*max(0, *c.similar[at]-c.mean)
}

// vectorsOf reads the vectors of some entries, those of their knowledge bases' first vector field.
// Those of a knowledge base of another model than the first one's are left out, as their
// cosines to it mean nothing.
func (set *answerSet) vectorsOf(ctx context.Context, entries []scoring.Fused) ([][]float32, error) {
	vectors := make([][]float32, len(entries))
	model := set.from(&entries[0]).KB.EmbeddingModel
	chunks, err := set.fetch(ctx, entries, func(rt *retrieve.Retrieval, ctx context.Context, ids []string) ([]engine.Chunk, error) {
		scanner, can := rt.Engine.(engine.Scanner)
		if !can || rt.VectorField() == "" || rt.KB.EmbeddingModel != model {
			return nil, nil
		}
		found, err := engines.Ask(ctx, rt.Subject, engines.CallScan, scanner.Scan, engine.ScanRequest{KB: rt.KB, IDs: ids, Limit: len(ids)})
		if err != nil {
			return nil, err
		}
		return inOrder(found, ids), nil
	})
	if err != nil {
		return nil, err
	}
	some := false
	for i, chunk := range chunks {
		if chunk != nil {
			vectors[i] = vector.Unit(chunk.Vectors[set.from(&entries[i]).VectorField()])
			some = some || vectors[i] != nil
		}
	}
	if !some {
		set.degraded = append(set.degraded, answer.NewDegraded(answer.StepDiversity, "",
			fault.New(fault.Unavailable, "the chunks have no vectors to compare")))
	}
	return vectors, nil
}

// inOrder puts chunks in the order of ids; those that are not there are left out.
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
