package present

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// addNeighbours adds to each hit of the page the chunks around it that the search may show,
// by their ordinals in the document.
func (s *Presenter) addNeighbours(ctx context.Context, r *ask.Asked, hits []answer.Hit, bytes *answer.Allowance) error {
	source := map[string]int{}
	for i := range r.Subjects {
		source[r.Subjects[i].KB.ID] = i
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(retrieve.ParallelReads)
	for i := range hits {
		if ctx.Err() != nil {
			break // one failed
		}
		group.Go(func() error {
			reach := r.Request.Neighbours
			around, err := retrieve.Around(ctx, r, source[hits[i].KnowledgeBase], engine.DocumentChunksRequest{
				DocumentID: hits[i].DocumentID, From: hits[i].Ordinal - reach, To: hits[i].Ordinal + reach,
			})
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
