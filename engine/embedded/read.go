package embedded

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/sqlite"
)

// Chunks implements engine.Searcher.
func (e *Engine) Chunks(ctx context.Context, req engine.ChunksRequest) ([]engine.Chunk, error) {
	b, err := e.base(req.KB.Ref)
	if err != nil {
		return nil, err
	}
	byIDs, err := b.byIDs.compile(ctx, e.files.readers) //nolint:sqlclosecheck // it lasts as the knowledge base does
	if err != nil {
		return nil, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
	}
	var found []engine.Chunk
	args := make([]any, 1+idsAtOnce)
	args[0] = req.Hidden
	for ids := range slices.Chunk(req.IDs, idsAtOnce) {
		for i := range idsAtOnce {
			args[1+i] = ids[min(i, len(ids)-1)]
		}
		rows, err := byIDs.QueryContext(e.files.briefly(ctx), args...)
		more, err := b.chunks(rows, err)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	byID := make(map[string]int, len(found))
	for i := range found {
		byID[found[i].ID] = i
	}
	out := make([]engine.Chunk, 0, len(found))
	for _, id := range req.IDs {
		if i, exists := byID[id]; exists {
			out = append(out, found[i])
		}
	}
	return out, nil
}

// idsAtOnce is how many chunks one run of the statement byIDs reads: as many as
// most pages have.
const idsAtOnce = 16

// reading is a statement that is compiled at its first use, once a connection.
type reading struct {
	text string

	mu        sync.Mutex
	statement *sql.Stmt
}

func (r *reading) compile(ctx context.Context, db *sql.DB) (_ *sql.Stmt, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.statement == nil {
		r.statement, err = db.PrepareContext(ctx, r.text)
	}
	return r.statement, err
}

func (r *reading) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.statement == nil {
		return nil
	}
	return r.statement.Close()
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
		var body sql.RawBytes
		if err := rows.Scan(&body); err != nil {
			return nil, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
		}
		c, err := b.decode(body)
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
		b.table.name+" WHERE document_id > ? GROUP BY document_id ORDER BY document_id LIMIT ?", after, max(limit, 0))
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
	return b.query(ctx, "SELECT body FROM "+b.table.name+" WHERE document_id = ? AND ordinal BETWEEN ? AND ?"+
		" AND (ordinal > ? OR id > ?) ORDER BY ordinal, id LIMIT ?",
		req.DocumentID, from, to, from, after, max(req.Limit, 0))
}

func (b *base) ordinal(ctx context.Context, documentID, id string) (int, error) {
	ordinal := 0
	err := b.engine.files.readers.QueryRowContext(ctx,
		"SELECT ordinal FROM "+b.table.name+" WHERE id = ? AND document_id = ?", id, documentID).Scan(&ordinal)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fault.New(fault.NotFound, "document %q has no chunk %q to continue after", documentID, id)
	}
	return ordinal, sqlite.Fault(err, "listing the chunks of document %q", documentID)
}
