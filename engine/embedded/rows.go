package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/lib/sqlite"
	"github.com/hybridge-search/hybridge/lib/vector"
)

// read makes a snapshot, without its text indexes, of the table's rows, which the
// caller keeps from changing. It reads several parts at a time, since reading a row
// takes more processor than disk. A part has at least 1 << least rows.
func (b *base) read(ctx context.Context, least uint) (*snapshot, *findings, error) {
	db := b.engine.files.readers
	var generation int64
	// An inactive shape has no catalog row.
	err := db.QueryRowContext(ctx, "SELECT COALESCE((SELECT generation FROM knowledge_bases WHERE number = ?), 0)",
		b.table.number).Scan(&generation)
	if err != nil {
		return nil, nil, err
	}
	first, last, err := b.table.bounds(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	cut := newSnapshot(b.dims()).partShift(first, last, least)
	parts := make([]*part, last>>cut-first>>cut+1)
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
		return nil, nil, err
	}
	s, found := joined(b.dims(), parts)
	s.generation = generation
	return s, found, nil
}

// loaders is the number of parts read at a time. One connection stays free for searches of
// other knowledge bases.
func loaders() int { return min(runtime.GOMAXPROCS(0), readerCount-1) }

// leastPart is the smallest part, in rows as a power of two.
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

// part is a part of a snapshot being built.
type part struct {
	*snapshot
	added []uint32
	found findings
}

func (b *base) readPart(ctx context.Context, from, to uint64) (*part, error) {
	p := &part{snapshot: newSnapshot(b.dims())}
	err := b.sweep(ctx, from, to, func(e *entry) {
		p.take(e)
		p.added = append(p.added, e.row)
	}, &p.found)
	if err != nil {
		return nil, err
	}
	for i := range p.vectors {
		p.vectors[i].outline(p.vectors[i].present.ToArray())
	}
	if len(p.added) > 0 {
		p.segments = []*segment{newSegment(p.added, &p.records)}
	}
	return p, nil
}

// sweep reads the rows of a range, ascending, and skips damaged ones: take gets each sound
// row, valid until the next.
func (b *base) sweep(ctx context.Context, from, to uint64, take func(*entry), found *findings) error {
	next, err := b.sweepUntilUnreadable(ctx, from, to, take, found)
	switch {
	case err == nil:
		return nil
	case sqlite.Code(err) != sqlite.Corrupt:
		return err
	case next >= to:
		return nil
	case next+1 == to:
		found.bad = append(found.bad, damagedRow{row: uint32(next)})
		return nil
	}
	// A damaged page lies somewhere in the rest.
	middle := next + (to-next)/2
	if err := b.sweep(ctx, next, middle, take, found); err != nil {
		return err
	}
	return b.sweep(ctx, middle, to, take, found)
}

// sweepUntilUnreadable is sweep up to the first row, next, that SQLite cannot read.
func (b *base) sweepUntilUnreadable(
	ctx context.Context, from, to uint64, take func(*entry), found *findings,
) (next uint64, err error) {
	rows, err := b.engine.files.readers.QueryContext(ctx, "SELECT "+b.table.columns()+" FROM "+b.table.source()+
		" WHERE row >= ? AND row < ? ORDER BY row", from, to)
	if err != nil {
		return from, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	next = from
	reader := b.newRowReader()
	for rows.Next() {
		state := reader.scan(rows)
		row := uint64(reader.columns.row)
		if row < next || row >= to {
			continue // of a page in the wrong place; the index of ids knows which are missing
		}
		next = row + 1
		found.rows++
		switch state {
		case damaged:
			found.bad = append(found.bad, reader.damaged())
			continue
		case unsealed:
			found.unsealed++
		case sound:
		}
		take(reader.entry())
	}
	return next, rows.Err()
}

// rowReader reads rows of the table.
type rowReader struct {
	columns columns
	row     integer
	sum     integer
	fields  sql.RawBytes
	body    sql.RawBytes
	raw     []sql.RawBytes // vectors
	targets []any
	values  map[string][]any // fields

	made    entry
	vectors [][]float32 // room
	room    []byte
}

func (b *base) newRowReader() *rowReader {
	n := len(b.table.vectors)
	r := &rowReader{raw: make([]sql.RawBytes, n), made: entry{vectors: make([][]float32, n)}}
	c := &r.columns
	c.blobs = make([][]byte, n)
	r.targets = []any{
		&r.row, &r.sum, &c.record.id, &c.record.documentID, &c.record.documentName, &c.ordinal,
		&c.record.available, &c.record.owner, &r.fields, &r.body,
	}
	for i := range r.raw {
		r.targets = append(r.targets, &r.raw[i])
		r.vectors = append(r.vectors, make([]float32, b.kb.Dimensions))
	}
	return r
}

// A row is sound, damaged, or of a version without checksums.
type rowState int

const (
	sound rowState = iota
	unsealed
	damaged
)

// scan reads the next row, valid until the next call.
func (r *rowReader) scan(rows *sql.Rows) rowState {
	r.columns.record, r.values = record{}, nil
	if err := rows.Scan(r.targets...); err != nil {
		return damaged // a value of a wrong type
	}
	c := &r.columns
	c.row, c.fields, c.body = uint32(r.row.value), r.fields, r.body
	for i := range r.raw {
		c.blobs[i] = r.raw[i]
	}
	if r.sum.there && checksum(r.sum.value) != c.checksum(&r.room) {
		return damaged
	}
	if string(c.fields) != "{}" {
		if err := json.Unmarshal(c.fields, &r.values); err != nil {
			return damaged
		}
	}
	if !r.sum.there {
		return unsealed
	}
	return sound
}

// damaged describes a corrupt row.
func (r *rowReader) damaged() damagedRow {
	return damagedRow{row: r.columns.row, id: r.columns.record.id, document: r.columns.record.documentID}
}

// entry returns the row as kept in memory.
func (r *rowReader) entry() *entry {
	c, e := &r.columns, &r.made
	e.row, e.record = c.row, c.record
	e.record.fields = fieldsOf(r.values)
	size := len(c.body) + len(c.fields)
	for i, data := range c.blobs {
		e.vectors[i] = nil
		if v := r.vectors[i]; decodeVector(v, data) && vector.UnitInto(v, v) {
			e.vectors[i] = v
		}
		size += len(data)
	}
	e.record.bytes = uint32(size)
	return e
}

// take adds a row above all others to a snapshot being built; its segments are built later.
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
func joined(dims []int, parts []*part) (*snapshot, *findings) {
	s, found := newSnapshot(dims), &findings{}
	var segments []*segment
	for _, p := range parts {
		found.add(&p.found)
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
	return s, found
}

// overlay copies the pages of more into pages.
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
