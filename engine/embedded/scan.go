package embedded

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// Scan implements engine.Scanner.
func (e *Engine) Scan(ctx context.Context, req engine.ScanRequest) ([]engine.Chunk, error) {
	b, err := e.base(req.KB.Ref)
	if err != nil {
		return nil, err
	}
	statement := "SELECT body" + b.table.vectorColumns() + " FROM " + b.table.name + " WHERE id > ?"
	args := []any{req.After}
	if req.IDs != nil {
		list, err := json.Marshal(req.IDs)
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "the ids of chunks")
		}
		statement += " AND id IN (SELECT value FROM json_each(?))"
		args = append(args, string(list))
	}
	rows, err := e.files.readers.QueryContext(ctx, statement+" ORDER BY id LIMIT ?", append(args, max(req.Limit, 0))...)
	if err != nil {
		return nil, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []engine.Chunk
	for rows.Next() {
		c, err := b.scanWhole(rows)
		if err != nil {
			return nil, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
		}
		all = append(all, c)
	}
	return all, sqlite.Fault(rows.Err(), "reading chunks of knowledge base %q", b.kb.ID)
}

// scanWhole reads a chunk with its vectors.
func (b *base) scanWhole(rows *sql.Rows) (engine.Chunk, error) {
	var body string
	blobs := make([]sql.RawBytes, len(b.table.vectors))
	targets := []any{&body}
	for i := range blobs {
		targets = append(targets, &blobs[i])
	}
	if err := rows.Scan(targets...); err != nil {
		return engine.Chunk{}, err
	}
	c, err := b.decode(body)
	if err != nil {
		return c, err
	}
	for i, name := range b.table.vectors {
		if v := vectorFrom(blobs[i], b.kb.Dimensions); v != nil {
			if c.Vectors == nil {
				c.Vectors = map[string][]float32{}
			}
			c.Vectors[name] = v
		}
	}
	return c, nil
}
