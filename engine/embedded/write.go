package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// Write implements engine.Store. What it acknowledges is committed to the file
// and visible, with or without Refresh.
func (e *Engine) Write(ctx context.Context, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
	return e.watched.Write("write", func() ([]engine.WriteOutcome, error) { return e.put(ctx, req, nil) })
}

// ReplaceDocument implements engine.Store: a search sees all old chunks of the
// document or all new ones.
func (e *Engine) ReplaceDocument(
	ctx context.Context, documentID string, req engine.WriteRequest,
) ([]engine.WriteOutcome, error) {
	return e.watched.Write("replace", func() ([]engine.WriteOutcome, error) {
		return e.put(ctx, req, &documentID)
	})
}

func (e *Engine) put(ctx context.Context, req engine.WriteRequest, replace *string) ([]engine.WriteOutcome, error) {
	c, err := e.change(ctx, req.KB.Ref, func(b *base) (*change, error) {
		chunks, err := e.options.Embed.RefitWritten(ctx, &req, &b.kb)
		return &change{put: b.prepare(pointers(chunks)), replace: replace, request: &req}, err
	})
	if err != nil {
		return nil, err
	}
	return c.outcomes, nil
}

// change plans and runs a change on the current shape, and retries if the shape has just been switched.
func (e *Engine) change(ctx context.Context, ref engine.Ref, plan func(*base) (*change, error)) (*change, error) {
	for {
		b, err := e.base(ref)
		if err != nil {
			return nil, err
		}
		c, err := plan(b)
		if err != nil {
			return nil, err
		}
		if err := b.apply(ctx, c); !errors.Is(err, errMoved) {
			return c, err
		}
	}
}

func pointers(chunks []engine.Chunk) []*engine.Chunk {
	all := make([]*engine.Chunk, len(chunks))
	for i := range chunks {
		all[i] = &chunks[i]
	}
	return all
}

// DeleteDocument implements engine.Store.
func (e *Engine) DeleteDocument(ctx context.Context, kb engine.KnowledgeBase, documentID string) (int, error) {
	return e.watched.Delete(func() (int, error) {
		return e.remove(ctx, kb.Ref, change{document: &documentID})
	})
}

// DeleteChunks implements engine.Store.
func (e *Engine) DeleteChunks(ctx context.Context, kb engine.KnowledgeBase, ids []string) (int, error) {
	return e.watched.Delete(func() (int, error) { return e.remove(ctx, kb.Ref, change{ids: ids}) })
}

func (e *Engine) remove(ctx context.Context, ref engine.Ref, what change) (int, error) {
	c, err := e.change(ctx, ref, func(*base) (*change, error) {
		again := what
		return &again, nil
	})
	if err != nil {
		return 0, err
	}
	return c.deleted, nil
}

// maxGroup bounds the chunks that one transaction takes from several callers.
const maxGroup = 4096

// apply runs a change. Callers that arrive during a commit wait, and the first of them
// commits for all: one transaction, one snapshot.
func (b *base) apply(ctx context.Context, c *change) error {
	if _, err := b.ready(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return sqlite.Fault(err, "writing to knowledge base %q", b.kb.ID)
	}
	c.done = make(chan struct{})
	b.queue.Lock()
	b.queue.waiting = append(b.queue.waiting, c)
	b.queue.Unlock()

	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		select {
		case <-c.done:
			return cmp.Or(c.err, c.refused)
		default:
			b.runGroup(b.nextGroup())
		}
	}
}

// nextGroup takes waiting changes off the queue, in order.
func (b *base) nextGroup() []*change {
	b.queue.Lock()
	defer b.queue.Unlock()
	chunks, n := 0, 0
	for n < len(b.queue.waiting) && (n == 0 || chunks+len(b.queue.waiting[n].put) <= maxGroup) {
		chunks += len(b.queue.waiting[n].put)
		n++
	}
	group := b.queue.waiting[:n:n]
	b.queue.waiting = b.queue.waiting[n:]
	return group
}

// runGroup commits and publishes changes. If that fails each is tried alone, so that one
// caller's bad change does not fail the others.
func (b *base) runGroup(group []*change) {
	err := b.commit(group)
	for _, c := range group {
		c.err = err
		if err != nil && len(group) > 1 {
			c.reset()
			c.err = b.commit([]*change{c})
		}
		close(c.done)
	}
}

func (b *base) commit(group []*change) error {
	switch {
	case b.gone:
		return b.notFound()
	case b.moved.Load() && slices.ContainsFunc(group, func(c *change) bool { return !c.copied }):
		return errMoved
	}
	ctx := context.Background()
	s := b.current.Load()
	if s == nil {
		if err := b.load(b.engine.life); err != nil {
			return err
		}
		s = b.current.Load()
	}
	plan := newBatch(b, s)
	for _, c := range group {
		plan.add(ctx, c)
	}
	put, removed := plan.chunks(), plan.removed.ToArray()
	if len(put) == 0 && len(removed) == 0 && len(plan.spoilt) == 0 {
		return nil
	}
	err := b.engine.files.write(ctx, func(tx *sql.Tx) error {
		return b.store(ctx, tx, put, append(removed[:len(removed):len(removed)], plan.spoilt...))
	})
	if err != nil {
		return err // nothing was changed, in memory or in the file
	}
	b.damage.forget(plan.spoilt)
	if err := b.index(put, removed); err != nil {
		b.engine.log.Warn("BM25 index not updated; it is read from the file again",
			"tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "error", err)
		b.forget()
		return nil
	}
	b.table.made.Store(true)
	entries := make([]entry, len(put))
	for i, p := range put {
		entries[i] = p.entry
	}
	b.merge()
	b.current.Store(s.with(entries, removed, b.textSnapshots()))
	b.changed(len(put) + len(removed))
	return nil
}

func (b *base) store(ctx context.Context, tx *sql.Tx, put []*prepared, removed []uint32) error {
	if !b.table.made.Load() {
		if err := b.table.create(ctx, tx); err != nil {
			return err
		}
	}
	if err := b.table.remove(ctx, tx, removed); err != nil {
		return err
	}
	if err := b.table.insert(ctx, tx, put); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx,
		"UPDATE knowledge_bases SET generation = generation + 1 WHERE number = ?", b.table.number)
	return err
}

// index updates the BM25 indexes; searches see them with the next snapshot.
func (b *base) index(put []*prepared, removed []uint32) error {
	for i, x := range b.indexes {
		docs := make([]bm25.Doc, len(put))
		for j, p := range put {
			docs[j] = bm25.Doc{Key: p.row, Tokens: p.tokens[i]}
		}
		if err := x.Change(docs, removed); err != nil {
			return err
		}
	}
	return nil
}

// merge merges segments of the BM25 indexes, concurrently with writes to other knowledge bases.
func (b *base) merge() {
	for _, x := range b.indexes {
		x.Merge()
	}
}

// change is one caller's write, applied atomically.
type change struct {
	put      []*prepared
	replace  *string // a document whose chunks are removed except those in put
	document *string // a document to delete
	ids      []string
	edit     *engine.ChangeRequest
	copied   bool // by a migration, from the shape in use
	// request restricts what put may replace; nil: anything.
	request *engine.WriteRequest

	outcomes []engine.WriteOutcome // of put
	edited   []engine.ChangeOutcome
	deleted  int
	refused  error // why nothing was done
	err      error
	done     chan struct{}
}

// reset prepares a change to be planned again.
func (c *change) reset() { c.outcomes, c.edited, c.deleted, c.refused = nil, nil, 0, nil }

// batch plans the changes of several callers as one: the rows to delete and the chunks to
// insert, in order. It reads the snapshot and changes nothing.
type batch struct {
	base     *base
	snapshot *snapshot
	read     map[uint32]*engine.Chunk // chunks read while planning, by row
	damaged  []damagedRow
	spoilt   []uint32    // the damaged rows to delete
	put      []*prepared // nil if a later change replaced or removed it
	byID     map[string]int
	removed  *roaring.Bitmap
}

func newBatch(of *base, s *snapshot) *batch {
	return &batch{
		base: of, snapshot: s, read: map[uint32]*engine.Chunk{}, damaged: of.damage.all(),
		byID: map[string]int{}, removed: roaring.New(),
	}
}

// add plans one more change, or nothing if it is refused.
func (b *batch) add(ctx context.Context, c *change) {
	if c.refused = b.look(ctx, c); c.refused != nil {
		return
	}
	if c.edit != nil {
		b.editAll(c)
		return
	}
	for _, p := range c.put {
		c.outcomes = append(c.outcomes, b.write(c, p))
	}
	if c.replace != nil {
		b.clearDocument(*c.replace, c.put)
	}
	if c.document != nil {
		c.deleted += b.clearDocument(*c.document, nil)
	}
	for _, id := range c.ids {
		if b.drop(id) {
			c.deleted++
		}
	}
}

func (b *batch) write(c *change, p *prepared) engine.WriteOutcome {
	outcome := engine.WriteOutcome{ID: p.record.id, Status: engine.Created}
	if err := b.admits(c, p); err != nil {
		outcome.Status, outcome.Err = engine.Failed, err
		return outcome
	}
	if b.store(p) {
		outcome.Status = engine.Updated
	}
	return outcome
}

// store plans to insert or replace a chunk; false if it is new.
func (b *batch) store(p *prepared) (replaced bool) {
	replaced = b.drop(p.record.id)
	b.byID[p.record.id] = len(b.put)
	b.put = append(b.put, p)
	return replaced
}

// drop plans to remove a chunk; false if there is none.
func (b *batch) drop(id string) bool {
	if i, planned := b.byID[id]; planned {
		b.put[i] = nil
		delete(b.byID, id)
		return true
	}
	if row, found := b.snapshot.row(id); found {
		return b.removed.CheckedAdd(row)
	}
	return b.dropDamaged(func(r *damagedRow) bool { return r.id == id }) > 0
}

// dropDamaged plans to remove damaged rows.
func (b *batch) dropDamaged(is func(*damagedRow) bool) int {
	before := len(b.spoilt)
	b.damaged = slices.DeleteFunc(b.damaged, func(r damagedRow) bool {
		if is(&r) {
			b.spoilt = append(b.spoilt, r.row)
			return true
		}
		return false
	})
	return len(b.spoilt) - before
}

// clearDocument removes a document's chunks except those just put.
func (b *batch) clearDocument(documentID string, except []*prepared) int {
	n := b.dropDamaged(func(r *damagedRow) bool { return r.document == documentID })
	for _, row := range b.snapshot.rowsOf(documentID) {
		if b.removed.CheckedAdd(row) {
			n++
		}
	}
	for id, i := range b.byID {
		p := b.put[i]
		if p.record.documentID == documentID && !slices.Contains(except, p) {
			b.put[i] = nil
			delete(b.byID, id)
			n++
		}
	}
	return n
}

// chunks returns the chunks to insert, in order.
func (b *batch) chunks() []*prepared {
	return slices.DeleteFunc(b.put, func(p *prepared) bool { return p == nil })
}
