package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/sqlite"
	"github.com/hybridge-search/hybridge/vector"
)

// load reads the knowledge base into memory. The caller holds mu.
func (b *base) load(ctx context.Context) error {
	begun := time.Now()
	tx, err := b.engine.files.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return sqlite.Fault(err, "loading knowledge base %q", b.kb.ID)
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	s, err := b.read(ctx, tx)
	if err != nil {
		return sqlite.Fault(err, "loading knowledge base %q", b.kb.ID)
	}
	b.indexes, b.unsaved = nil, 0
	for _, field := range b.texts {
		x, err := b.readIndex(ctx, tx, field, s.live)
		if err != nil {
			b.forget()
			return sqlite.Fault(err, "loading the BM25 index of knowledge base %q, field %s", b.kb.ID, field)
		}
		b.indexes = append(b.indexes, x)
	}
	s.texts = b.textSnapshots()
	b.current.Store(s)
	b.engine.log.Debug("knowledge base loaded", "tenant", b.kb.Tenant, "knowledge_base", b.kb.ID,
		"chunks", s.live.GetCardinality(), "took", time.Since(begun))
	b.changed(0)
	return nil
}

// loadRows is how many rows are read at a time: few enough for their second copy
// of the vectors to be small, enough for their segments to be merged seldom.
const loadRows = 1 << 16

// read makes a snapshot, without its text indexes, of the rows of the table.
func (b *base) read(ctx context.Context, tx *sql.Tx) (*snapshot, error) {
	var generation int64
	err := tx.QueryRowContext(ctx, "SELECT generation FROM knowledge_bases WHERE number = ?", b.table.number).
		Scan(&generation)
	if err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT row, id, document_id, document_name, available, owner, fields, length(body)"+
		b.table.vectorColumns()+" FROM "+b.table.name+" ORDER BY row")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	s := newSnapshot(b.dims())
	var entries []entry // with the vectors beside their place in the snapshot, so not all at a time
	for rows.Next() {
		e, err := b.scan(rows)
		if err != nil {
			return nil, err
		}
		if entries = append(entries, e); len(entries) == loadRows {
			s, entries = s.with(entries, nil, nil), entries[:0]
		}
	}
	s = s.with(entries, nil, nil)
	s.generation = generation
	return s, rows.Err()
}

func (b *base) scan(rows *sql.Rows) (entry, error) {
	var e entry
	var fields sql.RawBytes
	var size int
	r := &e.record
	blobs := make([]sql.RawBytes, len(b.table.vectors))
	targets := []any{&e.row, &r.id, &r.documentID, &r.documentName, &r.available, &r.owner, &fields, &size}
	for i := range blobs {
		targets = append(targets, &blobs[i])
	}
	if err := rows.Scan(targets...); err != nil {
		return e, err
	}
	var values map[string][]any
	if err := json.Unmarshal(fields, &values); err != nil {
		return e, fault.Wrap(fault.Corrupt, err, "the stored fields of chunk %q", r.id)
	}
	r.fields = fieldsOf(values)
	size += len(fields)
	for _, data := range blobs {
		e.vectors = append(e.vectors, vector.Unit(vectorFrom(data, b.kb.Dimensions)))
		size += len(data)
	}
	r.bytes = uint32(size)
	return e, nil
}

// readIndex gives the BM25 index of a field: the stored one brought up to date,
// or a new one when there is none that can be trusted.
func (b *base) readIndex(ctx context.Context, tx *sql.Tx, field string, live *roaring.Bitmap) (*bm25.Index, error) {
	options := bm25.Options{Fingerprint: b.engine.options.Tokenizer.Fingerprint()}
	if b.kb.BM25 == engine.BM25Okapi {
		options.Variant = bm25.Okapi
	}
	stored := func() (*bm25.Index, error) { return b.readStored(ctx, tx, field, options) }
	x, err := b.reconcile(ctx, tx, field, live, stored)
	if err == nil || ctx.Err() != nil {
		return x, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		b.repairs++
		b.engine.repairs.Add(1)
		b.engine.log.Warn("repaired: a stored BM25 index could not be used and is rebuilt from the chunks",
			"tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "field", field, "reason", err)
	}
	return b.reconcile(ctx, tx, field, live, func() (*bm25.Index, error) { return bm25.New(options), nil })
}

// readStored reads a stored index; one that knows rows that were never written is
// of another file of chunks, or of one that a power cut set back.
func (b *base) readStored(ctx context.Context, tx *sql.Tx, field string, o bm25.Options) (*bm25.Index, error) {
	data, err := b.engine.indexes.read(b.table.number, field)
	if err != nil {
		return nil, err
	}
	x, err := bm25.Read(data, o)
	if err != nil {
		return nil, err
	}
	last, err := b.table.lastRow(ctx, tx)
	if next := x.Snapshot().NextKey(); err == nil && next > last+1 {
		err = fault.New(fault.Conflict, "it holds rows up to %d, the chunks end at %d", next-1, last)
	}
	return x, err
}

// reconcile brings an index to exactly the live rows: those it lacks are
// tokenised and added, those that are gone are deleted.
func (b *base) reconcile(
	ctx context.Context, tx *sql.Tx, field string, live *roaring.Bitmap, open func() (*bm25.Index, error),
) (*bm25.Index, error) {
	x, err := open()
	if err != nil {
		return nil, err
	}
	keys := x.Snapshot().Keys()
	surplus, missing := roaring.AndNot(keys, live), roaring.AndNot(live, keys)
	if surplus.IsEmpty() && missing.IsEmpty() {
		return x, nil
	}
	b.unsaved += int(surplus.GetCardinality() + missing.GetCardinality())
	x.Delete(surplus.ToArray())
	if missing.IsEmpty() {
		return x, nil
	}
	b.engine.log.Info("a BM25 index is completed from the chunks", "tenant", b.kb.Tenant, "knowledge_base", b.kb.ID,
		"field", field, "added", missing.GetCardinality(), "removed", surplus.GetCardinality())
	return x, b.addMissing(ctx, tx, x, field, missing)
}

// portion is how many chunks are tokenised and added at a time.
const portion = 4096

func (b *base) addMissing(
	ctx context.Context, tx *sql.Tx, x *bm25.Index, field string, missing *roaring.Bitmap,
) error {
	rows, err := tx.QueryContext(ctx, "SELECT row, body FROM "+b.table.name+" WHERE row >= ? ORDER BY row",
		missing.Minimum())
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var texts []numbered
	for rows.Next() {
		text := numbered{}
		var body sql.RawBytes
		if err := rows.Scan(&text.row, &body); err != nil {
			return err
		}
		if !missing.Contains(text.row) {
			continue
		}
		chunk, err := b.decode(body)
		if err != nil {
			return err
		}
		text.text = chunk.FieldText(field)
		texts = append(texts, text)
		if len(texts) < portion {
			continue
		}
		if err := b.tokenise(x, texts); err != nil {
			return err
		}
		texts = texts[:0]
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return b.tokenise(x, texts)
}

// decode reads a chunk as the table keeps it.
func (b *base) decode(body []byte) (engine.Chunk, error) {
	var c engine.Chunk
	if err := json.Unmarshal(body, &c); err != nil {
		return c, fault.Wrap(fault.Corrupt, err, "a stored chunk of knowledge base %q", b.kb.ID)
	}
	if b.kb.Kind == engine.KindQA && c.QA == nil {
		c.QA = &engine.QA{}
	}
	return c, nil
}
