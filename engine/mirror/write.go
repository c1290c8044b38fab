package mirror

import (
	"context"
	"errors"
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
}

func (s *Set) newWrite(ref engine.Ref, kind kind, ids ...string) *write {
	return &write{
		ref: ref, kind: kind, ids: ids, members: s.members,
		failures: make([]map[string]error, len(s.members)), unsure: make([]bool, len(s.members)),
		errs: make([]error, len(s.members)),
	}
}

// run does the change on every member at the same time, between noting in the
// outbox what may go wrong and what did. The error is the outbox's: nothing is
// written that could not be made up for.
func (s *Set) run(ctx context.Context, w *write, do func(ctx context.Context, member int) error) error {
	release, err := s.mirror.lock(ctx, w.ref)
	if err != nil {
		return err
	}
	defer release()
	earlier, err := s.mirror.outbox.begin(ctx, w)
	if err != nil {
		return err
	}
	w.doAll(ctx, s.mirror, do)
	// What came of it is noted also for a caller who has gone.
	return s.mirror.outbox.end(context.WithoutCancel(ctx), w, w.owed(earlier), time.Now().Add(s.mirror.retry))
}

// owed is what the members that failed are behind in: to be copied from the
// first that did not. When nobody took it, what was owed before still is; where
// somebody may have, all are made like the source of that, or like the reference.
func (w *write) owed(earlier map[string][]debt) []debt {
	var owed []debt
	for _, id := range w.ids {
		source := w.taker(id)
		if source == nil {
			if !w.anyUnsure() {
				owed = append(owed, earlier[id]...) // refused by all: nothing changed anywhere
				continue
			}
			source = w.members[0]
			if before := earlier[id]; len(before) > 0 {
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
	for i, e := range w.members {
		if w.failures[i][id] == nil {
			return e
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
	err := s.run(ctx, w, func(ctx context.Context, i int) (err error) {
		mine := req
		mine.KB = on(req.KB, s.members[i])
		outcomes[i], err = put(ctx, s.members[i], mine)
		if err == nil && len(outcomes[i]) != len(req.Chunks) {
			err = fault.New(fault.Internal, "engine %s answered %d outcomes for %d chunks",
				s.members[i].Name(), len(outcomes[i]), len(req.Chunks))
		}
		for _, o := range outcomes[i] {
			if o.Err != nil {
				w.failures[i][w.idOf(o.ID)] = o.Err
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if w.errs[0] != nil && (len(req.Chunks) == 0 || allFailed(w.errs)) {
		return nil, w.errs[0]
	}
	return s.combined(req.Chunks, outcomes, w.errs), nil
}

// idOf is what a failed chunk makes behind: itself, or its document.
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

// remove fails when the reference does; on the others the outbox makes up for it.
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

// detail is what may be told of an error.
func detail(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Detail
	}
	return "internal error"
}
