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
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// Chunks implements engine.Searcher.
func (e *Engine) Chunks(ctx context.Context, req engine.ChunksRequest) ([]engine.Chunk, error) {
	b, err := e.base(req.KB.Ref)
	if err != nil {
		return nil, err
	}
	if s := b.current.Load(); s != nil {
		chunks, whole, err := b.chunksOf(ctx, s, &req)
		if whole || err != nil {
			return chunks, err
		}
	}
	return b.storedChunks(ctx, &req)
}

// chunksOf gives chunks as a snapshot knows them; not whole when one of them has been
// changed since and its body is no longer in the file.
func (b *base) chunksOf(
	ctx context.Context, s *snapshot, req *engine.ChunksRequest,
) (chunks []engine.Chunk, whole bool, err error) {
	rows := make([]uint32, 0, len(req.IDs))
	for _, id := range req.IDs {
		if row, exists := s.row(id); exists && (req.Hidden || s.records.at(row).available) {
			rows = append(rows, row)
		}
	}
	bodies, whole := b.engine.bodies.find(b.table.number, rows)
	if !whole {
		if err := b.complete(ctx, rows, bodies); err != nil || slices.Contains(bodies, "") {
			return nil, false, err
		}
	}
	chunks = make([]engine.Chunk, 0, len(bodies))
	for i, body := range bodies {
		c, err := b.decode(body)
		if err != nil {
			return nil, false, err
		}
		if c.ID == s.records.at(rows[i]).id { // not when it is no UTF-8, which JSON cannot hold
			chunks = append(chunks, c)
		}
	}
	return chunks, true, nil
}

// complete reads those bodies of rows that are missing, as far as they are there.
func (b *base) complete(ctx context.Context, rows []uint32, bodies []string) error {
	var missing []any
	for i, body := range bodies {
		if body == "" {
			missing = append(missing, rows[i])
		}
	}
	read, err := b.bodies(ctx, &b.byRows, missing)
	if err != nil {
		return err
	}
	texts := make(map[uint32]string, len(read))
	for _, n := range read {
		texts[n.row] = n.text
	}
	for i, row := range rows {
		if bodies[i] == "" {
			bodies[i] = texts[row]
		}
	}
	return nil
}

// storedChunks gives chunks as the file has them.
func (b *base) storedChunks(ctx context.Context, req *engine.ChunksRequest) ([]engine.Chunk, error) {
	ids := make([]any, len(req.IDs))
	for i, id := range req.IDs {
		ids[i] = id
	}
	read, err := b.bodies(ctx, &b.byIDs, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[string]engine.Chunk, len(read))
	for _, n := range read {
		c, err := b.decode(n.text)
		if err != nil {
			return nil, err
		}
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

// bodies reads the bodies that a statement selects, some keys at a time, and keeps them.
func (b *base) bodies(ctx context.Context, r *reading, keys []any) (read []numbered, err error) {
	statement, err := r.compile(ctx, b.engine.files.readers) //nolint:sqlclosecheck // it lasts as the knowledge base does
	if err != nil {
		return nil, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
	}
	args := make([]any, keysAtOnce)
	for some := range slices.Chunk(keys, keysAtOnce) {
		for i := range args {
			args[i] = some[min(i, len(some)-1)]
		}
		rows, err := statement.QueryContext(b.engine.files.briefly(ctx), args...)
		if err == nil {
			read, err = b.keep(read, rows)
		}
		if err != nil {
			return nil, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
		}
	}
	return read, nil
}

func (b *base) keep(read []numbered, rows *sql.Rows) ([]numbered, error) {
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var n numbered
		if err := rows.Scan(&n.row, &n.text); err != nil {
			return nil, err
		}
		b.engine.bodies.keep(b.table.number, n.row, n.text)
		read = append(read, n)
	}
	return read, rows.Err()
}

// keysAtOnce is how many chunks one run of a statement reads: as many as most pages
// have.
const keysAtOnce = 16

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
		var body string
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
