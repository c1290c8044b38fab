package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/engine"
)

// withShape is withBase for requests that depend on the shape. A request of a later
// generation than known here makes it look again; while a migration compares both shapes,
// the new one is addressed by its generation.
func (e *Engine) withShape(ctx context.Context, kb *engine.KnowledgeBase, do func(*base) error) error {
	if found, ok := e.shadows.Load(kb.Ref); ok {
		if b, ok := found.(*base); ok && b.kb.Generation == kb.Generation {
			return do(b)
		}
	}
	if b, err := e.base(ctx, kb.Ref); err == nil && b.kb.Generation < kb.Generation {
		e.forget(b)
	}
	return e.withBase(ctx, kb.Ref, do)
}

// current returns a knowledge base in its current shape.
func (e *Engine) current(ctx context.Context, b *base) (*base, error) {
	var same bool
	err := e.pool.QueryRow(ctx, `SELECT number = $3 AND COALESCE((definition ->> 'generation')::BIGINT, 0) = $4
		AND COALESCE(definition ->> 'vector_index', '') = $5 FROM knowledge_bases WHERE tenant = $1 AND id = $2`,
		b.kb.Tenant, b.kb.ID, b.table.number, b.kb.Generation, b.kb.VectorIndex).Scan(&same)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, faultOf(err, "looking at knowledge base %q", b.kb.ID)
	}
	if !same {
		e.forget(b)
	}
	return e.base(ctx, b.kb.Ref)
}
