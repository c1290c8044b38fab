package storage

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// Writes and deletions depend on the stored document, by Elasticsearch's optimistic concurrency control: a document
// is read with its revision, and changed only if it still has it; otherwise it is read again. During a migration the
// change log's revision is used, see changelog.go.

const (
	changeTimeout   = 30 * time.Second // how long a change waits for an index to take it, and for others to leave it alone
	changeDelay     = 25 * time.Millisecond
	changesPerRound = 500
	longestLook     = 100             // whole documents read at a time: with 4,096 dimensions 5 MB
	writerPatience  = 5 * time.Second // for a writer that is in the log and not in the index, where it may never come
	writerLifetime  = 3 * time.Minute // from when on it is known to have died: requests take less
)

// change is one requested change of a document.
type change struct {
	at    int // index of its outcome
	id    string
	chunk *engine.Chunk // to be written; nil: delete
	// decide, if set, computes the change from the stored chunk, or its id and document. leave: nothing to do.
	decide func(stored *engine.Chunk) (chunk *engine.Chunk, leave bool, err error)
	whole  bool // decide needs the chunk

	why    error // why it has to be repeated
	was    seen
	logged int64 // the version that an earlier attempt had in the log
}

// seen is the stored state that a change was decided on.
type seen struct {
	absent   bool // no document
	revision *esquery.Revision
	unlogged bool // no entry of the change log
	entry    *esquery.Revision
}

// work is changes being applied.
type work struct {
	store  *Store
	loc    *Location // as the caller knows it
	at     *Location // where it is written to, without a change log
	report func(change, outcome)
	began  time.Time
	try    int
	failed error // a request as a whole: nothing more is tried
}

// apply applies changes, in rounds, and reports the outcome of each. If a request fails as a whole it returns that
// error, which is also the outcome of its changes and all later ones.
func (s *Store) apply(ctx context.Context, loc *Location, changes []change, report func(change, outcome)) error {
	defer s.recent.changed(loc.KB.Ref)
	var failed error
	for round := range slices.Chunk(changes, changesPerRound) {
		w := &work{store: s, loc: loc, at: loc, report: report, began: time.Now(), failed: failed}
		w.repeat(ctx, slices.Clone(round))
		failed = w.failed
	}
	return failed
}

// repeat applies changes until each is done. Those that an index refuses because it is being replaced, and those
// whose document another has changed meanwhile, are repeated until changeTimeout.
func (w *work) repeat(ctx context.Context, changes []change) {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	for delay := changeDelay; ; delay = min(2*delay, time.Second) {
		w.try++
		if changes = w.once(ctx, changes); len(changes) == 0 {
			return
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			w.giveUp(ctx, changes)
			return
		}
	}
}

// giveUp reports changes that timed out, with the cause if known.
func (w *work) giveUp(ctx context.Context, changes []change) {
	for _, c := range changes {
		if !fault.Is(c.why, fault.Overloaded) && !fault.Is(c.why, fault.Conflict) {
			c.why = rest.ContextFault(ctx)
		}
		w.report(c, outcome{status: engine.Failed, err: c.why})
	}
}

func (w *work) failAll(changes []change, err error) {
	for _, c := range changes {
		w.report(c, outcome{status: engine.Failed, err: err})
	}
}

// once tries the changes and returns those to repeat.
func (w *work) once(ctx context.Context, changes []change) []change {
	if w.failed != nil {
		w.failAll(changes, w.failed)
		return nil
	}
	at, log, err := w.where(ctx)
	var again []change
	if err == nil {
		again, changes, err = w.look(ctx, at, log, changes)
	}
	switch {
	case err != nil || len(changes) == 0:
	case log == nil:
		ops, refused := w.store.operations(ctx, &w.loc.KB, at, changes)
		repeat, _ := w.run(ctx, ops, changes, refused)
		again = append(again, repeat...)
	default:
		var repeat []change
		repeat, err = w.applyLogged(ctx, log, changes)
		if again = append(again, repeat...); err != nil && fault.Is(err, fault.NotFound) {
			return append(again, changes...) // the log has gone: the migration has ended
		}
	}
	if err != nil {
		w.failed = err
		w.failAll(append(again, changes...), err)
		return nil
	}
	return again
}

// where finds the index to change, and the change log if there is one.
func (w *work) where(ctx context.Context) (*Location, *ChangeLog, error) {
	if _, logged := w.store.recent.logged.Load(w.loc.KB.Ref); !logged {
		return w.at, nil, nil
	}
	log, err := w.store.changeLog(ctx, w.loc.KB.Ref)
	if err != nil {
		return nil, nil, err
	}
	if log != nil {
		return log.Current, log, nil
	}
	now, err := w.store.readEntry(ctx, w.loc.KB.Ref)
	if err != nil {
		return nil, nil, err
	}
	w.at = w.store.OwnLocation(now)
	return w.at, nil, nil
}

// look decides about the stored documents. It reports changes with nothing to do, and returns the changes to make and
// those to look at again.
func (w *work) look(
	ctx context.Context, at *Location, log *ChangeLog, changes []change,
) (again, decided []change, err error) {
	var ids []string
	whole := false
	for _, c := range changes {
		if c.decide != nil || log != nil {
			ids, whole = append(ids, c.id), whole || c.whole
		}
	}
	if len(ids) == 0 {
		return nil, changes, nil
	}
	var entries, documents map[string]storedDocument
	if log != nil { // read before the documents: a later log entry makes the change be repeated
		entries, err = w.store.storedIn(ctx, log.Current, log.Index, ids, false)
	}
	if err == nil {
		documents, err = w.store.storedIn(ctx, at, at.Index, ids, whole)
	}
	if missing(err) { // a migration has ended, or begun
		w.store.recent.logged.Store(w.loc.KB.Ref, true)
		return changes, nil, nil
	}
	if err != nil {
		return nil, changes, err
	}
	for _, c := range changes {
		d, e := documents[c.id], entries[c.id]
		switch {
		case c.decide == nil && log == nil:
			decided = append(decided, c)
		case log != nil && c.overtaken(&d, &e, log) && w.alive(&e) && time.Since(w.began) < writerPatience:
			again = append(again, c)
		case log != nil && c.whole && d.Found && c.overtaken(&d, &e, log) && w.alive(&e):
			w.report(c, outcome{status: engine.Failed, err: busy(c.id)})
		case c.decide == nil || w.decide(&c, at, &d):
			c.was = seenOf(&d, &e, log != nil)
			decided = append(decided, c)
		}
	}
	return again, decided, nil
}

// overtaken reports whether the log has a change that is not in the document yet, so that the stored state is
// outdated.
func (c *change) overtaken(d, entry *storedDocument, log *ChangeLog) bool {
	version := log.Base + entry.SeqNo
	switch {
	case !entry.Found || c.logged == version:
		return false
	case d.Found:
		return d.Version < version
	default:
		var noted LogEntry
		return json.Unmarshal(entry.Source, &noted) == nil && noted.Op == LogIndex
	}
}

// alive reports whether the writer of a log entry may still be running.
func (w *work) alive(entry *storedDocument) bool {
	first, _ := w.store.recent.overdue.LoadOrStore(overdue{w.loc.KB.Ref, entry.ID, entry.SeqNo}, time.Now())
	return time.Since(first.(time.Time)) < writerLifetime
}

func busy(id string) error {
	return fault.New(fault.Conflict, "chunk %q is being written by somebody else; try again", id)
}

// decide computes the change of a stored document, and reports if there is nothing to do.
func (w *work) decide(c *change, at *Location, d *storedDocument) bool {
	stored, err := d.chunk(at, c.whole)
	if err == nil {
		var leave bool
		if c.chunk, leave, err = c.decide(stored); err == nil && !leave {
			return true
		}
	}
	o := outcome{err: err}
	if err != nil {
		o.status = engine.Failed
	}
	w.report(*c, o)
	return false
}

// seenOf is the condition that a document is unchanged: in the log, or else in the index.
func seenOf(d, entry *storedDocument, logged bool) seen {
	switch {
	case logged && entry.Found:
		return seen{entry: entry.revision()}
	case logged:
		return seen{unlogged: true}
	case d.Found:
		return seen{revision: d.revision()}
	default:
		return seen{absent: true}
	}
}

// refuse reports the changes that cannot be made, and returns the others.
func (w *work) refuse(changes []change, refused map[int]error) []change {
	if len(refused) == 0 {
		return changes
	}
	var accepted []change
	for _, c := range changes {
		if err := refused[c.at]; err != nil {
			w.report(c, outcome{status: engine.Failed, err: err})
			continue
		}
		accepted = append(accepted, c)
	}
	return accepted
}

// run does the operations that were not refused, and returns the changes to repeat and those that are done.
func (w *work) run(
	ctx context.Context, ops operations, changes []change, refused map[int]error,
) (again, done []change) {
	accepted := w.refuse(changes, refused)
	ops = ops.without(refused)
	results, err := w.store.sendOperations(ctx, ops)
	for i, c := range accepted {
		if i >= len(results) { // its request failed as a whole
			if fault.Is(err, fault.Overloaded) && w.try < bulkTries {
				c.why = err
				again = append(again, c)
				continue
			}
			w.failed = err
			w.report(c, outcome{status: engine.Failed, err: err})
			continue
		}
		o := results[i].outcome()
		if beingReplaced(o.err) {
			w.store.recent.logged.Store(w.loc.KB.Ref, true)
		}
		switch {
		case results[i].Status == http.StatusConflict && ops[i].conditional(),
			beingReplaced(o.err), fault.Is(o.err, fault.Overloaded) && w.try < bulkTries:
			if c.why = o.err; o.err == nil {
				c.why = busy(c.id)
			}
			again = append(again, c)
		default:
			if o.err == nil {
				done = append(done, c)
			}
			w.report(c, o)
		}
	}
	return again, done
}
