package storage

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// While the storage of a knowledge base changes shape, a write goes three ways:
//
//  1. into the change log, whose sequence number becomes the write's version; where what is written depends on what is
//     stored, only if nothing else of the document has come into the log since that was read;
//  2. with that version into the current index, whose result the caller gets;
//  3. with that version into the other index. What fails there is repaired by
//     replaying the log, before a switch and before a rollback.
//
// External versions keep the order: a copy of an older document never overwrites
// a newer one, and of two concurrent writes the later in the log wins everywhere.
//
// A gateway learns of a change log by being refused: the alias that it writes to
// has lost its write index.

// ChangeLog is where writes go while a migration is under way.
type ChangeLog struct {
	Index          string
	Current, Other *Location
	Base           int64 // a write's version is Base + its sequence number, above all earlier versions
	switched       bool
}

// changeLog gives the change log of a knowledge base, nil when there is none.
func (s *Store) changeLog(ctx context.Context, ref engine.Ref) (*ChangeLog, error) {
	if _, on := s.recent.logged.Load(ref); !on {
		return nil, nil //nolint:nilnil // no change log, which is fine
	}
	m, err := s.Migration(ctx, ref)
	if fault.Is(err, fault.NotFound) || err == nil && m.Log == "" {
		s.recent.logged.Delete(ref)
		return nil, nil //nolint:nilnil // the same
	}
	if err != nil {
		return nil, err
	}
	return s.ChangeLogOf(m), nil
}

// ChangeLogOf gives the change log of a migration that has one.
func (s *Store) ChangeLogOf(m *engine.Migration) *ChangeLog {
	old, next := s.Sides(m)
	log := &ChangeLog{Index: m.Log, Current: old, Other: next, switched: m.Switched, Base: m.Base}
	if m.Switched {
		log.Current, log.Other = next, old
	}
	return log
}

// Sides returns the locations of both indices of a migration, under their own names.
func (s *Store) Sides(m *engine.Migration) (old, next *Location) {
	old, next = s.OwnLocation(&m.From), s.OwnLocation(&m.Plan.Wanted)
	old.Index, next.Index = m.FromIndex, m.ToIndex
	old.alias, next.alias = m.FromIndex, m.ToIndex
	return old, next
}

// beingReplaced reports whether a write was refused because its index is being
// replaced: it has to be done again.
func beingReplaced(err error) bool {
	why, refused := errors.AsType[*rest.Refusal](err)
	if !refused {
		return false
	}
	return why.Mentions("no write index is defined") || why.Mentions(rest.WriteBlock) ||
		why.Has("index_not_found_exception")
}

// applyLogged writes changes into the log, then into the current index, then into the other
// one. It returns the changes to repeat.
func (w *work) applyLogged(ctx context.Context, log *ChangeLog, changes []change) (again []change, err error) {
	from := &w.loc.KB
	current, refused := w.store.operations(ctx, from, log.Current, changes)
	changes, current = w.refuse(changes, refused), current.without(refused) // nobody waits for what never comes
	versions, late, err := w.store.appendToLog(ctx, log, changes)
	if err != nil {
		return nil, err
	}
	changes = slices.DeleteFunc(changes, func(c change) bool { return versions[c.at] == 0 })
	current = slices.DeleteFunc(current, func(o Operation) bool { return versions[o.at] == 0 })
	current.setVersions(versions)
	for i := range changes {
		changes[i].logged = versions[changes[i].at]
	}
	repeat, done := w.run(ctx, current, changes, nil)
	again = slices.Concat(late, repeat)
	if len(done) == 0 {
		return again, nil
	}
	again = append(again, w.applyOther(ctx, log, done, versions)...)
	return again, nil
}

// applyOther writes changes into the other index, which gateways that were not told of a switch still search. It waits
// while that takes no writes because of the switch, and returns the changes to repeat.
func (w *work) applyOther(ctx context.Context, log *ChangeLog, done []change, versions map[int]int64) []change {
	other, refused := w.store.operations(ctx, &w.loc.KB, log.Other, done)
	other.setVersions(versions)
	other = other.without(refused)
	for begun := time.Now(); ; {
		results, err := w.store.sendOperations(ctx, other)
		failed, blocked := err != nil || len(refused) > 0, false
		for i := range results {
			why := results[i].outcome().err
			failed, blocked = failed || why != nil, blocked || beingReplaced(why)
		}
		if !failed {
			return nil
		}
		// A replay of the log repairs this, unless the other index has become the current one.
		now, err := w.store.changeLog(ctx, w.loc.KB.Ref)
		switch {
		case err == nil && now != nil && now.switched != log.switched:
			return done
		case err != nil || now == nil || !blocked || time.Since(begun) > writerPatience:
			return nil
		}
		select {
		case <-time.After(changeDelay):
		case <-ctx.Done():
			return nil
		}
	}
}

// appendToLog writes changes into the log and returns the version of each, and those that were decided about when
// something else had come into the log already.
func (s *Store) appendToLog(
	ctx context.Context, log *ChangeLog, changes []change,
) (versions map[int]int64, late []change, err error) {
	ops := make(operations, len(changes))
	for i, c := range changes {
		entry := LogEntry{Op: LogIndex}
		if c.chunk == nil {
			entry.Op = LogDelete
		}
		ops[i] = Operation{at: c.at, document: entry, create: c.was.unlogged, target: esquery.BulkTarget{
			Index: log.Index, ID: documentID(&log.Current.KB, c.id), Unchanged: c.was.entry,
		}}
	}
	results, err := s.sendOperations(ctx, ops)
	if err != nil {
		return nil, nil, err
	}
	versions = make(map[int]int64, len(changes))
	for i := range results {
		switch {
		case results[i].Error == nil:
			versions[changes[i].at] = log.Base + results[i].SeqNo
		case results[i].Status == http.StatusConflict && ops[i].conditional():
			late = append(late, changes[i])
		default:
			return nil, nil, results[i].Error.Fault(results[i].Status)
		}
	}
	return versions, late, nil
}

// LogEntry is a document of the change log.
type LogEntry struct {
	Op string `json:"op"`
}

// The operations of an entry.
const (
	LogIndex  = "index"
	LogDelete = "delete"
)
