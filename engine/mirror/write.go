package mirror

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// write is one change of chunks, or of one document, under way.
type write struct {
	ref     engine.Ref
	kind    kind
	ids     []string
	members []engine.Engine
	// failures has, per member and id, why it did not take the change.
	failures []map[string]error
	unsure   []bool  // per member: it failed as a whole and may have done a part
	errs     []error // per member: why it failed as a whole
	// order is how members are asked to decide what becomes of the change: those first that owe nothing. decided is
	// who did; -1: nobody yet.
	order   []int
	decided int
	earlier map[string][]debt // earlier debts, by id
	kept    map[string]bool   // ids without changes: their debts remain
}

func (s *Set) newWrite(ref engine.Ref, kind kind, ids ...string) *write {
	return &write{
		ref: ref, kind: kind, ids: ids, members: s.members,
		failures: make([]map[string]error, len(s.members)), unsure: make([]bool, len(s.members)),
		errs: make([]error, len(s.members)), decided: -1, kept: map[string]bool{},
	}
}

// run does the change on every member, between noting in the outbox what may go wrong and what did. One member
// decides what may be written and what becomes of chunks that are changed; the others follow it at the same time. The
// error is the outbox's: nothing is written that could not be made up for.
func (s *Set) run(ctx context.Context, w *write, do func(ctx context.Context, member int) error) error {
	release, err := s.mirror.lock(ctx, w.ref)
	if err != nil {
		return err
	}
	defer release()
	if w.order, err = s.order(ctx, w.ref); err != nil {
		return err
	}
	if w.earlier, err = s.mirror.outbox.begin(ctx, w); err != nil {
		return err
	}
	w.doAll(ctx, s.mirror, do)
	// The outcome is recorded even if the caller has gone.
	return s.mirror.outbox.end(context.WithoutCancel(ctx), w, w.owed(), time.Now().Add(s.mirror.retry))
}

// order returns the members, those without debts first: the others may be outdated.
func (s *Set) order(ctx context.Context, ref engine.Ref) ([]int, error) {
	owed, err := s.mirror.outbox.count(ctx, ref)
	if err != nil {
		return nil, err
	}
	var current, behind []int
	for i, e := range s.members {
		if owed[e.Name()] == 0 {
			current = append(current, i)
		} else {
			behind = append(behind, i)
		}
	}
	return append(current, behind...), nil
}

// owed returns the debts of the failed members, to be copied from the first that succeeded.
// If all refused, earlier debts remain; if one may have done a part, all are copied from
// its source, or from the reference.
func (w *write) owed() []debt {
	var owed []debt
	for _, id := range w.ids {
		source := w.taker(id)
		if w.kept[id] || source == nil && !w.anyUnsure() { // all refused: nothing changed anywhere
			owed = append(owed, w.earlier[id]...)
			continue
		}
		if source == nil {
			source = w.members[w.order[0]]
			if before := w.earlier[id]; len(before) > 0 {
				source = w.member(before[0].source)
			}
		}
		for i, e := range w.members {
			if err := w.failures[i][id]; err != nil && e != source {
				owed = append(owed, w.debt(e, source, id, err))
			}
		}
	}
	return owed
}

// member is the one with a name, or the reference.
func (w *write) member(name string) engine.Engine {
	for _, e := range w.members {
		if e.Name() == name {
			return e
		}
	}
	return w.members[0]
}

func (w *write) taker(id string) engine.Engine {
	for _, i := range w.order {
		if w.failures[i][id] == nil {
			return w.members[i]
		}
	}
	return nil
}

func (w *write) anyUnsure() bool {
	for _, unsure := range w.unsure {
		if unsure {
			return true
		}
	}
	return false
}

func (w *write) debt(e, source engine.Engine, id string, reason error) debt {
	d := debt{ref: w.ref, engine: e.Name(), kind: w.kind, id: id, source: source.Name()}
	if reason != nil {
		d.reason = detail(reason)
	}
	return d
}

// Write implements engine.Store. The status of a chunk is the reference's; its
// Engines have that of each.
func (s *Set) Write(ctx context.Context, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
	ids := make([]string, len(req.Chunks))
	for i := range req.Chunks {
		ids[i] = req.Chunks[i].ID
	}
	return s.put(ctx, s.newWrite(req.KB.Ref, oneChunk, ids...), req,
		func(ctx context.Context, e engine.Engine, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
			return e.Write(ctx, req)
		})
}

// ReplaceDocument implements engine.Store.
func (s *Set) ReplaceDocument(
	ctx context.Context, documentID string, req engine.WriteRequest,
) ([]engine.WriteOutcome, error) {
	return s.put(ctx, s.newWrite(req.KB.Ref, document, documentID), req,
		func(ctx context.Context, e engine.Engine, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
			return e.ReplaceDocument(ctx, documentID, req)
		})
}

type putting func(context.Context, engine.Engine, engine.WriteRequest) ([]engine.WriteOutcome, error)

func (s *Set) put(
	ctx context.Context, w *write, req engine.WriteRequest, put putting,
) ([]engine.WriteOutcome, error) {
	outcomes := make([][]engine.WriteOutcome, len(s.members))
	var refused *engine.Refused
	err := s.run(ctx, w, func(ctx context.Context, i int) (err error) {
		if refused != nil {
			return nil
		}
		mine := req
		mine.KB = on(req.KB, s.members[i])
		if w.decided >= 0 {
			outcomes[i], err = s.follow(ctx, i, mine, outcomes[w.decided], put)
		} else {
			outcomes[i], err = put(ctx, s.members[i], mine)
		}
		if why, yes := engine.AsRefused(err); yes && w.decided < 0 {
			refused = why
			w.keep(w.ids...)
			return nil // nothing to do anywhere
		}
		if err == nil && len(outcomes[i]) != len(req.Chunks) {
			err = fault.New(fault.Internal, "engine %s answered %d outcomes for %d chunks",
				s.members[i].Name(), len(outcomes[i]), len(req.Chunks))
		}
		for _, o := range outcomes[i] {
			if o.Err != nil {
				w.failures[i][w.idOf(o.ID)] = o.Err
			}
			if w.decided < 0 && w.kind == oneChunk && refusal(o.Err) {
				w.keep(o.ID)
			}
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case refused != nil:
		return nil, refused
	case w.errs[0] != nil && (len(req.Chunks) == 0 || allFailed(w.errs)):
		return nil, w.errs[0]
	default:
		return s.combined(req.Chunks, outcomes, w.errs), nil
	}
}

// follow writes what another member has let be written, in place of whatever stands there.
func (s *Set) follow(
	ctx context.Context, member int, req engine.WriteRequest, decided []engine.WriteOutcome, put putting,
) ([]engine.WriteOutcome, error) {
	chunks, places := make([]engine.Chunk, 0, len(req.Chunks)), make([]int, 0, len(req.Chunks))
	outcomes := slices.Clone(decided)
	for i := range req.Chunks {
		if !refusal(decided[i].Err) {
			chunks, places = append(chunks, req.Chunks[i]), append(places, i)
		}
	}
	req.Chunks, req.Copy, req.Admit = chunks, true, nil
	mine, err := put(ctx, s.members[member], req)
	if err != nil || len(mine) != len(chunks) {
		return mine, err
	}
	for n, i := range places {
		outcomes[i] = mine[n]
	}
	return outcomes, nil
}

// keep records that things are unchanged.
func (w *write) keep(ids ...string) {
	for _, id := range ids {
		w.kept[id] = true
	}
}

// refusal reports whether every engine would refuse the chunk.
func refusal(err error) bool { return fault.Is(err, fault.Conflict) || fault.Is(err, fault.Forbidden) }

// idOf is the id owed for a failed chunk: its own, or its document's.
func (w *write) idOf(chunk string) string {
	if w.kind == document {
		return w.ids[0]
	}
	return chunk
}

func allFailed(errs []error) bool {
	for _, err := range errs {
		if err == nil {
			return false
		}
	}
	return true
}

// combined gives each chunk its outcome on every engine.
func (s *Set) combined(chunks []engine.Chunk, outcomes [][]engine.WriteOutcome, errs []error) []engine.WriteOutcome {
	all := make([]engine.WriteOutcome, len(chunks))
	for n := range chunks {
		for i, e := range s.members {
			o := engine.WriteOutcome{ID: chunks[n].ID, Status: engine.Failed, Err: errs[i]}
			if errs[i] == nil {
				o = outcomes[i][n]
			}
			if i == 0 {
				all[n] = o
			}
			all[n].Engines = append(all[n].Engines, engine.OutcomeOn{Engine: e.Name(), Status: o.Status, Err: o.Err})
		}
	}
	return all
}

// DeleteDocument implements engine.Store; the count is the reference's.
func (s *Set) DeleteDocument(ctx context.Context, kb engine.KnowledgeBase, documentID string) (int, error) {
	w := s.newWrite(kb.Ref, document, documentID)
	return s.remove(ctx, w, func(ctx context.Context, e engine.Engine) (int, error) {
		return e.DeleteDocument(ctx, on(kb, e), documentID)
	})
}

// DeleteChunks implements engine.Store; the count is the reference's.
func (s *Set) DeleteChunks(ctx context.Context, kb engine.KnowledgeBase, ids []string) (int, error) {
	w := s.newWrite(kb.Ref, oneChunk, ids...)
	return s.remove(ctx, w, func(ctx context.Context, e engine.Engine) (int, error) {
		return e.DeleteChunks(ctx, on(kb, e), ids)
	})
}

// remove fails if the reference fails; failures of others become debts.
func (s *Set) remove(
	ctx context.Context, w *write, remove func(context.Context, engine.Engine) (int, error),
) (int, error) {
	counts := make([]int, len(s.members))
	err := s.run(ctx, w, func(ctx context.Context, i int) (err error) {
		counts[i], err = remove(ctx, s.members[i])
		return err
	})
	if err != nil {
		return 0, err
	}
	return counts[0], w.errs[0]
}

// detail is the public text of an error.
func detail(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Detail
	}
	return "internal error"
}
