package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// Chunks implements engine.Searcher. One statement reads them all, so they are of one
// moment.
func (e *Engine) Chunks(ctx context.Context, req engine.ChunksRequest) ([]engine.Chunk, error) {
	b, err := e.base(req.KB.Ref)
	if err != nil {
		return nil, err
	}
	ids, err := json.Marshal(req.IDs)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "the ids of chunks")
	}
	read, err := b.query(ctx,
		"SELECT body FROM "+b.table.source()+" WHERE id IN (SELECT value FROM json_each(?))", string(ids))
	if err != nil {
		return nil, err
	}
	found := make(map[string]engine.Chunk, len(read))
	for _, c := range read {
		if c.Available || req.Hidden {
			found[c.ID] = c
		}
	}
	out := make([]engine.Chunk, 0, len(found))
	for _, id := range req.IDs {
		if c, exists := found[id]; exists {
			out = append(out, c)
		}
	}
	return out, nil
}

// query runs a statement that selects bodies.
func (b *base) query(ctx context.Context, statement string, args ...any) ([]engine.Chunk, error) {
	return b.chunks(b.engine.files.readers.QueryContext(ctx, statement, args...))
}

// chunks reads the bodies that a statement selected.
func (b *base) chunks(rows *sql.Rows, err error) ([]engine.Chunk, error) {
	if err != nil {
		return nil, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []engine.Chunk
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return nil, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
		}
		c, err := b.kb.DecodeStored(body)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, sqlite.Fault(rows.Err(), "reading chunks of knowledge base %q", b.kb.ID)
}

// Documents implements engine.Store. A document's name is its first chunk's.
func (e *Engine) Documents(
	ctx context.Context, kb engine.KnowledgeBase, after string, limit int,
) ([]engine.Document, error) {
	b, err := e.base(kb.Ref)
	if err != nil {
		return nil, err
	}
	rows, err := e.files.readers.QueryContext(ctx, "SELECT document_id, document_name, COUNT(*), MIN(ordinal) FROM "+
		b.table.source()+" WHERE document_id > ? GROUP BY document_id ORDER BY document_id LIMIT ?", after, max(limit, 0))
	if err != nil {
		return nil, sqlite.Fault(err, "listing the documents of knowledge base %q", kb.ID)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []engine.Document
	for rows.Next() {
		var d engine.Document
		var ordinal int
		if err := rows.Scan(&d.ID, &d.Name, &d.Chunks, &ordinal); err != nil {
			return nil, sqlite.Fault(err, "listing the documents of knowledge base %q", kb.ID)
		}
		all = append(all, d)
	}
	return all, sqlite.Fault(rows.Err(), "listing the documents of knowledge base %q", kb.ID)
}

// DocumentChunks implements engine.Store.
func (e *Engine) DocumentChunks(ctx context.Context, req engine.DocumentChunksRequest) ([]engine.Chunk, error) {
	b, err := e.base(req.KB.Ref)
	if err != nil {
		return nil, err
	}
	to := req.To
	if to < 0 {
		to = math.MaxInt
	}
	from, after := req.From, ""
	if req.After != "" {
		ordinal, err := b.ordinal(ctx, req.DocumentID, req.After)
		if err != nil {
			return nil, err
		}
		if ordinal >= from {
			from, after = ordinal, req.After
		}
	}
	return b.query(ctx, "SELECT body FROM "+b.table.source()+" WHERE document_id = ? AND ordinal BETWEEN ? AND ?"+
		" AND (ordinal > ? OR id > ?) ORDER BY ordinal, id LIMIT ?",
		req.DocumentID, from, to, from, after, max(req.Limit, 0))
}

func (b *base) ordinal(ctx context.Context, documentID, id string) (int, error) {
	ordinal := 0
	err := b.engine.files.readers.QueryRowContext(ctx,
		"SELECT ordinal FROM "+b.table.source()+" WHERE id = ? AND document_id = ?", id, documentID).Scan(&ordinal)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fault.New(fault.NotFound, "document %q has no chunk %q to continue after", documentID, id)
	}
	return ordinal, sqlite.Fault(err, "listing the chunks of document %q", documentID)
}

// Scan implements engine.Scanner.
func (e *Engine) Scan(ctx context.Context, req engine.ScanRequest) ([]engine.Chunk, error) {
	b, err := e.base(req.KB.Ref)
	if err != nil {
		return nil, err
	}
	statement := "SELECT body" + b.table.vectorColumns() + " FROM " + b.table.source() + " WHERE id > ?"
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
	var body []byte
	blobs := make([]sql.RawBytes, len(b.table.vectors))
	targets := []any{&body}
	for i := range blobs {
		targets = append(targets, &blobs[i])
	}
	if err := rows.Scan(targets...); err != nil {
		return engine.Chunk{}, err
	}
	c, err := b.kb.DecodeStored(body)
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
