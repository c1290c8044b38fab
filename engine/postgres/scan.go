package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/hybridge-search/hybridge/engine"
)

// Scan implements engine.Scanner.
func (e *Engine) Scan(ctx context.Context, req engine.ScanRequest) ([]engine.Chunk, error) {
	var all []engine.Chunk
	err := e.withBase(ctx, req.KB.Ref, func(b *base) error {
		err := e.reading(ctx, func() (err error) {
			all, err = e.scan(ctx, b, &req)
			return err
		})
		return wrapUnlessReplaced(err, "reading chunks of knowledge base %q", b.kb.ID)
	})
	return all, err
}

func (e *Engine) scan(ctx context.Context, b *base, req *engine.ScanRequest) ([]engine.Chunk, error) {
	w := &where{}
	w.and("id > %s", w.bind(known(req.After)))
	if req.IDs != nil {
		w.ids(req.IDs)
	}
	columns := "body"
	for _, field := range b.table.vectors {
		columns += ", " + b.table.read(field)
	}
	rows, err := e.pool.Query(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY id LIMIT %s",
		columns, b.table.name, w, w.bind(max(req.Limit, 0))), w.args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, b.scanWhole)
}

// scanWhole reads a chunk with its vectors.
func (b *base) scanWhole(row pgx.CollectableRow) (engine.Chunk, error) {
	var body []byte
	vectors := make([]*pgvector.Vector, len(b.table.vectors))
	targets := []any{&body}
	for i := range vectors {
		targets = append(targets, &vectors[i])
	}
	if err := row.Scan(targets...); err != nil {
		return engine.Chunk{}, err
	}
	c, err := b.kb.DecodeStored(body)
	if err != nil {
		return c, err
	}
	for i, field := range b.table.vectors {
		if vectors[i] == nil {
			continue
		}
		if c.Vectors == nil {
			c.Vectors = map[string][]float32{}
		}
		c.Vectors[field] = vectors[i].Slice()
	}
	return c, nil
}
