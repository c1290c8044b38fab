package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/cespare/xxhash/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/pgvector/pgvector-go"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Chunks implements engine.Searcher.
func (e *Engine) Chunks(ctx context.Context, req engine.ChunksRequest) ([]engine.Chunk, error) {
	ids := make([]string, 0, len(req.IDs))
	for _, id := range req.IDs {
		if storable(id) {
			ids = append(ids, id)
		}
	}
	var found []engine.Chunk
	err := e.withBase(ctx, req.KB.Ref, func(b *base) (err error) {
		found, err = e.chunks(ctx, b,
			"SELECT body FROM "+b.table.name+" WHERE id = ANY($1) AND (available OR $2)", ids, req.Hidden)
		return err
	})
	if err != nil {
		return nil, err
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

// chunks runs a statement that selects bodies.
func (e *Engine) chunks(ctx context.Context, b *base, sql string, args ...any) ([]engine.Chunk, error) {
	var all []engine.Chunk
	err := e.reading(ctx, func(ctx context.Context) error {
		rows, err := e.pool.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (engine.Chunk, error) {
			var body pgtype.DriverBytes
			if err := row.Scan(&body); err != nil {
				return engine.Chunk{}, err
			}
			return b.kb.DecodeStored(body)
		})
		return err
	})
	return all, wrapUnlessReplaced(err, "reading chunks of knowledge base %q", b.kb.ID)
}

// Documents implements engine.Store. A document's name is its first chunk's.
func (e *Engine) Documents(
	ctx context.Context, kb engine.KnowledgeBase, after string, limit int,
) ([]engine.Document, error) {
	var all []engine.Document
	err := e.withBase(ctx, kb.Ref, func(b *base) error {
		err := e.reading(ctx, func(ctx context.Context) error {
			rows, err := e.pool.Query(ctx, `SELECT document_id, (array_agg(document_name ORDER BY ordinal, id))[1], COUNT(*),
				`+b.table.bare()+`, SUM(pg_column_size(body)),
				COALESCE(MAX(metadata->'written_at'->>0), '') FROM `+b.table.name+`
				WHERE document_id > $1 GROUP BY document_id ORDER BY document_id LIMIT $2`,
				known(after), max(limit, 0))
			if err != nil {
				return err
			}
			all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (d engine.Document, err error) {
				err = row.Scan(&d.ID, &d.Name, &d.Chunks, &d.WithoutVectors, &d.Bytes, &d.WrittenAt)
				d.WrittenAt = engine.KnownWrittenAt(d.WrittenAt)
				return d, err
			})
			return err
		})
		return wrapUnlessReplaced(err, "listing the documents of knowledge base %q", kb.ID)
	})
	return all, err
}

// known returns a text as a parameter; a text that cannot be stored matches no chunk.
func known(text string) string {
	if storable(text) {
		return text
	}
	return ""
}

// DocumentChunks implements engine.Store.
func (e *Engine) DocumentChunks(ctx context.Context, req engine.DocumentChunksRequest) ([]engine.Chunk, error) {
	if !storable(req.DocumentID) || !storable(req.After) {
		return nil, fault.New(fault.NotFound, "there is no document %q", req.DocumentID)
	}
	to := int64(req.To)
	if to < 0 {
		to = math.MaxInt64
	}
	var found []engine.Chunk
	err := e.withBase(ctx, req.KB.Ref, func(b *base) error {
		from, after := int64(req.From), ""
		if req.After != "" {
			ordinal, err := e.ordinal(ctx, b, req.DocumentID, req.After)
			if err != nil {
				return err
			}
			if ordinal >= from {
				from, after = ordinal, req.After
			}
		}
		var err error
		found, err = e.chunks(ctx, b, "SELECT body FROM "+b.table.name+` WHERE document_id = $1
			AND (ordinal > $2 OR ordinal = $2 AND id > $3) AND ordinal <= $4 ORDER BY ordinal, id LIMIT $5`,
			req.DocumentID, from, after, to, max(req.Limit, 0))
		return err
	})
	return found, err
}

func (e *Engine) ordinal(ctx context.Context, b *base, documentID, id string) (ordinal int64, err error) {
	err = e.reading(ctx, func(ctx context.Context) error {
		return e.pool.QueryRow(ctx, "SELECT ordinal FROM "+b.table.name+" WHERE id = $1 AND document_id = $2",
			id, documentID).Scan(&ordinal)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, (&engine.DocumentChunksRequest{DocumentID: documentID, After: id}).Gone()
	}
	return ordinal, wrapUnlessReplaced(err, "listing the chunks of document %q", documentID)
}

// Scan implements engine.Scanner.
func (e *Engine) Scan(ctx context.Context, req engine.ScanRequest) ([]engine.Chunk, error) {
	var all []engine.Chunk
	err := e.withBase(ctx, req.KB.Ref, func(b *base) error {
		err := e.reading(ctx, func(ctx context.Context) (err error) {
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
		w.and("id = ANY(%s)", w.ids(req.IDs))
	}
	rows, err := e.pool.Query(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY id LIMIT %s",
		b.wholeColumns(), b.table.name, w, w.bind(max(req.Limit, 0))), w.args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, b.scanWhole)
}

// wholeColumns lists the columns that scanWhole reads: the body and every vector.
func (b *base) wholeColumns() string {
	columns := "body"
	for _, field := range b.table.vectors {
		columns += ", " + b.table.read(field)
	}
	return columns
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

// verifyBatch is the number of chunks read in one statement.
const verifyBatch = 500

// columns holds the columns that a chunk is found, filtered and sorted by, besides its terms and vectors.
type columns struct {
	ID, DocumentID, DocumentName string
	Ordinal                      int64
	Available                    bool
	Lot                          int64
}

// Verify implements engine.Verifier: it makes the columns of every row again of the chunk in
// it and compares them. Words are always read from the chunk, vectors are compared with
// nothing here; the server's own checksums guard its pages.
func (e *Engine) Verify(ctx context.Context, kb engine.KnowledgeBase, _ bool) (*engine.Integrity, error) {
	var found *engine.Integrity
	err := e.withBase(ctx, kb.Ref, func(b *base) error {
		found = &engine.Integrity{Engine: e.Name()}
		for last, n := "", verifyBatch; n == verifyBatch; {
			err := e.reading(ctx, func(ctx context.Context) (err error) {
				last, n, err = e.verifyPage(ctx, b, last, found)
				return err
			})
			if err != nil {
				return wrapUnlessReplaced(err, "verifying knowledge base %q", kb.ID)
			}
		}
		return nil
	})
	return found, err
}

// verifyPage compares the rows after an id, and returns the last id and their number.
func (e *Engine) verifyPage(
	ctx context.Context, b *base, after string, found *engine.Integrity,
) (last string, n int, err error) {
	rows, err := e.pool.Query(ctx, fmt.Sprintf(`SELECT id, document_id, document_name, ordinal, available,
		lot, metadata, body FROM %s WHERE id > $1 ORDER BY id LIMIT $2`, b.table.name), after, verifyBatch)
	if err != nil {
		return "", 0, err
	}
	var got columns
	var metadata, body []byte
	_, err = pgx.ForEachRow(rows, []any{
		&got.ID, &got.DocumentID, &got.DocumentName, &got.Ordinal, &got.Available, &got.Lot, &metadata, &body,
	}, func() error {
		last = got.ID
		n++
		if b.sound(&got, metadata, body) {
			found.Chunks++
			return nil
		}
		found.Damaged.Add(got.ID)
		found.All = append(found.All, got.ID)
		return nil
	})
	return last, n, err
}

// sound reports whether a row equals the one derived from its chunk.
func (b *base) sound(got *columns, metadata, body []byte) bool {
	c, err := b.kb.DecodeStored(body)
	if err != nil {
		return false
	}
	want := columns{c.ID, c.DocumentID, c.DocumentName, int64(c.Ordinal), c.Available, lotOf(c.ID)}
	filterable, err := engine.EncodeStored(c.Filterable())
	return err == nil && *got == want && sameJSON(metadata, filterable)
}

// lotOf places a chunk in the order of a fixed random sample.
func lotOf(id string) int64 {
	return int64(xxhash.Sum64String(id)) //nolint:gosec // any number will do
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
