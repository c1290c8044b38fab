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

// Tables lists the chunk tables of all knowledge bases.
func Tables(ctx context.Context, e *Engine) (all []string, err error) {
	err = e.pool.QueryRow(ctx, `SELECT ARRAY(SELECT relname::TEXT FROM pg_class WHERE relkind = 'r'
		AND relnamespace = to_regnamespace($1) AND relname LIKE 'chunks%' ORDER BY relname)`, e.options.Schema).Scan(&all)
	return all, err
}
