package ingest

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
)

// MaxAround is how many chunks Surroundings returns at most before one, and after it.
const MaxAround = 50

// Place is a chunk, and how many of its document to read before it and after it.
type Place struct {
	KB, ChunkID string
	Around      int // 0 to MaxAround
}

// Surroundings returns a chunk within those around it, in the order of the document, as a search may show
// them: hidden ones are excluded. It is a fault.NotFound for one that may not be shown.
func (p *Pipeline) Surroundings(ctx context.Context, scope access.Scope, place Place) ([]engine.Chunk, error) {
	t, err := p.readable(ctx, scope, place.KB)
	if err != nil {
		return nil, err
	}
	found, err := t.engine.Chunks(ctx, engine.ChunksRequest{KB: t.kb, IDs: []string{place.ChunkID}})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || !scope.Sees(&found[0]) {
		return nil, notFound("chunk_id", "chunk %q does not exist in knowledge base %q", clip(place.ChunkID, 80), place.KB)
	}
	around := min(max(place.Around, 0), MaxAround)
	near, err := t.engine.DocumentChunks(ctx, engine.DocumentChunksRequest{
		KB: t.kb, DocumentID: found[0].DocumentID, Limit: maxPage,
		From: max(0, found[0].Ordinal-around), To: found[0].Ordinal + around,
	})
	if err != nil {
		return nil, err
	}
	near = slices.DeleteFunc(near, func(c engine.Chunk) bool { return !c.Available || !scope.Sees(&c) })
	at := slices.IndexFunc(near, func(c engine.Chunk) bool { return c.ID == place.ChunkID })
	if at < 0 { // among more chunks of one ordinal than a page has
		return found[:1], nil
	}
	return near[max(0, at-around):min(len(near), at+around+1)], nil
}
