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
//  1. into the change log, whose sequence number becomes the write's version;
//  2. with that version into the true index, which decides what the caller hears;
//  3. with that version into the other index. What fails there is mended by
//     replaying the log, before a switch and before a rollback.
//
// External versions keep the order: a copy of an older document never overwrites
// a newer one, and of two writes at once the later in the log wins everywhere.
//
// A gateway learns that a change log has begun by a refusal: the alias that it
// writes to has no index to write to any more (see fence).

// ChangeLog is where writes go while a migration is under way.
type ChangeLog struct {
	Index        string
	Truth, Other *Location
	Base         int64 // of versions: above every version from before
	switched     bool
}

// journal gives where writes go, nil when there is no change log.
func (s *Store) journal(ctx context.Context, ref engine.Ref) (*ChangeLog, error) {
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
	j := &ChangeLog{Index: m.Log, Truth: old, Other: next, switched: m.Switched, Base: m.Base}
	if m.Switched {
		j.Truth, j.Other = next, old
	}
	return j
}

// Sides are both indices of a migration, addressed by their own names.
func (s *Store) Sides(m *engine.Migration) (old, next *Location) {
	old, next = s.OwnLocation(&m.From), s.OwnLocation(&m.Plan.Wanted)
	old.Index, next.Index = m.FromIndex, m.ToIndex
	old.alias, next.alias = m.FromIndex, m.ToIndex
	return old, next
}

// change is one write: of a chunk, or the deletion of an id.
type change struct {
	at    int // which outcome it decides
	id    string
	chunk *engine.Chunk // nil: delete
}

// fate is what became of a change.
type fate struct {
	status  engine.Status
	existed bool
	err     error
}

// moved reports whether a write was refused because the index that it went to is
// being replaced: it is to be done again.
func moved(err error) bool {
	why, refused := errors.AsType[*rest.Refusal](err)
	if !refused {
		return false
	}
	return why.Mentions("no write index is defined") || why.Mentions(rest.WriteBlock) ||
		why.Has("index_not_found_exception")
}

const (
	movedFor   = 30 * time.Second // how long a write waits for an index to take it
	movedDelay = 25 * time.Millisecond
)

// store writes chunks, wherever the knowledge base's storage is at this moment.
func (s *Store) store(ctx context.Context, loc *Location, chunks []engine.Chunk) ([]engine.WriteOutcome, error) {
	var again []change
	last := lastOf(chunks)
	outcomes := make([]engine.WriteOutcome, len(chunks))
	if _, journaled := s.recent.logged.Load(loc.KB.Ref); journaled {
		for i := range chunks {
			outcomes[i].ID = chunks[i].ID
			again = append(again, change{i, chunks[i].ID, &chunks[i]})
		}
	} else {
		var err error
		outcomes, err = s.write(ctx, loc, chunks)
		if err != nil {
			return outcomes, err
		}
		for i := range outcomes {
			if moved(outcomes[i].Err) {
				again = append(again, change{i, chunks[i].ID, &chunks[i]})
			}
		}
	}
	again = slices.DeleteFunc(again, func(c change) bool { return last[c.id] != c.at })
	if len(again) == 0 {
		return outcomes, nil
	}
	for i, f := range s.persist(ctx, loc, again) {
		outcomes[again[i].at].Status, outcomes[again[i].at].Err = f.status, f.err
	}
	return settle(outcomes, chunks, last, nil)
}

// remove deletes chunks and says how many existed, wherever they are.
func (s *Store) remove(ctx context.Context, loc *Location, ids []string) (int, error) {
	existed := 0
	if _, journaled := s.recent.logged.Load(loc.KB.Ref); !journaled {
		n, left, err := s.deleteChunks(ctx, loc, ids)
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
		for _, f := range s.persist(ctx, loc, changes) {
			if f.err != nil {
				return existed, f.err
			}
			if f.existed {
				existed++
			}
		}
	}
	return existed, nil
}

// changesPerRound bounds one round of requests.
const changesPerRound = 500

// persist does changes that were refused where they went, until an index takes
// them.
func (s *Store) persist(ctx context.Context, loc *Location, changes []change) []fate {
	defer s.recent.changed(loc.KB.Ref)
	fates := make([]fate, len(changes))
	places := map[int]int{}
	for i := range changes {
		places[changes[i].at] = i
	}
	for round := range slices.Chunk(changes, changesPerRound) {
		s.insist(ctx, loc, round, func(c change, f fate) { fates[places[c.at]] = f })
	}
	return fates
}

// insist repeats what has to be done again, for a while.
func (s *Store) insist(ctx context.Context, loc *Location, changes []change, decide func(change, fate)) {
	ctx, cancel := context.WithTimeout(ctx, movedFor)
	defer cancel()
	for delay := movedDelay; ; delay = min(2*delay, time.Second) {
		changes = s.attempt(ctx, loc, changes, decide)
		if len(changes) == 0 {
			return
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			for _, c := range changes {
				decide(c, fate{status: engine.Failed, err: rest.GivenUp(ctx)})
			}
			return
		}
	}
}

// attempt does the changes once and gives those that are to be done again.
func (s *Store) attempt(ctx context.Context, loc *Location, changes []change, decide func(change, fate)) []change {
	s.recent.logged.Store(loc.KB.Ref, true)
	j, err := s.journal(ctx, loc.KB.Ref)
	if err == nil && j == nil {
		return s.direct(ctx, loc, changes, decide)
	}
	var again []change
	if err == nil {
		again, err = s.round(ctx, &loc.KB, j, changes, decide)
	}
	if fault.Is(err, fault.NotFound) {
		return changes // the log has gone: the migration has ended
	}
	if err != nil {
		for _, c := range changes {
			decide(c, fate{status: engine.Failed, err: err})
		}
		return nil
	}
	return again
}

// direct does the changes without a change log, in the generation that there is.
func (s *Store) direct(ctx context.Context, loc *Location, changes []change, decide func(change, fate)) []change {
	now, err := s.catalogued(ctx, loc.KB.Ref)
	if err != nil {
		for _, c := range changes {
			decide(c, fate{status: engine.Failed, err: err})
		}
		return nil
	}
	ops, refused := s.operations(ctx, &loc.KB, s.OwnLocation(now), changes)
	return decided(changes, refused, decide, func() ([]bulkResult, error) { return s.operate(ctx, ops.without(refused)) })
}

// decided runs what was not refused, and sorts the results: what moved is given
// back.
func decided(
	changes []change, refused map[int]error, decide func(change, fate), run func() ([]bulkResult, error),
) (again []change) {
	var rest []change
	for _, c := range changes {
		if err := refused[c.at]; err != nil {
			decide(c, fate{status: engine.Failed, err: err})
			continue
		}
		rest = append(rest, c)
	}
	if len(rest) == 0 {
		return nil
	}
	results, err := run()
	for i, c := range rest {
		f := fate{status: engine.Failed, err: err}
		if err == nil {
			f = results[i].fate()
		}
		if moved(f.err) || fault.Is(f.err, fault.Overloaded) {
			again = append(again, c)
			continue
		}
		decide(c, f)
	}
	return again
}

// fate of an operation with an external version: a conflict means that a later
// write of the same id came first, which is as if this one had been before it.
func (r *bulkResult) fate() fate {
	switch {
	case r.Error != nil && r.Status == http.StatusConflict:
		return fate{status: engine.Updated}
	case r.Error != nil:
		return fate{status: engine.Failed, err: r.Error.Fault(r.Status)}
	case r.Result == "created":
		return fate{status: engine.Created}
	default:
		return fate{status: engine.Updated, existed: r.Result == "deleted"}
	}
}

// round does the changes by the change log: log, true index, other index.
func (s *Store) round(
	ctx context.Context, from *engine.KnowledgeBase, j *ChangeLog, changes []change, decide func(change, fate),
) (again []change, err error) {
	truth, refused := s.operations(ctx, from, j.Truth, changes)
	versions, err := s.record(ctx, j, changes)
	if err != nil {
		return nil, err
	}
	truth.versions(versions)
	var done []change
	again = decided(changes, refused, func(c change, f fate) {
		if f.err == nil {
			done = append(done, c)
		}
		decide(c, f)
	}, func() ([]bulkResult, error) { return s.operate(ctx, truth.without(refused)) })
	if len(done) == 0 {
		return again, nil
	}
	other, refused := s.operations(ctx, from, j.Other, done)
	other.versions(versions)
	results, err := s.operate(ctx, other.without(refused))
	failed := err != nil || len(refused) > 0 || slices.ContainsFunc(results, func(r bulkResult) bool {
		return r.fate().err != nil
	})
	if !failed {
		return again, nil
	}
	// The log has them; unless the other index has become the true one meanwhile.
	now, err := s.journal(ctx, from.Ref)
	if err == nil && now != nil && now.switched != j.switched {
		return append(again, done...), nil
	}
	return again, nil
}

// record writes the changes into the log and gives each its version.
func (s *Store) record(ctx context.Context, j *ChangeLog, changes []change) (map[int]int64, error) {
	log := &bulk{}
	for i, c := range changes {
		entry := LogEntry{Op: LogIndex}
		if c.chunk == nil {
			entry.Op = LogDelete
		}
		lines, err := esquery.BulkIndex{
			BulkTarget: esquery.BulkTarget{Index: j.Index, ID: documentID(&j.Truth.KB, c.id)}, Document: entry,
		}.NDJSON()
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "an id cannot be written as JSON")
		}
		log.add(i, lines)
	}
	results, err := s.bulk(ctx, log)
	if err != nil {
		return nil, err
	}
	versions := make(map[int]int64, len(changes))
	for i := range results {
		if results[i].Error != nil {
			return nil, results[i].Error.Fault(results[i].Status)
		}
		versions[changes[i].at] = j.Base + results[i].SeqNo
	}
	return versions, nil
}

// LogEntry is a document of the change log.
type LogEntry struct {
	Op string `json:"op"`
}

// What an entry is of.
const (
	LogIndex  = "index"
	LogDelete = "delete"
)

// Operation is one operation of a bulk that is still to be given its version.
type Operation struct {
	at       int
	target   esquery.BulkTarget
	document any // nil: delete
}

type operations []Operation

func (o operations) versions(versions map[int]int64) {
	for i := range o {
		o[i].target.Version, o[i].target.VersionType = versions[o[i].at], esquery.External
	}
}

func (o operations) without(refused map[int]error) operations {
	return slices.DeleteFunc(slices.Clone(o), func(o Operation) bool { return refused[o.at] != nil })
}

// operations renders changes for one index; refused are those that cannot be.
func (s *Store) operations(
	ctx context.Context, from *engine.KnowledgeBase, loc *Location, changes []change,
) (ops operations, refused map[int]error) {
	refused = map[int]error{}
	var chunks []*engine.Chunk
	for _, c := range changes {
		if c.chunk != nil {
			chunks = append(chunks, c.chunk)
		}
	}
	fitted, err := s.Refit(ctx, from, &loc.KB, chunks)
	next := 0
	document := func() (any, error) { // of the next chunk
		if err != nil {
			return nil, err
		}
		next++
		return s.Document(loc, fitted[next-1])
	}
	for _, c := range changes {
		op := Operation{at: c.at, target: loc.bulkTarget(c.id)}
		if c.chunk != nil {
			rendered, bad := document()
			if bad != nil {
				refused[c.at] = bad
			} else {
				op.document = rendered
			}
		}
		ops = append(ops, op)
	}
	return ops, refused
}

// operate runs operations as one _bulk, one result each.
func (s *Store) operate(ctx context.Context, ops operations) ([]bulkResult, error) {
	batch := &bulk{}
	for i, op := range ops {
		var lines []byte
		var err error
		if op.document == nil {
			lines, err = esquery.BulkDelete{BulkTarget: op.target}.NDJSON()
		} else {
			lines, err = esquery.BulkIndex{BulkTarget: op.target, Document: op.document}.NDJSON()
		}
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "a chunk cannot be written as JSON")
		}
		batch.add(i, lines)
	}
	return s.bulk(ctx, batch)
}

// bulk sends a _bulk once.
func (s *Store) bulk(ctx context.Context, b *bulk) ([]bulkResult, error) {
	if len(b.items) == 0 {
		return nil, nil
	}
	var answer bulkAnswer
	if err := s.client.Change(ctx, b.request(), &answer); err != nil {
		return nil, err
	}
	if len(answer.Items) != len(b.items) {
		return nil, fault.New(fault.Unavailable, "Elasticsearch gave %d results for %d operations",
			len(answer.Items), len(b.items))
	}
	results := make([]bulkResult, len(answer.Items))
	for i := range answer.Items {
		for _, r := range answer.Items[i] {
			results[i] = r
		}
	}
	return results, nil
}

// Versioned is an operation on a document of an index, by its _id: without a document it
// is deleted. It does nothing where a later version was there before.
func Versioned(index, id string, version int64, document any) Operation {
	target := esquery.BulkTarget{Index: index, ID: id, Version: version, VersionType: esquery.External}
	return Operation{target: target, document: document}
}

// Apply wants every operation to be applied, or to have been overtaken.
func (s *Store) Apply(ctx context.Context, ops []Operation) error {
	results, err := s.operate(ctx, ops)
	if err != nil {
		return err
	}
	for i := range results {
		if f := results[i].fate(); f.err != nil {
			return f.err
		}
	}
	return nil
}
