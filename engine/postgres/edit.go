package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/engine"
)

// SelectChunks implements engine.Store.
func (e *Engine) SelectChunks(ctx context.Context, req engine.SelectRequest) ([]string, error) {
	w := &where{}
	w.and("id > %s", w.bind(known(req.After)))
	for i := range req.Conditions {
		w.condition(&req.Conditions[i])
	}
	limit := w.bind(max(req.Limit, 0))
	var ids []string
	err := e.withBase(ctx, req.KB.Ref, func(b *base) error {
		err := e.reading(ctx, func(ctx context.Context) error {
			rows, err := e.pool.Query(ctx,
				fmt.Sprintf("SELECT id FROM %s WHERE %s ORDER BY id LIMIT %s", b.table.name, w, limit), w.args...)
			if err != nil {
				return err
			}
			ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		return wrapUnlessReplaced(err, "selecting chunks of knowledge base %q", b.kb.ID)
	})
	return ids, err
}

// ChangeChunks implements engine.Store: the Edit is asked in the transaction that changes the chunks, whose lock
// keeps all others from writing to the knowledge base.
func (e *Engine) ChangeChunks(ctx context.Context, req engine.ChangeRequest) ([]engine.ChangeOutcome, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	return e.watched.Change(func() (outcomes []engine.ChangeOutcome, err error) {
		err = e.withBase(ctx, req.KB.Ref, func(b *base) error {
			c := newChange(b, nil, nil)
			c.edit = &req
			if err := e.apply(ctx, c); err != nil {
				return err
			}
			if outcomes = c.edited; req.Refresh {
				e.refresh(ctx, b)
			}
			return nil
		})
		return outcomes, err
	})
}

// decide determines, under the lock, the rows to store and remove: the results of an Edit, or the given chunks that
// may be written.
func (c *change) decide(ctx context.Context, tx pgx.Tx) error {
	switch {
	case c.edit != nil:
		return c.editAll(ctx, tx)
	case c.request == nil || c.request.Copy:
		return nil
	case c.request.Admit != nil:
		return c.admitWhole(ctx, tx)
	default:
		return c.admitNames(ctx, tx)
	}
}

// admitNames checks the documents of the chunks that would be replaced.
func (c *change) admitNames(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, "SELECT id, document_id FROM "+c.base.table.name+" WHERE id = ANY($1)", c.ids())
	if err != nil {
		return err
	}
	stored, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s engine.Chunk, err error) {
		err = row.Scan(&s.ID, &s.DocumentID)
		return s, err
	})
	if err != nil {
		return err
	}
	return c.admit(stored)
}

// admitWhole checks whole chunks, including those that would be removed with the document.
func (c *change) admitWhole(ctx context.Context, tx pgx.Tx) error {
	condition, args := "id = ANY($1)", []any{c.ids()}
	if c.document != nil {
		condition, args = condition+" OR document_id = $2", append(args, *c.document)
	}
	stored, err := c.read(ctx, tx, condition, args...)
	if err != nil {
		return err
	}
	return c.admit(stored)
}

// admit drops chunks that may not replace a stored one. If a document is replaced, the first of them is an error.
func (c *change) admit(stored []engine.Chunk) error {
	documents := make(map[string]string, len(c.put))
	for _, p := range c.put {
		documents[p.id] = p.documentID
	}
	refused := map[string]error{}
	for i := range stored {
		s := &stored[i]
		documentID, replaced := documents[s.ID]
		if !replaced {
			documentID = s.DocumentID
		}
		err := c.request.Admits(s, documentID)
		if err != nil && c.document != nil {
			return &engine.Refused{ID: s.ID, Err: err}
		}
		if err != nil {
			refused[s.ID] = err
		}
	}
	if len(refused) == 0 {
		return nil
	}
	for i := range c.outcomes {
		if o := &c.outcomes[i]; o.Err == nil && refused[o.ID] != nil {
			o.Status, o.Err = engine.Failed, refused[o.ID]
		}
	}
	c.put = slices.DeleteFunc(c.put, func(p *prepared) bool { return refused[p.id] != nil })
	return nil
}

// read returns whole chunks, in the order of their ids.
func (c *change) read(ctx context.Context, tx pgx.Tx, condition string, args ...any) ([]engine.Chunk, error) {
	rows, err := tx.Query(ctx,
		fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY id", c.base.wholeColumns(), c.base.table.name, condition), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, c.base.scanWhole)
}

// editAll applies the Edit to the chunks.
func (c *change) editAll(ctx context.Context, tx pgx.Tx) error {
	var ids []string
	for _, id := range c.edit.IDs {
		if storable(id) {
			ids = append(ids, id)
		}
	}
	stored, err := c.read(ctx, tx, "id = ANY($1)", ids)
	if err != nil {
		return err
	}
	places := make(map[string]int, len(stored))
	for i := range stored {
		places[stored[i].ID] = i
	}
	verdicts := make([]engine.Verdict, len(stored)) // final verdict of each
	c.edited = make([]engine.ChangeOutcome, len(c.edit.IDs))
	for i, id := range c.edit.IDs {
		o := &c.edited[i]
		at, found := places[id]
		if o.ID = id; !found || verdicts[at] == engine.Remove {
			o.Verdict = engine.Missing
			continue
		}
		changed := stored[at].Clone()
		if o.Verdict, o.Err = c.edit.Run(&changed); o.Err != nil {
			o.Verdict = engine.Keep
		}
		if o.Verdict != engine.Keep {
			stored[at], verdicts[at] = changed, o.Verdict
		}
	}
	c.planEdited(stored, verdicts)
	return nil
}

// planEdited plans the results of an Edit.
func (c *change) planEdited(stored []engine.Chunk, verdicts []engine.Verdict) {
	var removed []string
	var changed []engine.Chunk
	for i := range stored {
		switch verdicts[i] {
		case engine.Remove:
			removed = append(removed, stored[i].ID)
		case engine.Put:
			changed = append(changed, stored[i])
		case engine.Keep, engine.Missing:
		}
	}
	bad := map[string]error{}
	for _, p := range c.base.prepare(changed) {
		if p.err != nil {
			bad[p.id] = p.err
			continue
		}
		c.put = append(c.put, p)
	}
	for i := range c.edited {
		if o := &c.edited[i]; o.Verdict == engine.Put && bad[o.ID] != nil {
			o.Verdict, o.Err = engine.Keep, bad[o.ID]
		}
	}
	c.removeIDs(removed)
}
