package storage

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

const (
	batchBytes = 8 << 20 // of one _bulk, unless one chunk alone is larger
	bulkTries  = 5       // of items that Elasticsearch was too busy for
	bulkDelay  = 100 * time.Millisecond
	bulkPath   = "/_bulk"
)

// Write implements engine.Store. Chunks travel in _bulk requests of limited
// size; the first request that fails as a whole fails all chunks from there on.
func (s *Store) Write(ctx context.Context, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
	loc, err := s.writeTarget(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	outcomes, err := s.store(ctx, loc, req.Chunks)
	if err == nil && req.Refresh {
		err = s.refresh(ctx, loc)
	}
	return outcomes, err
}

func (s *Store) writeTarget(ctx context.Context, kb *engine.KnowledgeBase) (*Location, error) {
	if err := writable(kb); err != nil {
		return nil, err
	}
	return s.Locate(ctx, kb)
}

func (s *Store) write(ctx context.Context, loc *Location, chunks []engine.Chunk) ([]engine.WriteOutcome, error) {
	defer s.recent.changed(loc.KB.Ref)
	outcomes := make([]engine.WriteOutcome, len(chunks))
	last := lastOf(chunks)
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
		if batch.bytes > 0 && batch.bytes+len(lines) > batchBytes {
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
	return settle(outcomes, chunks, last, err)
}

// lastOf gives the place of the last chunk of each id.
func lastOf(chunks []engine.Chunk) map[string]int {
	last := make(map[string]int, len(chunks))
	for i := range chunks {
		last[chunks[i].ID] = i
	}
	return last
}

// settle gives an outcome to chunks that a later one replaced, and to those
// that were not sent. When nothing was written at all, the error is the answer.
func settle(
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
	for i := range outcomes { // the first one made it, the others replaced it
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
	items []bulkItem
	bytes int
}

type bulkItem struct {
	at    int // which outcome it decides
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
	return rest.Request{Method: http.MethodPost, Path: bulkPath, Lines: body}
}

// bulkAnswer has one result per operation, under the operation's name.
type bulkAnswer struct {
	Items []map[string]bulkResult `json:"items"`
}

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
			return rest.GivenUp(ctx)
		case <-time.After(delays.NextBackOff()):
		}
	}
	return nil
}

func (s *Store) sendOnce(ctx context.Context, b *bulk, outcomes []engine.WriteOutcome) (busy *bulk, err error) {
	var answer bulkAnswer
	busy = &bulk{}
	err = s.client.Change(ctx, b.request(), &answer)
	if fault.Is(err, fault.Overloaded) {
		for _, item := range b.items {
			outcomes[item.at].Status, outcomes[item.at].Err = engine.Failed, err
		}
		return b, nil
	}
	if err != nil {
		return busy, err
	}
	if len(answer.Items) != len(b.items) {
		return busy, fault.New(fault.Unavailable, "Elasticsearch gave %d results for %d operations",
			len(answer.Items), len(b.items))
	}
	for n, item := range b.items {
		for _, result := range answer.Items[n] {
			outcomes[item.at].Status, outcomes[item.at].Err = result.outcome()
			if result.Status == http.StatusTooManyRequests {
				busy.add(item.at, item.lines)
			}
		}
	}
	return busy, nil
}

func (r *bulkResult) outcome() (engine.Status, error) {
	switch {
	case r.Error != nil:
		return engine.Failed, r.Error.Fault(r.Status)
	case r.Result == "created":
		return engine.Created, nil
	default:
		return engine.Updated, nil
	}
}

func (s *Store) refresh(ctx context.Context, loc *Location) error {
	path := loc.plainPath("_refresh")
	if name := s.Alias(&loc.KB); loc.Index != name { // which may stand for another generation by now
		path = "/" + url.PathEscape(loc.Index+","+name) + "/_refresh?ignore_unavailable=true"
	}
	return s.client.Change(ctx, rest.Post(path, nil), nil)
}

// ReplaceDocument implements engine.Store. The new chunks are written, then the
// document's other chunks are deleted by id, then both become visible by one
// refresh. Elasticsearch has no transactions: its own refresh, once a second,
// may fall between the two requests, and for the milliseconds until ours a
// search sees new and old chunks together, never none. When a new chunk
// fails, nothing is deleted, so that a repeated call starts from what was there.
func (s *Store) ReplaceDocument(
	ctx context.Context, documentID string, req engine.WriteRequest,
) ([]engine.WriteOutcome, error) {
	loc, err := s.writeTarget(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	if err := s.refresh(ctx, loc); err != nil { // so that chunks written a moment ago are found
		return nil, err
	}
	old, err := s.chunkIDs(ctx, loc, documentID)
	if err != nil {
		return nil, err
	}
	outcomes, err := s.store(ctx, loc, req.Chunks)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(outcomes, func(o engine.WriteOutcome) bool { return o.Status == engine.Failed }) {
		return outcomes, s.refresh(ctx, loc)
	}
	kept := lastOf(req.Chunks)
	old = slices.DeleteFunc(old, func(id string) bool { _, found := kept[id]; return found })
	if _, err := s.remove(ctx, loc, old); err != nil {
		return outcomes, err
	}
	return outcomes, s.refresh(ctx, loc)
}

// DeleteChunks implements engine.Store.
func (s *Store) DeleteChunks(ctx context.Context, kb engine.KnowledgeBase, ids []string) (int, error) {
	loc, err := s.writeTarget(ctx, &kb)
	if err != nil {
		return 0, err
	}
	n, err := s.remove(ctx, loc, ids)
	if err != nil || n == 0 {
		return n, err
	}
	return n, s.refresh(ctx, loc)
}

const deletesPerBulk = 10_000

// deleteChunks says how many of the chunks existed, and which are to be deleted
// again because their index is being replaced.
func (s *Store) deleteChunks(ctx context.Context, loc *Location, ids []string) (existed int, left []string, err error) {
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
		var answer bulkAnswer
		if err := s.client.Change(ctx, batch.request(), &answer); err != nil {
			return existed, nil, err
		}
		if len(answer.Items) != len(ids) {
			return existed, nil, fault.New(fault.Unavailable, "Elasticsearch gave %d results for %d operations",
				len(answer.Items), len(ids))
		}
		for i := range answer.Items {
			result := answer.Items[i]["delete"]
			f := result.fate()
			switch {
			case moved(f.err):
				left = append(left, ids[i])
			case f.err != nil:
				return existed, nil, f.err
			case f.existed:
				existed++
			}
		}
	}
	return existed, left, nil
}

// DeleteDocument implements engine.Store.
func (s *Store) DeleteDocument(ctx context.Context, kb engine.KnowledgeBase, documentID string) (int, error) {
	loc, err := s.writeTarget(ctx, &kb)
	if err != nil {
		return 0, err
	}
	if loc.KB.Shared {
		defer s.recent.changed(loc.KB.Ref)
		return s.deleteWhere(ctx, loc, esquery.Term{Field: loc.Names.DocumentID, Value: documentID})
	}
	// By id and not by query: each deletion is known to a migration under way.
	if err := s.refresh(ctx, loc); err != nil {
		return 0, err
	}
	ids, err := s.chunkIDs(ctx, loc, documentID)
	if err != nil {
		return 0, err
	}
	n, err := s.remove(ctx, loc, ids)
	if err != nil || n == 0 {
		return n, err
	}
	return n, s.refresh(ctx, loc)
}

// deleteWhere deletes what a query finds within the knowledge base, what was
// written a moment ago included.
func (s *Store) deleteWhere(ctx context.Context, loc *Location, queries ...esquery.Query) (int, error) {
	if err := s.refresh(ctx, loc); err != nil {
		return 0, err
	}
	query := esquery.Bool{Filter: append(slices.Clone(loc.Own), queries...)}
	request := rest.Post(
		loc.Path("_delete_by_query", "conflicts", "proceed", "refresh", "true"), esquery.DeleteByQuery{Query: query},
	)
	var answer struct {
		Deleted int `json:"deleted"`
	}
	err := s.client.Change(ctx, request, &answer)
	return answer.Deleted, err
}
