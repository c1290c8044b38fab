package storage

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// While the storage of a knowledge base changes shape, a write goes three ways:
//
//  1. into the change log, whose sequence number becomes the write's version;
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

const (
	changeTimeout   = 30 * time.Second // how long a write waits for an index to take it
	changeDelay     = 25 * time.Millisecond
	changesPerRound = 500
)

// writeChunks writes chunks to where the knowledge base is stored at this moment.
func (s *Store) writeChunks(ctx context.Context, loc *Location, chunks []engine.Chunk) ([]engine.WriteOutcome, error) {
	var again []change
	last := lastByID(chunks)
	outcomes := make([]engine.WriteOutcome, len(chunks))
	if _, logged := s.recent.logged.Load(loc.KB.Ref); logged {
		for i := range chunks {
			outcomes[i].ID = chunks[i].ID
			again = append(again, change{at: i, id: chunks[i].ID, chunk: &chunks[i]})
		}
	} else {
		var err error
		outcomes, err = s.bulkWrite(ctx, loc, chunks)
		if err != nil {
			return outcomes, err
		}
		for i := range outcomes {
			if beingReplaced(outcomes[i].Err) {
				again = append(again, change{at: i, id: chunks[i].ID, chunk: &chunks[i]})
			}
		}
	}
	again = slices.DeleteFunc(again, func(c change) bool { return last[c.id] != c.at })
	if len(again) == 0 {
		return outcomes, nil
	}
	for i, a := range s.applyAll(ctx, loc, again) {
		outcomes[again[i].at].Status, outcomes[again[i].at].Err = a.status, a.err
	}
	return fillOutcomes(outcomes, chunks, last, nil)
}

// removeChunks deletes chunks from where the knowledge base is stored at this moment. It
// returns how many existed.
func (s *Store) removeChunks(ctx context.Context, loc *Location, ids []string) (int, error) {
	existed := 0
	if _, logged := s.recent.logged.Load(loc.KB.Ref); !logged {
		n, left, err := s.bulkDelete(ctx, loc, ids)
		if err != nil || len(left) == 0 {
			return n, err
		}
		existed, ids = n, left
	}
	for ids := range slices.Chunk(ids, changesPerRound) {
		changes := make([]change, len(ids))
		for i, id := range ids {
			changes[i] = change{at: i, id: id}
		}
		for _, a := range s.applyAll(ctx, loc, changes) {
			if a.err != nil {
				return existed, a.err
			}
			if a.existed {
				existed++
			}
		}
	}
	return existed, nil
}

// reporter receives the outcome of a change.
type reporter func(change, outcome)

// applyAll applies changes, in rounds, and returns their outcomes.
func (s *Store) applyAll(ctx context.Context, loc *Location, changes []change) []outcome {
	defer s.recent.changed(loc.KB.Ref)
	all := make([]outcome, len(changes))
	places := map[int]int{}
	for i := range changes {
		places[changes[i].at] = i
	}
	for round := range slices.Chunk(changes, changesPerRound) {
		s.applyWithRetry(ctx, loc, round, func(c change, a outcome) { all[places[c.at]] = a })
	}
	return all
}

// applyWithRetry applies changes and reports their outcomes. Those that an index refuses
// because it is being replaced are repeated until changeTimeout.
func (s *Store) applyWithRetry(ctx context.Context, loc *Location, changes []change, report reporter) {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	for delay := changeDelay; ; delay = min(2*delay, time.Second) {
		changes = s.applyOnce(ctx, loc, changes, report)
		if len(changes) == 0 {
			return
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			for _, c := range changes {
				if !fault.Is(c.why, fault.Overloaded) { // which says more than that the time is up
					c.why = rest.ContextFault(ctx)
				}
				report(c, outcome{status: engine.Failed, err: c.why})
			}
			return
		}
	}
}

// applyOnce tries the changes once and returns those to repeat.
func (s *Store) applyOnce(ctx context.Context, loc *Location, changes []change, report reporter) []change {
	s.recent.logged.Store(loc.KB.Ref, true)
	log, err := s.changeLog(ctx, loc.KB.Ref)
	if err == nil && log == nil {
		return s.applyDirectly(ctx, loc, changes, report)
	}
	var again []change
	if err == nil {
		again, err = s.applyLogged(ctx, &loc.KB, log, changes, report)
	}
	if fault.Is(err, fault.NotFound) {
		return changes // the log has gone: the migration has ended
	}
	if err != nil {
		for _, c := range changes {
			report(c, outcome{status: engine.Failed, err: err})
		}
		return nil
	}
	return again
}

// applyDirectly applies changes to the current generation, without a change log.
func (s *Store) applyDirectly(ctx context.Context, loc *Location, changes []change, report reporter) []change {
	now, err := s.readEntry(ctx, loc.KB.Ref)
	if err != nil {
		for _, c := range changes {
			report(c, outcome{status: engine.Failed, err: err})
		}
		return nil
	}
	ops, refused := s.operations(ctx, &loc.KB, s.OwnLocation(now), changes)
	return s.runOperations(ctx, ops, changes, refused, report)
}

// runOperations runs the operations that were not refused, and returns the changes to
// repeat.
func (s *Store) runOperations(
	ctx context.Context, ops operations, changes []change, refused map[int]error, report reporter,
) (again []change) {
	var accepted []change
	for _, c := range changes {
		if err := refused[c.at]; err != nil {
			report(c, outcome{status: engine.Failed, err: err})
			continue
		}
		accepted = append(accepted, c)
	}
	if len(accepted) == 0 {
		return nil
	}
	results, err := s.sendOperations(ctx, ops.without(refused))
	for i, c := range accepted {
		a := outcome{status: engine.Failed, err: err}
		if err == nil {
			a = results[i].outcome()
		}
		if beingReplaced(a.err) || fault.Is(a.err, fault.Overloaded) {
			c.why = a.err
			again = append(again, c)
			continue
		}
		report(c, a)
	}
	return again
}

// applyLogged writes changes into the log, then into the current index, then into the other
// one. It returns the changes to repeat.
func (s *Store) applyLogged(
	ctx context.Context, from *engine.KnowledgeBase, log *ChangeLog, changes []change, report reporter,
) (again []change, err error) {
	current, refused := s.operations(ctx, from, log.Current, changes)
	versions, err := s.appendToLog(ctx, log, changes)
	if err != nil {
		return nil, err
	}
	current.setVersions(versions)
	var done []change
	again = s.runOperations(ctx, current, changes, refused, func(c change, a outcome) {
		if a.err == nil {
			done = append(done, c)
		}
		report(c, a)
	})
	if len(done) == 0 {
		return again, nil
	}
	other, refused := s.operations(ctx, from, log.Other, done)
	other.setVersions(versions)
	results, err := s.sendOperations(ctx, other.without(refused))
	failed := err != nil || len(refused) > 0 || slices.ContainsFunc(results, func(r bulkResult) bool {
		return r.outcome().err != nil
	})
	if !failed {
		return again, nil
	}
	// A replay of the log repairs this, unless the other index has become the current one.
	now, err := s.changeLog(ctx, from.Ref)
	if err == nil && now != nil && now.switched != log.switched {
		return append(again, done...), nil
	}
	return again, nil
}

// appendToLog writes changes into the log and returns the version of each.
func (s *Store) appendToLog(ctx context.Context, log *ChangeLog, changes []change) (map[int]int64, error) {
	batch := &bulk{}
	for i, c := range changes {
		entry := LogEntry{Op: LogIndex}
		if c.chunk == nil {
			entry.Op = LogDelete
		}
		lines, err := esquery.BulkIndex{
			BulkTarget: esquery.BulkTarget{Index: log.Index, ID: documentID(&log.Current.KB, c.id)}, Document: entry,
		}.NDJSON()
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "an id cannot be written as JSON")
		}
		batch.add(i, lines)
	}
	results, err := s.bulk(ctx, batch)
	if err != nil {
		return nil, err
	}
	versions := make(map[int]int64, len(changes))
	for i := range results {
		if results[i].Error != nil {
			return nil, results[i].Error.Fault(results[i].Status)
		}
		versions[changes[i].at] = log.Base + results[i].SeqNo
	}
	return versions, nil
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
