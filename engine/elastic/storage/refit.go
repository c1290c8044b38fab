package storage

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
)

// Refit gives chunks the vectors that another schema needs, see engine.Embed.
func (s *Store) Refit(
	ctx context.Context, from, to *engine.KnowledgeBase, chunks []*engine.Chunk,
) ([]*engine.Chunk, error) {
	return s.embed.Refit(ctx, from, to, chunks)
}
