package refine

import (
	"context"
	"slices"
	"sync"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// Set is the best candidates of all knowledge bases that pass the thresholds, with the chunks read for them.
type Set struct {
	rank.Ranked
	Retrievals []retrieve.Retrieval
	Relaxed    *string
	Degraded   []answer.Degraded
	Bytes      *answer.Allowance // of the answer
	Known      *float64
	Parents    map[rank.Key]*answer.Parent      // of hits that bring their sections along
	Reranked   map[rank.Key]*answer.Reranked    // of the chunks that a reranker read
	Second     map[rank.Key]*answer.SecondScore // of the chunks of a second stage
	Diversity  map[rank.Key]*answer.Diversity   // of the chunks that a diverse answer is chosen from
	read       map[rank.Key]*engine.Chunk       // chunks compared to find near-duplicates
}

// From is the retrieval that found an entry.
func (set *Set) From(entry *scoring.Fused) *retrieve.Retrieval {
	return &set.Retrievals[entry.Source]
}

// Reader reads chunks of the knowledge base of a retrieval, in the order of their ids;
// ids that are gone are skipped.
type Reader func(rt *retrieve.Retrieval, ctx context.Context, ids []string) ([]engine.Chunk, error)

// Fetch reads the chunk of each entry, nil if it is gone: one request per knowledge
// base, all at the same time. A knowledge base that cannot be read is degraded; it is
// an error if none can.
func (set *Set) Fetch(ctx context.Context, entries []scoring.Fused, read Reader) ([]*engine.Chunk, error) {
	batches := make([]batch, len(set.Retrievals))
	for i := range entries {
		b := &batches[entries[i].Source]
		b.ids = append(b.ids, entries[i].ID())
	}
	var reading sync.WaitGroup
	for i := range batches {
		b, rt := &batches[i], &set.Retrievals[i]
		switch {
		case len(b.ids) == 0:
		case len(batches) == 1:
			b.chunks, b.err = read(rt, ctx, b.ids)
		default:
			reading.Go(func() { b.chunks, b.err = read(rt, ctx, b.ids) })
		}
	}
	reading.Wait()
	chunks := make([]*engine.Chunk, len(entries))
	for i := range entries {
		chunks[i] = batches[entries[i].Source].next(entries[i].ID())
	}
	return chunks, set.degradeUnread(ctx, batches)
}

// batch holds the chunks read from one knowledge base.
type batch struct {
	ids    []string
	chunks []engine.Chunk // in the order of ids, from the next one on
	err    error
}

// next takes the chunk of the next id, nil when it is gone.
func (b *batch) next(id string) *engine.Chunk {
	if len(b.chunks) == 0 || b.chunks[0].ID != id {
		return nil
	}
	chunk := &b.chunks[0]
	b.chunks = b.chunks[1:]
	return chunk
}

// degradeUnread lists the knowledge bases that could not be read.
func (set *Set) degradeUnread(ctx context.Context, batches []batch) error {
	var first error
	read := false
	for i := range batches {
		err := batches[i].err
		if err == nil {
			read = read || len(batches[i].ids) > 0
			continue
		}
		if first == nil {
			first = err
		}
		unread := answer.NewDegraded(answer.StepContent, set.Retrievals[i].KB.ID, err)
		if !slices.Contains(set.Degraded, unread) {
			set.Degraded = append(set.Degraded, unread)
		}
	}
	if read && ctx.Err() == nil {
		return nil
	}
	return first
}

// fetchAllowed reads the chunks of entries for the answer, as Fetch does, in portions within
// the answer's byte budget.
func (set *Set) fetchAllowed(
	ctx context.Context, entries []scoring.Fused, read Reader,
) ([]*engine.Chunk, error) {
	all := make([]*engine.Chunk, 0, len(entries))
	for len(all) < len(entries) {
		rest := entries[len(all):]
		chunks, err := set.Fetch(ctx, rest[:min(set.Bytes.Portion(len(all)), len(rest))], read)
		if err != nil && (len(all) == 0 || ctx.Err() != nil) {
			return nil, err // any further ones are missing, which degrades the answer
		}
		all = append(all, chunks...)
		for _, chunk := range chunks {
			if chunk == nil {
				continue
			}
			if err := set.Bytes.Take(answer.SizeOf(chunk)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
