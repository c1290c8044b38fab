package postgres

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
)

// BuildIndexes builds a knowledge base's vector indexes now, of however few chunks.
func BuildIndexes(ctx context.Context, e *Engine, ref engine.Ref) error {
	return e.withBase(ctx, ref, func(b *base) error {
		for _, field := range b.table.vectors {
			if err := e.buildIndex(ctx, b, field); err != nil {
				return err
			}
		}
		_, err := b.usableIndexes(ctx, e.pool, 0)
		return err
	})
}

// BuildRoughIndex builds one that takes a fraction of the time and finds less.
func BuildRoughIndex(ctx context.Context, e *Engine, ref engine.Ref) error {
	return e.withBase(ctx, ref, func(b *base) error {
		_, err := e.pool.Exec(ctx, b.table.indexDefinition(b.table.vectors[0])+" WITH (m = 4, ef_construction = 12)")
		if err != nil {
			return err
		}
		_, err = b.usableIndexes(ctx, e.pool, 0)
		return err
	})
}

// SetExact says what is searched without an index: so many chunks, or so many for
// each hit asked for.
func SetExact(e *Engine, limit, factor int) { e.exact.limit, e.exact.factor = limit, factor }
