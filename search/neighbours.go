package search

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// parallelNeighbours bounds how many requests for neighbours run at a time.
const parallelNeighbours = 4

// addNeighbours adds to each hit of the page the chunks around it, by their ordinals
// in the document, of those that the search may show.
func (s *Searcher) addNeighbours(ctx context.Context, r *run, hits []answer.Hit, bytes *answer.Allowance) error {
	source := map[string]int{}
	for i := range r.Subjects {
		source[r.Subjects[i].KB.ID] = i
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelNeighbours)
	for i := range hits {
		if ctx.Err() != nil {
			break // one failed
		}
		group.Go(func() error {
			from, to := hits[i].Ordinal-r.Request.Neighbours, hits[i].Ordinal+r.Request.Neighbours
			around, err := retrieve.Around(ctx, &r.Asked, source[hits[i].KnowledgeBase], hits[i].DocumentID, from, to)
			if err != nil {
				return err
			}
			hits[i].Neighbours = neighboursOf(around, &hits[i])
			size := 0
			for k := range hits[i].Neighbours {
				size += len(hits[i].Neighbours[k].Content)
			}
			return bytes.Take(size)
		})
	}
	return group.Wait()
}

func neighboursOf(around []engine.Chunk, hit *answer.Hit) []answer.Neighbour {
	list := []answer.Neighbour{}
	for i := range around {
		if c := &around[i]; c.ID != hit.ID {
			list = append(list, answer.Neighbour{ID: c.ID, Distance: c.Ordinal - hit.Ordinal, Content: c.Content})
		}
	}
	return list
}
