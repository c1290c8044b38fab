package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/vector"
)

// read makes a snapshot, without its text indexes, of the table's rows, which the
// caller keeps from changing. It reads several parts at a time, since reading a row
// takes more processor than disk. A part has at least 1 << least rows.
func (b *base) read(ctx context.Context, least uint) (*snapshot, error) {
	db := b.engine.files.readers
	var generation int64
	err := db.QueryRowContext(ctx, "SELECT generation FROM knowledge_bases WHERE number = ?", b.table.number).
		Scan(&generation)
	if err != nil {
		return nil, err
	}
	first, last, err := b.table.bounds(ctx, db)
	if err != nil {
		return nil, err
	}
	cut := newSnapshot(b.dims()).partShift(first, last, least)
	parts := make([]*snapshot, last>>cut-first>>cut+1)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(loaders())
	for i := range parts {
		from := (first>>cut + uint64(i)) << cut
		group.Go(func() (err error) {
			parts[i], err = b.readPart(ctx, from, from+1<<cut)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	s := joined(b.dims(), parts)
	s.generation = generation
	return s, nil
}

// loaders is how many parts are read at a time. One connection stays free for searches
// of other knowledge bases.
func loaders() int { return min(runtime.GOMAXPROCS(0), readerCount-1) }

// leastPart is how many rows, as a power of two, are worth a part of their own.
const leastPart = 14

// partShift is the size of a part, as a power of two: no two parts share a page, and
// each loader gets some.
func (s *snapshot) partShift(first, last uint64, least uint) uint {
	shift := max(least, recordShift)
	for i := range s.vectors {
		shift = max(shift, s.vectors[i].shift)
	}
	for last>>shift-first>>shift >= uint64(8*loaders()) {
		shift++
	}
	return shift
}

func (b *base) readPart(ctx context.Context, from, to uint64) (*snapshot, error) {
	rows, err := b.engine.files.readers.QueryContext(ctx, "SELECT row, id, document_id, document_name, available, owner,"+
		" fields, octet_length(body)"+b.table.vectorColumns()+" FROM "+b.table.source()+
		" WHERE row >= ? AND row < ? ORDER BY row", from, to)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	s := newSnapshot(b.dims())
	var added []uint32
	reader := b.newRowReader()
	for rows.Next() {
		e, err := reader.scan(rows)
		if err != nil {
			return nil, err
		}
		s.take(e)
		added = append(added, e.row)
	}
	for i := range s.vectors {
		s.vectors[i].outline(s.vectors[i].present.ToArray())
	}
	if len(added) > 0 {
		s.segments = []*segment{newSegment(added, &s.records)}
	}
	return s, rows.Err()
}

// rowReader reads rows of the table as entries.
type rowReader struct {
	entry   entry
	fields  sql.RawBytes
	size    int
	blobs   []sql.RawBytes
	room    [][]float32 // for the vectors
	targets []any
}

func (b *base) newRowReader() *rowReader {
	r := &rowReader{
		entry: entry{vectors: make([][]float32, len(b.table.vectors))},
		blobs: make([]sql.RawBytes, len(b.table.vectors)),
	}
	e := &r.entry
	r.targets = []any{
		&e.row, &e.record.id, &e.record.documentID, &e.record.documentName, &e.record.available, &e.record.owner,
		&r.fields, &r.size,
	}
	for i := range r.blobs {
		r.targets = append(r.targets, &r.blobs[i])
		r.room = append(r.room, make([]float32, b.kb.Dimensions))
	}
	return r
}

// scan gives the next row, whose vectors are valid until the next call.
func (r *rowReader) scan(rows *sql.Rows) (*entry, error) {
	if err := rows.Scan(r.targets...); err != nil {
		return nil, err
	}
	e := &r.entry
	e.record.fields = nil
	if string(r.fields) != "{}" {
		var values map[string][]any
		if err := json.Unmarshal(r.fields, &values); err != nil {
			return nil, fault.Wrap(fault.Corrupt, err, "the stored fields of chunk %q", e.record.id)
		}
		e.record.fields = fieldsOf(values)
	}
	size := r.size + len(r.fields)
	for i, data := range r.blobs {
		e.vectors[i] = nil
		if v := r.room[i]; decodeVector(v, data) && vector.UnitInto(v, v) {
			e.vectors[i] = v
		}
		size += len(data)
	}
	e.record.bytes = uint32(size)
	return e, nil
}

// take adds a row above all others to a snapshot in the making; its segments are made
// later.
func (s *snapshot) take(e *entry) {
	s.records = s.records.with([]entry{*e})
	s.live.Add(e.row)
	if e.record.available {
		s.visible.Add(e.row)
	}
	s.bytes += int64(e.record.bytes)
	for i, unit := range e.vectors {
		if unit != nil {
			s.vectors[i].set(e.row, unit)
		}
	}
}

// joined combines parts that share no page, in ascending order of their rows.
func joined(dims []int, parts []*snapshot) *snapshot {
	s := newSnapshot(dims)
	var segments []*segment
	for _, p := range parts {
		s.live.Or(p.live)
		s.visible.Or(p.visible)
		s.bytes += p.bytes
		s.records.pages = overlay(s.records.pages, p.records.pages)
		for i := range s.vectors {
			s.vectors[i].pages = overlay(s.vectors[i].pages, p.vectors[i].pages)
			s.vectors[i].present.Or(p.vectors[i].present)
		}
		segments = append(segments, p.segments...)
	}
	s.segments = joinedSegments(segments)
	s.arrange()
	return s
}

// overlay puts the pages of more into their places.
func overlay[T any](pages, more []*T) []*T {
	for len(pages) < len(more) {
		pages = append(pages, nil)
	}
	for i, p := range more {
		if p != nil {
			pages[i] = p
		}
	}
	return pages
}
