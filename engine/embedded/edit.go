package embedded

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// SelectChunks implements engine.Store.
func (e *Engine) SelectChunks(ctx context.Context, req engine.SelectRequest) ([]string, error) {
	return reading(e, req.KB.Ref, func(b *base) ([]string, error) {
		s, err := b.settled(ctx)
		if err != nil {
			return nil, err
		}
		return s.selected(&req), nil
	})
}

// settled returns the snapshot after any write in progress, which can be read from the file slightly earlier: a chunk
// that was read is found.
func (b *base) settled(ctx context.Context) (*snapshot, error) {
	b.mu.Lock()
	s := b.current.Load()
	b.mu.Unlock()
	if s != nil {
		return s, nil
	}
	return b.ready(ctx)
}

// selected returns the first matching ids after req.After.
func (s *snapshot) selected(req *engine.SelectRequest) []string {
	rows := s.live.Clone()
	for i := range req.Conditions {
		restrict(rows, s.holding(&req.Conditions[i]), req.Conditions[i].Not)
	}
	var ids []string
	cut := func() {
		slices.Sort(ids)
		ids = ids[:min(len(ids), req.Limit)]
	}
	for all := rows.Iterator(); all.HasNext(); {
		id := s.records.at(all.Next()).id
		if strings.Compare(id, req.After) <= 0 {
			continue
		}
		if ids = append(ids, id); len(ids) > 2*req.Limit {
			cut()
		}
	}
	cut()
	return ids
}

// ChangeChunks implements engine.Store: the Edit runs while nothing else is written to the knowledge base.
func (e *Engine) ChangeChunks(ctx context.Context, req engine.ChangeRequest) ([]engine.ChangeOutcome, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	return e.watched.Change(func() ([]engine.ChangeOutcome, error) {
		c, err := e.change(ctx, req.KB.Ref, func(*base) (*change, error) { return &change{edit: &req}, nil })
		if err != nil {
			return nil, err
		}
		return c.edited, nil
	})
}

// look reads the chunks needed to plan a change, and refuses a change that could only be half applied.
func (b *batch) look(ctx context.Context, c *change) error {
	var ids []string
	switch {
	case c.edit != nil:
		ids = c.edit.IDs
	case c.request == nil:
		return nil
	case c.request.Admit != nil:
		for _, p := range c.put {
			ids = append(ids, p.record.id)
		}
	}
	var rows []uint32
	for _, id := range ids {
		if row, found := b.snapshot.row(id); found {
			rows = append(rows, row)
		}
	}
	if c.replace != nil && c.request.Admit != nil {
		rows = append(rows, b.snapshot.rowsOf(*c.replace)...)
	}
	if err := b.load(ctx, rows); err != nil || c.replace == nil {
		return err
	}
	return b.refuse(c)
}

// load reads rows that were not read yet.
func (b *batch) load(ctx context.Context, rows []uint32) error {
	rows = slices.DeleteFunc(rows, func(row uint32) bool { return b.read[row] != nil || b.removed.Contains(row) })
	if len(rows) == 0 {
		return nil
	}
	list, err := json.Marshal(rows)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the numbers of rows")
	}
	table := b.base.table
	statement := "SELECT " + table.columns() + " FROM " + table.source() + " WHERE row "
	chunks, err := b.base.wholeChunks(ctx, statement+"IN (SELECT value FROM json_each(?))", string(list))
	if sqlite.Code(err) == sqlite.Corrupt { // read the readable ones one by one
		chunks, err = nil, nil
		for _, row := range rows {
			some, bad := b.base.wholeChunks(ctx, statement+"= ?", row)
			if bad != nil && sqlite.Code(bad) != sqlite.Corrupt {
				err = bad
				break
			}
			chunks = append(chunks, some...)
		}
	}
	if err != nil {
		return sqlite.Fault(err, "reading chunks of knowledge base %q", b.base.kb.ID)
	}
	for i := range chunks {
		if row, found := b.snapshot.row(chunks[i].ID); found {
			b.read[row] = &chunks[i]
		}
	}
	return nil
}

// refuse returns the error of the first chunk that prevents the replacement of a document.
func (b *batch) refuse(c *change) error {
	kept := map[string]string{} // the documents of ids
	for _, p := range c.put {
		err := b.admits(c, p)
		if document, again := kept[p.record.id]; err == nil && again {
			err = c.request.Admits(&engine.Chunk{ID: p.record.id, DocumentID: document}, p.record.documentID)
		}
		if err != nil {
			return &engine.Refused{ID: p.record.id, Err: err}
		}
		kept[p.record.id] = p.record.documentID
	}
	if c.request.Admit == nil {
		return nil
	}
	for _, row := range b.snapshot.rowsOf(*c.replace) {
		stored := b.read[row]
		if stored == nil || b.removed.Contains(row) {
			continue
		}
		if err := c.request.Admit(stored); err != nil {
			return &engine.Refused{ID: stored.ID, Err: err}
		}
	}
	return nil
}

// admits says whether a chunk may be stored.
func (b *batch) admits(c *change, p *prepared) error {
	if p.err != nil || c.request == nil {
		return p.err
	}
	stored, err := b.stored(p.record.id, c.request.Admit != nil)
	if err != nil || stored == nil {
		return err
	}
	return c.request.Admits(stored, p.record.documentID)
}

// stored returns the chunk of an id after the earlier changes of the batch, nil if there is none: whole, or only its
// id and document.
func (b *batch) stored(id string, whole bool) (*engine.Chunk, error) {
	if i, planned := b.byID[id]; planned {
		if !whole {
			return &engine.Chunk{ID: id, DocumentID: b.put[i].record.documentID}, nil
		}
		c, err := b.base.wholeChunk(&b.put[i].stored)
		return &c, err
	}
	if row, found := b.snapshot.row(id); found && !b.removed.Contains(row) {
		switch {
		case !whole:
			return &engine.Chunk{ID: id, DocumentID: b.snapshot.records.at(row).documentID}, nil
		case b.read[row] == nil:
			return nil, b.unreadable(id)
		}
		c := b.read[row].Clone()
		return &c, nil
	}
	for i := range b.damaged {
		if r := &b.damaged[i]; r.id == id && whole {
			return nil, b.unreadable(id)
		} else if r.id == id && r.document != "" {
			return &engine.Chunk{ID: id, DocumentID: r.document}, nil
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

func (b *batch) unreadable(id string) error {
	return fault.New(fault.Corrupt, "chunk %q of knowledge base %q is damaged on engine embedded", id, b.base.kb.ID)
}

// editAll plans the results of an Edit.
func (b *batch) editAll(c *change) {
	c.edited = make([]engine.ChangeOutcome, len(c.edit.IDs))
	var changed []*engine.Chunk
	var places []int
	for i, id := range c.edit.IDs {
		o := &c.edited[i]
		o.ID = id
		if slices.Contains(c.edit.IDs[:i], id) { // it sees the earlier edit
			b.storeEdited(c, changed, places)
			changed, places = nil, nil
		}
		stored, err := b.stored(id, true)
		switch {
		case err != nil:
			o.Err = err
			continue
		case stored == nil:
			o.Verdict = engine.Missing
			continue
		}
		switch o.Verdict, o.Err = c.edit.Run(stored); {
		case o.Err != nil:
			o.Verdict = engine.Keep
		case o.Verdict == engine.Remove:
			b.drop(id)
		case o.Verdict == engine.Put:
			changed, places = append(changed, stored), append(places, i)
		}
	}
	b.storeEdited(c, changed, places)
}

// storeEdited plans changed chunks; places are the indexes of their outcomes.
func (b *batch) storeEdited(c *change, changed []*engine.Chunk, places []int) {
	for i, p := range b.base.prepare(changed) {
		o := &c.edited[places[i]]
		if p.err != nil {
			o.Verdict, o.Err = engine.Keep, p.err
			continue
		}
		b.store(p)
	}
}
