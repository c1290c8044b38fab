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
	bulkBytes = 8 << 20 // of one _bulk, unless one chunk alone is larger
	bulkTries = 5       // of items that Elasticsearch was too busy for
	bulkDelay = 100 * time.Millisecond
)

// lastByID returns the index of the last chunk of each id, without those that are refused.
func lastByID(chunks []engine.Chunk, refused map[int]error) map[string]int {
	last := make(map[string]int, len(chunks))
	for i := range chunks {
		if refused[i] == nil {
			last[chunks[i].ID] = i
		}
	}
	return last
}

// fillOutcomes gives an outcome to chunks that a later one replaced, and to those
// that were not sent; the refused have theirs. It fails when nothing was written at all.
func fillOutcomes(
	outcomes []engine.WriteOutcome, last map[string]int, refused map[int]error, failed error,
) ([]engine.WriteOutcome, error) {
	written := false
	for i := range outcomes {
		if last[outcomes[i].ID] == i && outcomes[i].Status == "" {
			outcomes[i].Status, outcomes[i].Err = engine.Failed, failed
		}
		written = written || outcomes[i].Status != engine.Failed && outcomes[i].Status != ""
	}
	if failed != nil && !written {
		return nil, failed
	}
	created := map[string]bool{}
	for i := range outcomes {
		if at := last[outcomes[i].ID]; at != i && refused[i] == nil {
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

func (loc *Location) bulkTarget(chunk string) esquery.BulkTarget {
	return esquery.BulkTarget{Index: loc.alias, ID: documentID(&loc.KB, chunk), Routing: loc.Routing}
}

// bulk is the operations of one _bulk.
type bulk struct {
	items   [][]byte // the lines of each
	ids     []string // ids of their documents
	bytes   int
	refresh bool // changes are visible when it returns
}

func (b *bulk) add(id string, lines []byte) {
	b.items, b.ids = append(b.items, lines), append(b.ids, id)
	b.bytes += len(lines)
}

func (b *bulk) request() rest.Request {
	body := make([]byte, 0, b.bytes)
	for _, lines := range b.items {
		body = append(body, lines...)
	}
	request := rest.Request{Method: http.MethodPost, Path: "/_bulk", Lines: body}
	if b.refresh {
		request = request.With("refresh=true")
	}
	return request
}

// bulkResult is Elasticsearch's response to one operation.
type bulkResult struct {
	ID     string        `json:"_id"`
	Result string        `json:"result"` // created, updated, deleted, not_found
	SeqNo  int64         `json:"_seq_no"`
	Status int           `json:"status"`
	Error  *rest.Refusal `json:"error"`
}

// outcome is the result of an operation.
type outcome struct {
	status  engine.Status
	existed bool
	err     error
}

// outcome reads a result. A conflict of a versioned operation means that a later write of the same id arrived
// first, as if this one had preceded it. (Conditional operations are retried.)
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
	document any  // nil: delete
	create   bool // only where there is none
}

// conditional reports whether a conflict means that the document changed since it was read.
func (o *Operation) conditional() bool { return o.create || o.target.Unchanged != nil }

type operations []Operation

// setVersions gives each operation the version of its change.
func (o operations) setVersions(versions map[int]int64) {
	for i := range o {
		o[i].target.Version, o[i].target.VersionType = versions[o[i].at], esquery.External
		o[i].target.Unchanged, o[i].create = nil, false // the log has decided
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
		op := Operation{at: c.at, target: loc.bulkTarget(c.id), create: c.was.absent}
		op.target.Unchanged = c.was.revision
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

// sendOperations sends operations as few _bulk of limited size: one result each. Those of a request that failed, and of
// the ones behind it, have none.
func (s *Store) sendOperations(ctx context.Context, ops operations) ([]bulkResult, error) {
	var results []bulkResult
	batch := &bulk{}
	flush := func() error {
		some, err := s.bulk(ctx, batch)
		results, batch = append(results, some...), &bulk{}
		return err
	}
	for _, op := range ops {
		var lines []byte
		var err error
		if op.document == nil {
			lines, err = esquery.BulkDelete{BulkTarget: op.target}.NDJSON()
		} else {
			lines, err = esquery.BulkIndex{BulkTarget: op.target, Document: op.document, Create: op.create}.NDJSON()
		}
		if err != nil {
			return results, fault.Wrap(fault.InvalidArgument, err, "a chunk cannot be written as JSON")
		}
		if batch.bytes > 0 && batch.bytes+len(lines) > bulkBytes {
			if err := flush(); err != nil {
				return results, err
			}
		}
		batch.add(op.target.ID, lines)
	}
	return results, flush()
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
		if id := results[i].ID; id != "" && id != b.ids[i] {
			return nil, fault.New(fault.Unavailable,
				"Elasticsearch gave its results in another order than that of the operations")
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

// send runs a _bulk until every item is done. Those that Elasticsearch was too busy for are sent again after a while,
// a few times.
func (s *Store) send(ctx context.Context, b *bulk) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		results, err := s.bulk(ctx, b)
		busy := &bulk{refresh: b.refresh}
		for i := range results {
			switch a := results[i].outcome(); {
			case results[i].Status == http.StatusTooManyRequests:
				busy.add(b.ids[i], b.items[i])
				err = a.err
			case a.err != nil:
				return struct{}{}, backoff.Permanent(a.err)
			}
		}
		if err != nil && !fault.Is(err, fault.Overloaded) {
			return struct{}{}, backoff.Permanent(err)
		}
		if len(busy.items) > 0 {
			b = busy
		}
		return struct{}{}, err
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: bulkDelay, RandomizationFactor: backoff.DefaultRandomizationFactor,
		Multiplier: backoff.DefaultMultiplier, MaxInterval: time.Second,
	}), backoff.WithMaxTries(bulkTries))
	return err
}
