package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// damagedRow is an unreadable or corrupt row. Its id and document are set as far as they
// could be read.
type damagedRow struct {
	row          uint32
	id, document string
}

// findings reports the damage found while reading a table.
type findings struct {
	rows     int // read
	unsealed int // rows without checksum, of an older version
	bad      []damagedRow
}

func (f *findings) add(other *findings) {
	f.rows += other.rows
	f.unsealed += other.unsealed
	f.bad = append(f.bad, other.bad...)
}

// damage is the set of damaged rows of a knowledge base, which are excluded from everything. Rewriting or
// deleting such a chunk removes it. It is safe for concurrent use.
type damage struct {
	mu   sync.Mutex
	rows map[uint32]damagedRow
}

// note adds rows and returns the new ones.
func (d *damage) note(bad []damagedRow) (fresh []damagedRow) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rows == nil {
		d.rows = map[uint32]damagedRow{}
	}
	for _, r := range bad {
		if _, known := d.rows[r.row]; !known {
			d.rows[r.row] = r
			fresh = append(fresh, r)
		}
	}
	return fresh
}

func (d *damage) forget(rows []uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, row := range rows {
		delete(d.rows, row)
	}
}

func (d *damage) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.rows)
}

// all returns the rows, ascending.
func (d *damage) all() []damagedRow {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(maps.Values(d.rows), func(a, b damagedRow) int { return int(a.row) - int(b.row) })
}

// refuse returns an error if one of the chunks is damaged: it must not look as if it did
// not exist.
func (d *damage) refuse(kb string, ids []string) error {
	for _, r := range d.all() {
		if slices.Contains(ids, r.id) {
			return fault.New(fault.Corrupt, "chunk %q of knowledge base %q is damaged on engine embedded", r.id, kb)
		}
	}
	return nil
}

// settle identifies the damaged rows by the index of ids, which is stored separately, and
// adds rows hidden by a damaged page. The table must not change meanwhile. broken is the
// error of an unreadable index.
func (b *base) settle(ctx context.Context, s *snapshot, found *findings) (broken, err error) {
	n := 0
	err = b.engine.files.readers.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+b.table.ids()).Scan(&n)
	live := int(s.live.GetCardinality()) //nolint:gosec // at most 1 << 32
	if err == nil && n == live && len(found.bad) == 0 {
		return nil, nil
	}
	var named map[uint32]string
	if err == nil {
		named, err = b.idsOfRows(ctx)
	}
	if err != nil {
		if sqlite.Code(err) == sqlite.Corrupt {
			return err, nil
		}
		return nil, err
	}
	var bad []damagedRow
	for _, r := range found.bad {
		id, stands := named[r.row]
		if !stands || s.live.Contains(r.row) {
			continue // a corrupt page claims rows of another one
		}
		r.id = id
		bad = append(bad, r)
		delete(named, r.row)
	}
	for row, id := range named {
		if !s.live.Contains(row) {
			bad = append(bad, damagedRow{row: row, id: id})
		}
	}
	found.bad = bad
	if n < live {
		broken = fault.New(fault.Corrupt, "it has %d of %d rows", n, live)
	}
	return broken, nil
}

// idsOfRows reads the index of ids.
func (b *base) idsOfRows(ctx context.Context) (map[uint32]string, error) {
	rows, err := b.engine.files.readers.QueryContext(ctx, "SELECT row, id FROM "+b.table.ids())
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	all := map[uint32]string{}
	for rows.Next() {
		var row uint32
		var id string
		if err := rows.Scan(&row, &id); err == nil { // else the index is damaged there
			all[row] = id
		}
	}
	return all, rows.Err()
}

// logDamaged logs each damaged chunk once.
func (b *base) logDamaged(bad []damagedRow) {
	for _, r := range b.damage.note(bad) {
		b.engine.log.Error("a stored chunk is damaged and excluded from searches; hybridge kb check --repair takes it from "+
			"another engine, and writing it again replaces it",
			"tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "chunk", r.id, "row", r.row)
	}
}

// hide removes rows found damaged from memory. The caller holds mu.
func (b *base) hide(bad []damagedRow) {
	b.logDamaged(bad)
	s := b.current.Load()
	if s == nil {
		return // the next load finds them
	}
	var rows []uint32
	for _, r := range bad {
		if s.live.Contains(r.row) {
			rows = append(rows, r.row)
		}
	}
	if len(rows) == 0 {
		return
	}
	slices.Sort(rows)
	for _, x := range b.indexes {
		if err := x.Change(nil, rows); err != nil {
			b.forget()
			return
		}
	}
	next := s.with(nil, rows, b.textSnapshots())
	next.generation = s.generation // the data are unchanged
	b.current.Store(next)
	b.unsaved += len(rows)
}

// suspect rereads rows that a query found damaged, in the background: they may have been replaced meanwhile.
func (b *base) suspect(rows []uint32) {
	b.engine.background(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.gone {
			return
		}
		b.hide(b.stillDamaged(b.engine.life, rows))
	})
}

// stillDamaged returns the rows that still exist and are damaged. The caller holds mu.
func (b *base) stillDamaged(ctx context.Context, rows []uint32) []damagedRow {
	var found findings
	s := b.current.Load()
	for _, row := range rows {
		bad := len(found.bad)
		err := b.sweep(ctx, uint64(row), uint64(row)+1, func(*entry) {}, &found)
		if err != nil || len(found.bad) == bad || s == nil || !s.live.Contains(row) {
			found.bad = found.bad[:bad]
			continue
		}
		r := s.records.at(row) // from before the damage
		found.bad[bad] = damagedRow{row: row, id: r.id, document: r.documentID}
	}
	return found.bad
}

// Verify implements engine.Verifier: it reads every row of the file, and has SQLite look at the pages of the
// table and its indexes. With repair, damaged indexes are rebuilt, and rows of older versions get checksums.
func (e *Engine) Verify(ctx context.Context, kb engine.KnowledgeBase, repair bool) (*engine.Integrity, error) {
	b, s, err := e.snapshot(ctx, &kb)
	if err != nil {
		return nil, err
	}
	found, err := b.lookThrough(ctx)
	if err != nil {
		return nil, sqlite.Fault(err, "checking knowledge base %q", kb.ID)
	}
	out := &engine.Integrity{Engine: e.Name(), Chunks: int(s.live.GetCardinality()), Unsealed: found.unsealed}
	if out.Index, err = b.integrity(ctx); err != nil {
		return nil, sqlite.Fault(err, "checking knowledge base %q", kb.ID)
	}
	if repair && out.Index != "" {
		// Fails where a page of the table itself cannot be read; then the chunks come first.
		if _, err := e.files.writer.ExecContext(ctx, "REINDEX "+b.table.name); err == nil {
			out.Index, err = b.integrity(ctx)
			if err != nil {
				return nil, sqlite.Fault(err, "checking knowledge base %q", kb.ID)
			}
		}
	}
	if repair && out.Unsealed > 0 {
		if err := b.seal(ctx); err != nil {
			return nil, sqlite.Fault(err, "giving checksums to knowledge base %q", kb.ID)
		}
		out.Unsealed = 0
	}
	for _, r := range b.damage.all() {
		out.Damaged.Add(r.name())
		out.All = append(out.All, r.id)
	}
	return out, nil
}

// name is the chunk's id, or its row if the id is unknown.
func (r *damagedRow) name() string {
	if r.id != "" {
		return r.id
	}
	return fmt.Sprintf("row %d", r.row)
}

// lookThrough reads every row of the file, concurrently with writes, and hides damaged ones.
func (b *base) lookThrough(ctx context.Context) (*findings, error) {
	first, last, err := b.table.bounds(ctx, b.engine.files.readers)
	if err != nil {
		return nil, err
	}
	var found findings
	if err := b.sweep(ctx, first, last+1, func(*entry) {}, &found); err != nil {
		return nil, err
	}
	rows := make([]uint32, len(found.bad))
	for i, r := range found.bad {
		rows[i] = r.row
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hide(b.stillDamaged(ctx, rows))
	if s := b.current.Load(); s != nil {
		var hidden findings
		if _, err := b.settle(ctx, s, &hidden); err != nil {
			return nil, err
		}
		b.logDamaged(hidden.bad)
	}
	return &found, nil
}

// integrity asks SQLite about the pages of the table and of its indexes; "" when they are
// sound.
func (b *base) integrity(ctx context.Context) (string, error) {
	if !b.table.made.Load() {
		return "", nil
	}
	said := ""
	err := b.engine.files.readers.QueryRowContext(ctx, "PRAGMA integrity_check("+b.table.name+")").Scan(&said)
	switch {
	case sqlite.Code(err) == sqlite.Corrupt:
		return err.Error(), nil
	case err != nil || said == "ok":
		return "", err
	default:
		return said, nil
	}
}

// sealBatch is the number of rows that get a checksum in one transaction.
const sealBatch = 500

// seal adds missing checksums.
func (b *base) seal(ctx context.Context) error {
	for {
		n := 0
		b.mu.Lock()
		err := b.engine.files.write(ctx, func(tx *sql.Tx) (err error) {
			n, err = b.sealSome(ctx, tx)
			return err
		})
		b.mu.Unlock()
		if err != nil || n == 0 {
			return err
		}
	}
}

func (b *base) sealSome(ctx context.Context, tx *sql.Tx) (int, error) {
	sums, err := b.someUnsealed(ctx, tx)
	if err != nil {
		return 0, err
	}
	for row, sum := range sums {
		_, err := tx.ExecContext(ctx, "UPDATE "+b.table.name+" SET checksum = ? WHERE row = ?", int64(sum), row)
		if err != nil {
			return 0, err
		}
	}
	return len(sums), nil
}

// someUnsealed computes the checksums of a batch of rows that have none.
func (b *base) someUnsealed(ctx context.Context, tx *sql.Tx) (map[uint32]checksum, error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+b.table.columns()+" FROM "+b.table.source()+
		" WHERE checksum IS NULL ORDER BY row LIMIT ?", sealBatch)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	sums := map[uint32]checksum{}
	reader := b.newRowReader()
	for rows.Next() {
		if reader.scan(rows) == unsealed {
			sums[reader.columns.row] = reader.columns.checksum(&reader.room)
		}
	}
	return sums, rows.Err()
}

// Damaged is the number of chunks excluded because they are corrupt.
func (e *Engine) Damaged() int {
	n := 0
	for _, b := range e.sortedBases() {
		n += b.damage.count()
	}
	return n
}

// Troubles implements engine.Troubled.
func (e *Engine) Troubles() []engine.Trouble {
	var all []engine.Trouble
	if n := e.Damaged(); n > 0 {
		all = append(all, engine.Damaged(n))
	}
	if n := e.files.lost; n > 0 {
		all = append(all, engine.Lost(n))
	}
	if e.files.full.Load() {
		all = append(all, engine.Full(e.Name()))
	}
	return all
}
