package search

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/engine"
)

// parallelNeighbours bounds how many requests for neighbours run at a time.
const parallelNeighbours = 4

// addNeighbours adds to each hit of the page the chunks around it, by their ordinals
// in the document, without the hidden ones.
func (s *Searcher) addNeighbours(ctx context.Context, r *run, hits []Hit, bytes *allowance) error {
	source := map[string]int{}
	for i := range r.subjects {
		source[r.subjects[i].KB.ID] = i
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelNeighbours)
	for i := range hits {
		if ctx.Err() != nil {
			break // one failed
		}
		subject := &r.subjects[source[hits[i].KnowledgeBase]]
		group.Go(func() error {
			around, err := subject.Engine.DocumentChunks(ctx, engine.DocumentChunksRequest{
				KB:         subject.KB,
				DocumentID: hits[i].DocumentID,
				From:       max(0, hits[i].Ordinal-r.req.Neighbours),
				To:         hits[i].Ordinal + r.req.Neighbours,
				Limit:      2*r.req.Neighbours + 1,
			})
			if err != nil {
				return err
			}
			hits[i].Neighbours = neighboursOf(around, &hits[i])
			size := 0
			for k := range hits[i].Neighbours {
				size += len(hits[i].Neighbours[k].Content)
			}
			return bytes.take(size)
		})
	}
	return group.Wait()
}

func neighboursOf(around []engine.Chunk, hit *Hit) []Neighbour {
	list := []Neighbour{}
	for i := range around {
		if c := &around[i]; c.Available && c.ID != hit.ID {
			list = append(list, Neighbour{ID: c.ID, Distance: c.Ordinal - hit.Ordinal, Content: c.Content})
		}
	}
	return list
}
