package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/cespare/xxhash/v2"
	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/engine"
)

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
