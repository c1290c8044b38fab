package mirror

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

const (
	debtsAtOnce  = 2000 // read from the outbox in one go
	chunksAtOnce = 200  // copied in one go: with 4,096 dimensions 3 MB of vectors
)

// makeUp pays what is due. Debts of one knowledge base, engine and source go
// together; one group that fails does not stand in the way of the others.
func (m *Mirror) makeUp(ctx context.Context) error {
	due, err := m.outbox.due(ctx, time.Now(), debtsAtOnce)
	if err != nil {
		return err
	}
	return m.pay(ctx, due)
}

func (m *Mirror) pay(ctx context.Context, due []debt) error {
	var all []error
	for len(due) > 0 {
		n := 1
		for n < len(due) && n < chunksAtOnce && due[n].together(&due[0]) {
			n++
		}
		all = append(all, m.payGroup(ctx, due[:n]))
		due = due[n:]
	}
	return errors.Join(all...)
}

func (d *debt) together(other *debt) bool {
	return d.ref == other.ref && d.engine == other.engine && d.source == other.source && d.kind == other.kind
}

// payGroup copies and notes the outcome. The error is the outbox's.
func (m *Mirror) payGroup(ctx context.Context, group []debt) error {
	if c := (&copier{from: m.engines[group[0].source], to: m.engines[group[0].engine]}); c.from != nil && c.to != nil {
		if err := c.reachable(ctx); err != nil {
			return m.postponeAll(ctx, group, err)
		}
	}
	release, err := m.lock(ctx, group[0].ref)
	if err != nil {
		return err
	}
	defer release()
	// A write that was under way may have settled them, or turned them round.
	group, err = m.outbox.standing(ctx, group)
	if err != nil || len(group) == 0 {
		return err
	}
	switch is, err := m.outbox.overtaken(ctx, group); {
	case err != nil:
		return err
	case is:
		return m.postponeAll(ctx, group, errOvertaken)
	}
	failed, err := m.copyGroup(ctx, group)
	if ctx.Err() != nil {
		return nil // interrupted, not failed: it stays due
	}
	if to := m.engines[group[0].engine]; to != nil {
		m.note(to, err)
	}
	var all []error
	for i := range group {
		d := &group[i]
		why := err
		if why == nil {
			why = failed[d.id]
		}
		if why == nil {
			all = append(all, m.outbox.paid(ctx, d))
			continue
		}
		all = append(all, m.outbox.postpone(ctx, d, time.Now().Add(m.wait(d.attempts)), detail(why)))
	}
	return errors.Join(all...)
}

var errOvertaken = fault.New(fault.Conflict, "it waits for what was written later")

// postponeAll notes that a group cannot be tried.
func (m *Mirror) postponeAll(ctx context.Context, group []debt, why error) error {
	if ctx.Err() != nil {
		return nil // interrupted, not failed: it stays due
	}
	var all []error
	for i := range group {
		d := &group[i]
		all = append(all, m.outbox.postpone(ctx, d, time.Now().Add(m.wait(d.attempts)), detail(why)))
	}
	return errors.Join(all...)
}

// copyGroup makes the engine of the debts like their source; failed has the ids
// that were refused.
func (m *Mirror) copyGroup(ctx context.Context, group []debt) (failed map[string]error, err error) {
	c, err := m.copier(ctx, &group[0])
	if err != nil || c == nil {
		return nil, err
	}
	var ids []string
	for i := range group {
		if group[i].kind == oneChunk {
			ids = append(ids, group[i].id)
			continue
		}
		if err := c.copyDocument(ctx, group[i].id); err != nil {
			return nil, err
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return c.copy(ctx, ids)
}

// copier makes one engine like another.
type copier struct {
	kb       engine.KnowledgeBase
	from, to engine.Engine
}

// copier for a debt; nil when the knowledge base is gone.
func (m *Mirror) copier(ctx context.Context, d *debt) (*copier, error) {
	c := &copier{from: m.engines[d.source], to: m.engines[d.engine]}
	if c.from == nil || c.to == nil {
		return nil, fault.New(fault.Unsupported, "engine %s or %s is no longer configured", d.source, d.engine)
	}
	if _, there, err := baseOn(ctx, c.to, d.ref); err != nil || !there {
		return nil, err
	}
	var err error
	c.kb, _, err = baseOn(ctx, c.from, d.ref) // its vectors are of the source's shape
	return c, err
}

// baseOn reads a knowledge base from one engine.
func baseOn(ctx context.Context, e engine.Engine, ref engine.Ref) (kb engine.KnowledgeBase, there bool, err error) {
	bases, err := e.KnowledgeBases(ctx)
	at := slices.IndexFunc(bases, func(kb engine.KnowledgeBase) bool { return kb.Ref == ref })
	if err != nil || at < 0 {
		return engine.KnowledgeBase{Ref: ref}, false, err
	}
	kb = bases[at]
	kb.Generation = 0 // of that engine alone
	return kb, true, nil
}

// settled asks both engines to show what was written to them.
func (c *copier) settled(ctx context.Context) error {
	for _, e := range []engine.Engine{c.from, c.to} {
		if _, err := e.Write(ctx, engine.WriteRequest{KB: on(c.kb, e), Refresh: true}); err != nil {
			return err
		}
	}
	return nil
}

// copy makes these chunks of one engine those of the other: written where the
// source has them, deleted where it does not.
func (c *copier) copy(ctx context.Context, ids []string) (failed map[string]error, err error) {
	ctx, stop := context.WithTimeout(ctx, copyTimeout)
	defer stop()
	if err := c.settled(ctx); err != nil {
		return nil, err
	}
	chunks, err := c.scan(ctx, c.from, ids)
	if err != nil {
		return nil, err
	}
	absent := map[string]bool{}
	for _, id := range ids {
		absent[id] = true
	}
	for i := range chunks {
		delete(absent, chunks[i].ID)
	}
	failed = map[string]error{}
	if len(chunks) > 0 {
		outcomes, err := c.to.Write(ctx, engine.WriteRequest{KB: on(c.kb, c.to), Chunks: chunks, Refresh: true, Copy: true})
		if err != nil {
			return nil, err
		}
		for _, o := range outcomes {
			if o.Err != nil {
				failed[o.ID] = o.Err
			}
		}
	}
	if len(absent) > 0 {
		gone := make([]string, 0, len(absent))
		for id := range absent {
			gone = append(gone, id)
		}
		if _, err := c.to.DeleteChunks(ctx, on(c.kb, c.to), gone); err != nil {
			return nil, err
		}
	}
	return failed, nil
}

func (c *copier) scan(ctx context.Context, e engine.Engine, ids []string) ([]engine.Chunk, error) {
	return e.(engine.Scanner).Scan(ctx, engine.ScanRequest{KB: on(c.kb, e), IDs: ids, Limit: len(ids)})
}

// copyDocument copies every chunk that either engine has of a document.
func (c *copier) copyDocument(ctx context.Context, id string) error {
	if err := c.settled(ctx); err != nil {
		return err
	}
	var ids []string
	for _, e := range []engine.Engine{c.from, c.to} {
		more, err := c.chunksOf(ctx, e, id)
		if err != nil {
			return err
		}
		ids = append(ids, more...)
	}
	for len(ids) > 0 {
		n := min(len(ids), chunksAtOnce)
		failed, err := c.copy(ctx, ids[:n])
		if err != nil {
			return err
		}
		for _, err := range failed {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

func (c *copier) chunksOf(ctx context.Context, e engine.Engine, documentID string) ([]string, error) {
	var ids []string
	req := engine.DocumentChunksRequest{KB: on(c.kb, e), DocumentID: documentID, To: -1, Limit: chunksAtOnce}
	for page, err := range engine.DocumentPages(ctx, e, req) {
		if err != nil {
			return nil, err
		}
		for i := range page {
			ids = append(ids, page[i].ID)
		}
	}
	return ids, nil
}
