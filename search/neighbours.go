package search

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/engines"
)

// parallelNeighbours bounds how many requests for neighbours run at a time.
const parallelNeighbours = 4

// neighbourPages bounds how many pages of a document are read for the neighbours of one hit:
// chunks that may not be shown can stand between them.
const (
	neighbourPages = 8
	neighbourPage  = 256
)

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
			around, err := r.around(ctx, source[hits[i].KnowledgeBase], hits[i].DocumentID, from, to)
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

// around reads chunks of a document of a subject that the search may show, by their ordinals, at
// most one for each.
func (r *run) around(ctx context.Context, of int, document string, from, to int) ([]engine.Chunk, error) {
	subject := &r.Subjects[of]
	wanted := to - from + 1
	page := engine.DocumentChunksRequest{
		KB: subject.KB, DocumentID: document, From: max(0, from), To: to, Limit: wanted,
	}
	var shown []engine.Chunk
	for range neighbourPages {
		read, err := engines.Ask(ctx, subject, engines.CallDocumentChunks, subject.Engine.DocumentChunks, page)
		if err != nil {
			return nil, err
		}
		for i := range read {
			if r.MayShow(of, &read[i]) {
				shown = append(shown, read[i])
			}
		}
		if len(read) < page.Limit || len(shown) >= wanted || subject.KB.Attach != nil {
			break
		}
		page.After, page.Limit = read[len(read)-1].ID, neighbourPage
	}
	return shown[:min(len(shown), wanted)], nil
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
