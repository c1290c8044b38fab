package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// copier copies the rows of one table that lie behind the cursor into another shape.
type copier struct {
	*step
	from, to *base
	refit    *engine.Refit
}

func (s *step) copier(from, to *base) *copier {
	return &copier{s, from, to, engine.NewRefit(&from.kb, &to.kb)}
}

// copyPage is the number of chunks copied at a time, embedPage the same if they are embedded.
const (
	copyPage  = 1000
	embedPage = 64
)

func (c *copier) copying() *engine.Copying {
	return &engine.Copying{Migration: c.m, Page: c.page, Save: c.env.Save}
}

// copy copies as many chunks as exist at its start.
func (s *step) copy(ctx context.Context) error {
	n, err := s.old.count(ctx)
	if err != nil {
		return err
	}
	s.m.Progress.Total = int(n)
	return s.copier(s.old, s.new).copying().All(ctx)
}

// replay catches up with later writes and deletions.
func (s *step) replay(ctx context.Context) error { return s.copier(s.old, s.new).catchUp(ctx) }

func (c *copier) catchUp(ctx context.Context) error {
	if err := c.copying().Rest(ctx); err != nil {
		return err
	}
	return c.prune(ctx)
}

// page copies one page and moves the cursor, which is a row.
func (c *copier) page(ctx context.Context) (int, error) {
	after, err := c.cursor()
	if err != nil {
		return 0, err
	}
	limit := copyPage
	if len(c.refit.Made) > 0 {
		limit = embedPage
	}
	var last sql.NullInt64
	source := c.from.table.source()
	err = c.files.readers.QueryRowContext(ctx, "SELECT MAX(row) FROM (SELECT row FROM "+source+
		" WHERE row > ? ORDER BY row LIMIT ?)", after, c.m.Progress.PageLimit(limit)).Scan(&last)
	if err != nil || !last.Valid {
		return 0, err
	}
	read, err := c.from.wholeChunks(ctx, "SELECT "+c.from.table.columns()+" FROM "+source+
		" WHERE row > ? AND row <= ? ORDER BY row", after, last.Int64)
	if err != nil {
		return 0, err
	}
	if err := c.write(ctx, read); err != nil {
		return 0, err
	}
	c.m.Cursor = strconv.FormatInt(last.Int64, 10)
	return max(1, len(read)), nil // all may have been deleted meanwhile; there may be more
}

// cursor is the row up to which the other shape is complete.
func (s *step) cursor() (int64, error) {
	row, err := strconv.ParseInt(cmp.Or(s.m.Cursor, "0"), 10, 64)
	if err != nil {
		return 0, fault.Wrap(fault.Corrupt, err, "the cursor %q of a migration", s.m.Cursor)
	}
	return row, nil
}

// write puts chunks into the other shape.
func (c *copier) write(ctx context.Context, chunks []engine.Chunk) error {
	made, err := c.options.Embed.Refit(ctx, &c.from.kb, &c.to.kb, pointers(chunks))
	if err != nil {
		return err
	}
	all := &change{put: c.to.prepare(made), copied: true}
	for _, p := range all.put {
		if p.err != nil {
			return fault.Wrap(fault.Conflict, p.err, "chunk %q cannot be written in the new shape", p.record.id)
		}
	}
	return c.to.apply(ctx, all)
}

// prunePage is the number of chunks deleted at a time.
const prunePage = 1000

// prune deletes the chunks that the other table no longer has.
func (c *copier) prune(ctx context.Context) error {
	for {
		rows, err := c.files.readers.QueryContext(ctx, "SELECT id FROM "+c.to.table.source()+
			" AS made WHERE NOT EXISTS (SELECT 1 FROM "+c.from.table.source()+" AS origin WHERE origin.id = made.id) LIMIT ?",
			prunePage)
		if err != nil {
			return err
		}
		ids, err := texts(rows)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := c.to.apply(ctx, &change{ids: ids, copied: true}); err != nil {
			return err
		}
		if err := c.env.Save(ctx); err != nil {
			return err
		}
	}
}

// texts reads rows of one column.
func texts(rows *sql.Rows) ([]string, error) {
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// turn makes the new shape active.
func (s *step) turn(ctx context.Context) error {
	if s.m.Switched {
		return nil
	}
	return s.copier(s.old, s.new).turn(ctx)
}

// revert makes the old shape active again, after copying the writes since the switch.
func (s *step) revert(ctx context.Context) error {
	if !s.m.Switched {
		return nil
	}
	return s.copier(s.new, s.old).turn(ctx)
}

// turn does the last catch-up and points the knowledge base to the other shape, while writers
// wait. In memory the switch follows the commit, so a search sees either.
func (c *copier) turn(ctx context.Context) error {
	if err := c.catchUp(ctx); err != nil {
		return err
	}
	if _, err := c.to.ready(ctx); err != nil {
		return err
	}
	c.from.mu.Lock()
	defer c.from.mu.Unlock()
	if c.from.gone {
		return c.from.notFound()
	}
	err := c.copying().Pages(ctx, func(int) (bool, error) { return true, nil })
	if err == nil {
		err = c.prune(ctx)
	}
	if err == nil {
		err = c.compareCounts(ctx)
	}
	if err != nil {
		return err
	}
	return c.point(ctx)
}

func (c *copier) compareCounts(ctx context.Context) error {
	var want, found int64
	for b, n := range map[*base]*int64{c.from: &want, c.to: &found} {
		err := c.files.readers.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+b.table.source()).Scan(n)
		if err != nil {
			return err
		}
	}
	if found != want {
		return c.m.Miss("counts", "%s has %d chunks of %d", c.to.table.name, found, want)
	}
	c.m.Pass("counts", "%s has all %d chunks", c.to.table.name, want)
	return nil
}

// point makes the filled shape active, and stores the migration in the same transaction.
func (c *copier) point(ctx context.Context) error {
	definition, err := engine.EncodeStored(c.to.kb)
	if err != nil {
		return err
	}
	before := *c.m
	c.m.Switched = c.to.table.name == c.m.ToIndex
	err = c.files.write(ctx, func(tx *sql.Tx) error {
		ctx := context.WithoutCancel(ctx)
		last, err := c.to.table.lastRow(ctx, tx)
		if err != nil {
			return err
		}
		c.m.Cursor = strconv.FormatUint(last, 10) // later writes get higher rows
		_, err = tx.ExecContext(ctx, "UPDATE knowledge_bases SET number = ?, definition = ?, generation = generation + 1 "+
			"WHERE number = ?", c.to.table.number, string(definition), c.from.table.number)
		if err != nil {
			return err
		}
		return keepMigration(ctx, tx, c.m, nil)
	})
	if err != nil {
		*c.m = before
		return err
	}
	c.m.Revision[0]++
	c.to.moved.Store(false)
	c.exchange(c.from, c.to)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.others[c.m.Ref] = c.from
	return nil
}

// defaultSample is the number of chunks compared field by field.
const defaultSample = 200

// check compares a random sample of chunks. Chunks written or deleted since the last catch-up are excluded:
// the switch compares counts.
func (s *step) check(ctx context.Context) error {
	cursor, err := s.cursor()
	if err != nil {
		return err
	}
	n, upTo := cmp.Or(s.m.Plan.Options.Sample, defaultSample), strconv.FormatInt(cursor, 10)
	rows, err := s.files.readers.QueryContext(ctx, "SELECT id FROM "+s.old.table.source()+
		" WHERE row <= "+upTo+" ORDER BY random() LIMIT ?", n)
	if err != nil {
		return err
	}
	ids, err := texts(rows)
	if err != nil {
		return err
	}
	made, err := s.new.byID(ctx, ids, "")
	if err != nil {
		return err
	}
	origin, err := s.old.byID(ctx, ids, " AND row <= "+upTo) // excludes later writes
	if err != nil {
		return err
	}
	refit := engine.NewRefit(&s.old.kb, &s.new.kb)
	differing := 0
	for id, was := range origin {
		is := made[id]
		was.Vectors, is.Vectors = refit.Keep(was.Vectors), refit.Keep(is.Vectors)
		if !reflect.DeepEqual(was, is) {
			differing++
		}
	}
	if differing > 0 {
		return s.m.Miss("samples", "%d of %d chunks differ", differing, len(origin))
	}
	s.m.Pass("samples", "%d chunks are alike", len(origin))
	return nil
}

// byID reads chunks by id with their vectors; and is an additional SQL condition.
func (b *base) byID(ctx context.Context, ids []string, and string) (map[string]engine.Chunk, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	read, err := b.wholeChunks(ctx, "SELECT "+b.table.columns()+" FROM "+b.table.source()+
		" WHERE id IN (SELECT value FROM json_each(?))"+and, string(list))
	if err != nil {
		return nil, sqlite.Fault(err, "reading chunks of knowledge base %q", b.kb.ID)
	}
	all := make(map[string]engine.Chunk, len(read))
	for _, chunk := range read {
		all[chunk.ID] = chunk
	}
	return all, nil
}
