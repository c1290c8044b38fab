package mirror

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// SelectChunks implements engine.Store: it asks a member that owes nothing, where there is one.
func (s *Set) SelectChunks(ctx context.Context, req engine.SelectRequest) ([]string, error) {
	order, err := s.order(ctx, req.KB.Ref)
	if err != nil {
		return nil, err
	}
	e := s.members[order[0]]
	req.KB = on(req.KB, e)
	return e.SelectChunks(ctx, req)
}

// ChangeChunks implements engine.Store: one member decides, and what it has then is copied to the others.
func (s *Set) ChangeChunks(ctx context.Context, req engine.ChangeRequest) ([]engine.ChangeOutcome, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	var outcomes []engine.ChangeOutcome
	w := s.newWrite(req.KB.Ref, oneChunk, req.IDs...)
	err := s.run(ctx, w, func(ctx context.Context, i int) (err error) {
		if w.decided >= 0 {
			return s.copyChanged(ctx, w, i, outcomes)
		}
		outcomes, err = s.decide(ctx, w, i, req)
		return err
	})
	if err == nil && w.decided < 0 {
		err = w.errs[w.order[0]]
	}
	return outcomes, err
}

// decide has a member decide about chunks whose current state it has: not about those with debts.
func (s *Set) decide(
	ctx context.Context, w *write, member int, req engine.ChangeRequest,
) ([]engine.ChangeOutcome, error) {
	e := s.members[member]
	outcomes := make([]engine.ChangeOutcome, len(req.IDs))
	var ids []string
	var places []int
	for i, id := range req.IDs {
		if slices.ContainsFunc(w.earlier[id], func(d debt) bool { return d.engine == e.Name() }) {
			outcomes[i] = engine.ChangeOutcome{ID: id, Err: fault.New(fault.Unavailable,
				"chunk %q is not the same on all engines yet; try again", id)}
			continue
		}
		ids, places = append(ids, id), append(places, i)
	}
	req.KB, req.IDs = on(req.KB, e), ids
	decided, err := e.ChangeChunks(ctx, req)
	if err != nil {
		return nil, err
	}
	for n, i := range places {
		outcomes[i] = decided[n]
	}
	for _, o := range outcomes {
		if o.Verdict != engine.Put && o.Verdict != engine.Remove {
			w.keep(o.ID)
		}
	}
	return outcomes, nil
}

// copyChanged copies the changes to a member, and records failures.
func (s *Set) copyChanged(ctx context.Context, w *write, member int, outcomes []engine.ChangeOutcome) error {
	var ids []string
	for _, o := range outcomes {
		if o.Verdict == engine.Put || o.Verdict == engine.Remove {
			ids = append(ids, o.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	c := &copier{from: s.members[w.decided], to: s.members[member]}
	var err error
	if c.kb, _, err = baseOn(ctx, c.from, w.ref); err != nil {
		return err
	}
	for some := range slices.Chunk(ids, chunksAtOnce) {
		failed, err := c.copy(ctx, some)
		if err != nil {
			return err
		}
		for id, why := range failed {
			w.failures[member][id] = why
		}
	}
	return nil
}
