package storage

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

const (
	bulkBytes      = 8 << 20 // of one _bulk, unless one chunk alone is larger
	bulkTries      = 5       // of items that Elasticsearch was too busy for
	bulkDelay      = 100 * time.Millisecond
	deletesPerBulk = 10_000
)

// bulkWrite writes chunks to a location, in as many requests as it takes.
func (s *Store) bulkWrite(ctx context.Context, loc *Location, chunks []engine.Chunk) ([]engine.WriteOutcome, error) {
	defer s.recent.changed(loc.KB.Ref)
	outcomes := make([]engine.WriteOutcome, len(chunks))
	last := lastByID(chunks)
	batch := &bulk{}
	var err error
	for i := range chunks {
		outcomes[i].ID = chunks[i].ID
		if last[chunks[i].ID] != i {
			continue // a later chunk takes its place
		}
		lines, bad := s.indexLines(loc, &chunks[i])
		if bad != nil {
			outcomes[i].Status, outcomes[i].Err = engine.Failed, bad
			continue
		}
		if batch.bytes > 0 && batch.bytes+len(lines) > bulkBytes {
			if err = s.send(ctx, batch, outcomes); err != nil {
				break
			}
			batch = &bulk{}
		}
		batch.add(i, lines)
	}
	if err == nil {
		err = s.send(ctx, batch, outcomes)
	}
	return fillOutcomes(outcomes, chunks, last, err)
}

// lastByID returns the index of the last chunk of each id.
func lastByID(chunks []engine.Chunk) map[string]int {
	last := make(map[string]int, len(chunks))
	for i := range chunks {
		last[chunks[i].ID] = i
	}
	return last
}

// fillOutcomes gives an outcome to chunks that a later one replaced, and to those
// that were not sent. It fails when nothing was written at all.
func fillOutcomes(
	outcomes []engine.WriteOutcome, chunks []engine.Chunk, last map[string]int, failed error,
) ([]engine.WriteOutcome, error) {
	written := false
	for i := range outcomes {
		if last[chunks[i].ID] == i && outcomes[i].Status == "" {
			outcomes[i].Status, outcomes[i].Err = engine.Failed, failed
		}
		written = written || outcomes[i].Status != engine.Failed && outcomes[i].Status != ""
	}
	if failed != nil && !written {
		return nil, failed
	}
	created := map[string]bool{}
	for i := range outcomes {
		at := last[chunks[i].ID]
		if at != i {
			outcomes[i].Status, outcomes[i].Err = outcomes[at].Status, outcomes[at].Err
		}
	}
	for i := range outcomes { // the first one created it, the others replaced it
		if outcomes[i].Status == engine.Created {
			if created[outcomes[i].ID] {
				outcomes[i].Status = engine.Updated
			}
			created[outcomes[i].ID] = true
		}
	}
	return outcomes, nil
}

func (s *Store) indexLines(loc *Location, c *engine.Chunk) ([]byte, error) {
	d, err := s.Document(loc, c)
	if err != nil {
		return nil, err
	}
	lines, err := esquery.BulkIndex{BulkTarget: loc.bulkTarget(c.ID), Document: d}.NDJSON()
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "chunk %q cannot be written as JSON", c.ID)
	}
	return lines, nil
}

func (loc *Location) bulkTarget(chunk string) esquery.BulkTarget {
	return esquery.BulkTarget{Index: loc.alias, ID: documentID(&loc.KB, chunk), Routing: loc.Routing}
}

// bulk is the operations of one _bulk.
type bulk struct {
	items   []bulkItem
	bytes   int
	refresh bool // what it did is seen when it returns
}

type bulkItem struct {
	at    int // index of its outcome
	lines []byte
}

func (b *bulk) add(at int, lines []byte) {
	b.items = append(b.items, bulkItem{at, lines})
	b.bytes += len(lines)
}

func (b *bulk) request() rest.Request {
	body := make([]byte, 0, b.bytes)
	for _, item := range b.items {
		body = append(body, item.lines...)
	}
	request := rest.Request{Method: http.MethodPost, Path: "/_bulk", Lines: body}
	if b.refresh {
		request = request.With("refresh=true")
	}
	return request
}

// bulkResult is what Elasticsearch answers to one operation.
type bulkResult struct {
	ID     string        `json:"_id"`
	Result string        `json:"result"` // created, updated, deleted, not_found
	SeqNo  int64         `json:"_seq_no"`
	Status int           `json:"status"`
	Error  *rest.Refusal `json:"error"`
}

// send runs a _bulk. Items that Elasticsearch was too busy for are sent again
// after a while, a few times.
func (s *Store) send(ctx context.Context, b *bulk, outcomes []engine.WriteOutcome) error {
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval = bulkDelay
	for try := 1; len(b.items) > 0; try++ {
		busy, err := s.sendOnce(ctx, b, outcomes)
		if err != nil || len(busy.items) == 0 || try == bulkTries {
			return err
		}
		b = busy
		select {
		case <-ctx.Done():
			return rest.ContextFault(ctx)
		case <-time.After(delays.NextBackOff()):
		}
	}
	return nil
}

// sendOnce runs a _bulk, sets the outcomes and returns the items to send again.
func (s *Store) sendOnce(ctx context.Context, b *bulk, outcomes []engine.WriteOutcome) (busy *bulk, err error) {
	busy = &bulk{refresh: b.refresh}
	results, err := s.bulk(ctx, b)
	if fault.Is(err, fault.Overloaded) {
		for _, item := range b.items {
			outcomes[item.at].Status, outcomes[item.at].Err = engine.Failed, err
		}
		return b, nil
	}
	if err != nil {
		return busy, err
	}
	for n, item := range b.items {
		a := results[n].outcome()
		outcomes[item.at].Status, outcomes[item.at].Err = a.status, a.err
		if results[n].Status == http.StatusTooManyRequests {
			busy.add(item.at, item.lines)
		}
	}
	return busy, nil
}

// bulkDelete deletes chunks. It returns how many existed, and which are left to delete
// because their index is being replaced.
func (s *Store) bulkDelete(ctx context.Context, loc *Location, ids []string) (existed int, left []string, err error) {
	defer s.recent.changed(loc.KB.Ref)
	for ids := range slices.Chunk(ids, deletesPerBulk) {
		batch := &bulk{}
		for i, id := range ids {
			line, err := esquery.BulkDelete{BulkTarget: loc.bulkTarget(id)}.NDJSON()
			if err != nil {
				return existed, nil, fault.Wrap(fault.InvalidArgument, err, "an id cannot be written as JSON")
			}
			batch.add(i, line)
		}
		results, err := s.bulk(ctx, batch)
		if err != nil {
			return existed, nil, err
		}
		for i := range results {
			a := results[i].outcome()
			switch {
			case beingReplaced(a.err):
				left = append(left, ids[i])
			case a.err != nil:
				return existed, nil, a.err
			case a.existed:
				existed++
			}
		}
	}
	return existed, left, nil
}

// change is the write of a chunk, or the deletion of an id.
type change struct {
	at    int // index of its outcome
	id    string
	chunk *engine.Chunk // nil: delete
	why   error         // it has to be repeated
}

// outcome is what became of an operation.
type outcome struct {
	status  engine.Status
	existed bool
	err     error
}

// outcome reads a result. A conflict, which only a versioned operation can have, means that
// a later write of the same id arrived first: as if this one had come before it.
func (r *bulkResult) outcome() outcome {
	switch {
	case r.Error != nil && r.Status == http.StatusConflict:
		return outcome{status: engine.Updated}
	case r.Error != nil:
		return outcome{status: engine.Failed, err: r.Error.Fault(r.Status)}
	case r.Result == "created":
		return outcome{status: engine.Created}
	default:
		return outcome{status: engine.Updated, existed: r.Result == "deleted"}
	}
}

// Operation writes or deletes one document.
type Operation struct {
	at       int
	target   esquery.BulkTarget
	document any // nil: delete
}

type operations []Operation

// setVersions gives each operation the version of its change.
func (o operations) setVersions(versions map[int]int64) {
	for i := range o {
		o[i].target.Version, o[i].target.VersionType = versions[o[i].at], esquery.External
	}
}

func (o operations) without(refused map[int]error) operations {
	return slices.DeleteFunc(slices.Clone(o), func(o Operation) bool { return refused[o.at] != nil })
}

// operations renders changes for a location; refused are the errors of those that cannot
// be rendered.
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

// sendOperations sends operations as one _bulk: one result each.
func (s *Store) sendOperations(ctx context.Context, ops operations) ([]bulkResult, error) {
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

// bulk sends a _bulk once: one result each.
func (s *Store) bulk(ctx context.Context, b *bulk) ([]bulkResult, error) {
	if len(b.items) == 0 {
		return nil, nil
	}
	var answer struct {
		Items []map[string]bulkResult `json:"items"` // by the operation's name
	}
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

// Versioned writes a document by its _id, or deletes it where document is nil. It does
// nothing where a later version is there already.
func Versioned(index, id string, version int64, document any) Operation {
	target := esquery.BulkTarget{Index: index, ID: id, Version: version, VersionType: esquery.External}
	return Operation{target: target, document: document}
}

// Apply runs operations. It fails unless each was done, or a later version was there already.
func (s *Store) Apply(ctx context.Context, ops []Operation) error {
	results, err := s.sendOperations(ctx, ops)
	if err != nil {
		return err
	}
	for i := range results {
		if a := results[i].outcome(); a.err != nil {
			return a.err
		}
	}
	return nil
}
