package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// Chunks implements engine.Searcher. One statement reads them all, so they are consistent.
func (e *Engine) Chunks(ctx context.Context, req engine.ChunksRequest) ([]engine.Chunk, error) {
	return reading(e, req.KB.Ref, func(b *base) ([]engine.Chunk, error) { return b.visible(ctx, &req) })
}

func (b *base) visible(ctx context.Context, req *engine.ChunksRequest) ([]engine.Chunk, error) {
	ids, err := json.Marshal(req.IDs)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "the ids of chunks")
	}
	read, err := b.query(ctx,
		bodies+b.table.source()+" WHERE id IN (SELECT value FROM json_each(?))", string(ids))
	if sqlite.Code(err) == sqlite.Corrupt {
		read, err = b.readable(ctx, b.rowsOfIDs(req.IDs))
	}
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

// bodies begins a statement for query.
const bodies = "SELECT row, checksum, body FROM "

// query runs a statement that selects bodies. Chunks with a damaged body are skipped and passed to suspect.
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
	var bad []uint32
	var row, sum integer
	var body sql.RawBytes // until the next row
	for rows.Next() {
		if err := rows.Scan(&row, &sum, &body); err != nil {
			return nil, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
		}
		if sum.there && !checksum(sum.value).holdsBody(body) {
			bad = append(bad, uint32(row.value))
			continue
		}
		c, err := b.kb.DecodeStored(body)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if len(bad) > 0 {
		b.suspect(bad)
	}
	return all, sqlite.Fault(rows.Err(), "reading chunks of knowledge base %q", b.kb.ID)
}

// readable reads rows one by one, skipping unreadable ones: a fallback for damaged pages.
func (b *base) readable(ctx context.Context, rows []uint32) ([]engine.Chunk, error) {
	var all []engine.Chunk
	var bad []uint32
	for _, row := range rows {
		read, err := b.query(ctx, bodies+b.table.source()+" WHERE row = ?", row)
		switch {
		case sqlite.Code(err) == sqlite.Corrupt:
			bad = append(bad, row)
		case err != nil:
			return nil, err
		}
		all = append(all, read...)
	}
	if len(bad) > 0 {
		b.suspect(bad)
	}
	return all, nil
}

// rowsOfIDs finds rows in the memory, without the index of ids.
func (b *base) rowsOfIDs(ids []string) []uint32 {
	s := b.current.Load()
	if s == nil {
		return nil
	}
	var rows []uint32
	for _, id := range ids {
		if row, found := s.row(id); found {
			rows = append(rows, row)
		}
	}
	return rows
}

// Documents implements engine.Store. A document's name is its first chunk's.
func (e *Engine) Documents(
	ctx context.Context, kb engine.KnowledgeBase, after string, limit int,
) ([]engine.Document, error) {
	return reading(e, kb.Ref, func(b *base) ([]engine.Document, error) { return b.documents(ctx, after, limit) })
}

func (b *base) documents(ctx context.Context, after string, limit int) ([]engine.Document, error) {
	rows, err := b.engine.files.readers.QueryContext(ctx,
		"SELECT document_id, (SELECT document_name FROM "+b.table.source()+
			" AS f WHERE f.document_id = d.document_id ORDER BY f.ordinal, f.id LIMIT 1), COUNT(*), "+b.table.bare()+
			", SUM(octet_length(body)), COALESCE(MAX(CASE WHEN json_valid(fields) THEN fields ->> '$.written_at[0]' END), '')"+
			" FROM "+b.table.source()+" AS d WHERE document_id > ? GROUP BY document_id ORDER BY document_id LIMIT ?",
		after, max(limit, 0))
	if err != nil {
		return nil, sqlite.Fault(err, "listing the documents of knowledge base %q", b.kb.ID)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []engine.Document
	for rows.Next() {
		var d engine.Document
		if err := rows.Scan(&d.ID, &d.Name, &d.Chunks, &d.WithoutVectors, &d.Bytes, &d.WrittenAt); err != nil {
			return nil, sqlite.Fault(err, "listing the documents of knowledge base %q", b.kb.ID)
		}
		d.WrittenAt = engine.KnownWrittenAt(d.WrittenAt)
		all = append(all, d)
	}
	return all, sqlite.Fault(rows.Err(), "listing the documents of knowledge base %q", b.kb.ID)
}

// DocumentChunks implements engine.Store.
func (e *Engine) DocumentChunks(ctx context.Context, req engine.DocumentChunksRequest) ([]engine.Chunk, error) {
	return reading(e, req.KB.Ref, func(b *base) ([]engine.Chunk, error) { return b.documentChunks(ctx, &req) })
}

func (b *base) documentChunks(ctx context.Context, req *engine.DocumentChunksRequest) ([]engine.Chunk, error) {
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
	read, err := b.query(ctx, bodies+b.table.source()+" WHERE document_id = ? AND ordinal BETWEEN ? AND ?"+
		" AND (ordinal > ? OR id > ?) ORDER BY ordinal, id LIMIT ?",
		req.DocumentID, from, to, from, after, max(req.Limit, 0))
	if sqlite.Code(err) != sqlite.Corrupt {
		return read, err
	}
	s, err := b.ready(ctx)
	if err != nil {
		return nil, err
	}
	if read, err = b.readable(ctx, s.rowsOf(req.DocumentID)); err != nil {
		return nil, err
	}
	read = slices.DeleteFunc(read, func(c engine.Chunk) bool {
		return c.Ordinal < from || c.Ordinal > to || c.Ordinal == from && c.ID <= after
	})
	slices.SortFunc(read, func(x, y engine.Chunk) int {
		return cmp.Or(cmp.Compare(x.Ordinal, y.Ordinal), cmp.Compare(x.ID, y.ID))
	})
	return read[:min(len(read), max(req.Limit, 0))], nil
}

func (b *base) ordinal(ctx context.Context, documentID, id string) (int, error) {
	ordinal := 0
	err := b.engine.files.readers.QueryRowContext(ctx,
		"SELECT ordinal FROM "+b.table.source()+" WHERE id = ? AND document_id = ?", id, documentID).Scan(&ordinal)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, (&engine.DocumentChunksRequest{DocumentID: documentID, After: id}).Gone()
	}
	return ordinal, sqlite.Fault(err, "listing the chunks of document %q", documentID)
}

// Scan implements engine.Scanner.
func (e *Engine) Scan(ctx context.Context, req engine.ScanRequest) ([]engine.Chunk, error) {
	return reading(e, req.KB.Ref, func(b *base) ([]engine.Chunk, error) { return b.scan(ctx, &req) })
}

func (b *base) scan(ctx context.Context, req *engine.ScanRequest) ([]engine.Chunk, error) {
	if err := b.damage.refuse(b.kb.ID, req.IDs); err != nil {
		return nil, err
	}
	statement := "SELECT " + b.table.columns() + " FROM " + b.table.source() + " WHERE id > ?"
	args := []any{req.After}
	if req.IDs != nil {
		list, err := json.Marshal(req.IDs)
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "the ids of chunks")
		}
		statement += " AND id IN (SELECT value FROM json_each(?))"
		args = append(args, string(list))
	}
	all, err := b.wholeChunks(ctx, statement+" ORDER BY id LIMIT ?", append(args, max(req.Limit, 0))...)
	s := b.current.Load()
	switch {
	case sqlite.Code(err) == sqlite.Corrupt, err == nil && s != nil && s.hasMore(req.IDs, all):
		return b.scanReadable(ctx, req)
	default:
		return all, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
	}
}

// hasMore reports whether the memory has a chunk of some ids that was not read: if the index of ids is
// damaged, missing entries must not look deleted.
func (s *snapshot) hasMore(ids []string, read []engine.Chunk) bool {
	if len(read) == len(ids) {
		return false
	}
	seen := make(map[string]bool, len(read))
	for i := range read {
		seen[read[i].ID] = true
	}
	return slices.ContainsFunc(ids, func(id string) bool {
		_, known := s.row(id)
		return known && !seen[id]
	})
}

// wholeChunks reads chunks with their vectors. Damaged ones are skipped and passed to suspect.
func (b *base) wholeChunks(ctx context.Context, statement string, args ...any) ([]engine.Chunk, error) {
	rows, err := b.engine.files.readers.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []engine.Chunk
	var bad []uint32
	reader := b.newRowReader()
	for rows.Next() {
		if reader.scan(rows) == damaged {
			bad = append(bad, reader.columns.row)
			continue
		}
		c, err := b.wholeChunk(&reader.columns)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if len(bad) > 0 {
		b.suspect(bad)
	}
	return all, rows.Err()
}

// scanReadable scans the rows known in memory one by one: a fallback for damaged pages.
func (b *base) scanReadable(ctx context.Context, req *engine.ScanRequest) ([]engine.Chunk, error) {
	s, err := b.ready(ctx)
	if err != nil {
		return nil, err
	}
	var all []engine.Chunk
	for _, r := range s.rowsAfter(req.After) {
		if len(all) >= req.Limit {
			break
		}
		if req.IDs != nil && !slices.Contains(req.IDs, r.id) {
			continue
		}
		read, err := b.wholeChunks(ctx, "SELECT "+b.table.columns()+" FROM "+b.table.source()+" WHERE row = ?", r.row)
		if sqlite.Code(err) == sqlite.Corrupt {
			b.suspect([]uint32{r.row})
			continue
		}
		if err != nil {
			return nil, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
		}
		all = append(all, read...)
	}
	return all, nil
}

// wholeChunk makes a chunk of its row.
func (b *base) wholeChunk(row *columns) (engine.Chunk, error) {
	c, err := b.kb.DecodeStored(row.body)
	if err != nil {
		return c, err
	}
	for i, name := range b.table.vectors {
		if v := vectorFrom(row.blobs[i], b.kb.Dimensions); v != nil {
			if c.Vectors == nil {
				c.Vectors = map[string][]float32{}
			}
			c.Vectors[name] = v
		}
	}
	return c, nil
}
