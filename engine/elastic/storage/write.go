package storage

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// Write implements engine.Store. Chunks travel in _bulk requests of limited
// size; the first request that fails as a whole fails all chunks from there on.
func (s *Store) Write(ctx context.Context, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
	return s.watched.Write("write", func() ([]engine.WriteOutcome, error) { return s.write(ctx, req) })
}

func (s *Store) write(ctx context.Context, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
	loc, err := s.writeTarget(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	outcomes, err := s.writeChunks(ctx, loc, &req)
	if err == nil && req.Refresh {
		err = s.Refresh(ctx, loc)
	}
	return outcomes, err
}

func (s *Store) writeTarget(ctx context.Context, kb *engine.KnowledgeBase) (*Location, error) {
	if err := writable(kb); err != nil {
		return nil, err
	}
	return s.Locate(ctx, kb)
}

// Refresh makes what was written visible to searches.
func (s *Store) Refresh(ctx context.Context, loc *Location) error {
	path := loc.plainPath("_refresh")
	if name := s.Alias(&loc.KB); loc.Index != name { // the alias may point to another generation by now
		path = "/" + url.PathEscape(loc.Index+","+name) + "/_refresh?ignore_unavailable=true"
	}
	return s.client.Change(ctx, rest.Post(path, nil), nil)
}

// ReplaceDocument implements engine.Store. The new chunks are written, then the document's
// other chunks are deleted by id, then both become visible by one refresh. Elasticsearch
// has no transactions: its own refresh, once a second, may fall between the two requests,
// and for the milliseconds until ours a search sees new and old chunks together, never
// none. When a new chunk fails, nothing is deleted, so that a retry starts from the same
// state.
func (s *Store) ReplaceDocument(
	ctx context.Context, documentID string, req engine.WriteRequest,
) ([]engine.WriteOutcome, error) {
	if err := writable(&req.KB); err != nil {
		return nil, err
	}
	return s.watched.Write("replace", func() ([]engine.WriteOutcome, error) {
		return OnIndex(ctx, s, &req.KB, func(loc *Location) ([]engine.WriteOutcome, error) {
			return s.replaceDocument(ctx, loc, documentID, &req)
		})
	})
}

func (s *Store) replaceDocument(
	ctx context.Context, loc *Location, documentID string, req *engine.WriteRequest,
) ([]engine.WriteOutcome, error) {
	if err := s.Refresh(ctx, loc); err != nil { // so that chunks written a moment ago are found
		return nil, err
	}
	old, err := s.chunkIDs(ctx, loc, documentID)
	if err != nil {
		return nil, err
	}
	kept := lastByID(req.Chunks, nil)
	old = slices.DeleteFunc(old, func(id string) bool { _, found := kept[id]; return found })
	if err := s.refuse(ctx, loc, req, old); err != nil {
		return nil, err
	}
	outcomes, err := s.writeChunks(ctx, loc, req)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(outcomes, func(o engine.WriteOutcome) bool { return o.Status == engine.Failed }) {
		return outcomes, s.Refresh(ctx, loc)
	}
	if _, err := s.removeOf(ctx, loc, documentID, old); err != nil {
		return outcomes, err
	}
	return outcomes, s.Refresh(ctx, loc)
}

// refuse returns the error of the first chunk that prevents the replacement of a document: one that may not be
// written, or one of the others that may not be removed.
func (s *Store) refuse(ctx context.Context, loc *Location, req *engine.WriteRequest, others []string) error {
	if req.Copy {
		return nil
	}
	for i, err := range req.Claims() {
		return &engine.Refused{ID: req.Chunks[i].ID, Err: err}
	}
	documents := make(map[string]string, len(req.Chunks))
	ids := make([]string, 0, len(req.Chunks))
	for i := range req.Chunks {
		documents[req.Chunks[i].ID] = req.Chunks[i].DocumentID
		ids = append(ids, req.Chunks[i].ID)
	}
	if req.Admit != nil {
		ids = append(ids, others...)
	}
	for some := range slices.Chunk(ids, changesPerRound) {
		stored, err := s.storedIn(ctx, loc, loc.Index, some, req.Admit != nil)
		if err != nil {
			return err
		}
		for _, id := range some {
			d := stored[id]
			c, err := d.chunk(loc, req.Admit != nil)
			if err == nil && c != nil {
				err = req.Admits(c, cmp.Or(documents[id], c.DocumentID))
			}
			if err != nil {
				return &engine.Refused{ID: id, Err: err}
			}
		}
	}
	return nil
}

// removeOf deletes chunks if they still belong to a document, and returns their number. Searches see it after the
// next refresh.
func (s *Store) removeOf(ctx context.Context, loc *Location, documentID string, ids []string) (int, error) {
	removed := 0
	for some := range slices.Chunk(ids, engine.MaxChange) {
		outcomes, err := s.changeChunks(ctx, loc, &engine.ChangeRequest{
			KB: loc.KB, IDs: some, Edit: engine.RemoveThose([]filter.Condition{engine.OfDocument(documentID)}),
		}, false)
		if err != nil {
			return removed, err
		}
		for i := range outcomes {
			if outcomes[i].Err != nil {
				return removed, outcomes[i].Err
			}
			if outcomes[i].Verdict == engine.Remove {
				removed++
			}
		}
	}
	return removed, nil
}

// DeleteChunks implements engine.Store.
func (s *Store) DeleteChunks(ctx context.Context, kb engine.KnowledgeBase, ids []string) (int, error) {
	loc, err := s.writeTarget(ctx, &kb)
	if err != nil {
		return 0, err
	}
	return s.watched.Delete(func() (int, error) { return s.removeAndRefresh(ctx, loc, ids) })
}

// DeleteDocument implements engine.Store.
func (s *Store) DeleteDocument(ctx context.Context, kb engine.KnowledgeBase, documentID string) (int, error) {
	if err := writable(&kb); err != nil {
		return 0, err
	}
	return s.watched.Delete(func() (int, error) {
		return OnIndex(ctx, s, &kb, func(loc *Location) (int, error) { return s.deleteDocument(ctx, loc, documentID) })
	})
}

func (s *Store) deleteDocument(ctx context.Context, loc *Location, documentID string) (int, error) {
	// By id and not by query: each deletion is known to a migration under way.
	if err := s.Refresh(ctx, loc); err != nil {
		return 0, err
	}
	ids, err := s.chunkIDs(ctx, loc, documentID)
	if err != nil {
		return 0, err
	}
	n, err := s.removeOf(ctx, loc, documentID, ids)
	if err != nil || n == 0 {
		return n, err
	}
	return n, s.Refresh(ctx, loc)
}

// removeAndRefresh removes chunks, and returns when no search finds them any more.
func (s *Store) removeAndRefresh(ctx context.Context, loc *Location, ids []string) (int, error) {
	n, err := s.removeChunks(ctx, loc, ids)
	if err != nil || n == 0 {
		return n, err
	}
	return n, s.Refresh(ctx, loc)
}

// deleteWhere deletes the chunks of the knowledge base that match, those written a moment
// ago included.
func (s *Store) deleteWhere(ctx context.Context, loc *Location, queries ...esquery.Query) (int, error) {
	if err := s.Refresh(ctx, loc); err != nil {
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

// writable refuses attached knowledge bases.
func writable(kb *engine.KnowledgeBase) error {
	if kb.Attach == nil {
		return nil
	}
	return fault.New(fault.ReadOnly,
		"knowledge base %q is attached to an index of somebody else's and is never written to", kb.ID)
}

// ChangeChunks implements engine.Store.
func (s *Store) ChangeChunks(ctx context.Context, req engine.ChangeRequest) ([]engine.ChangeOutcome, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	loc, err := s.writeTarget(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	return s.watched.Change(func() ([]engine.ChangeOutcome, error) {
		outcomes, err := s.changeChunks(ctx, loc, &req, true)
		seen := slices.ContainsFunc(outcomes, func(o engine.ChangeOutcome) bool {
			return o.Verdict == engine.Remove || o.Verdict == engine.Put && req.Refresh
		})
		if err == nil && seen {
			err = s.Refresh(ctx, loc)
		}
		return outcomes, err
	})
}

// changeChunks changes chunks, which searches see with the next refresh. The Edit gets them whole, or their ids and
// documents.
func (s *Store) changeChunks(
	ctx context.Context, loc *Location, req *engine.ChangeRequest, whole bool,
) ([]engine.ChangeOutcome, error) {
	outcomes := make([]engine.ChangeOutcome, len(req.IDs))
	changes := make([]change, len(req.IDs))
	for i, id := range req.IDs {
		o := &outcomes[i]
		o.ID = id
		changes[i] = change{at: i, id: id, whole: whole, decide: func(c *engine.Chunk) (*engine.Chunk, bool, error) {
			if o.Verdict = engine.Missing; c == nil {
				return nil, true, nil
			}
			var err error
			if o.Verdict, err = req.Run(c); err != nil || o.Verdict == engine.Keep {
				return nil, true, err
			}
			if o.Verdict == engine.Remove {
				c = nil
			}
			return c, false, nil
		}}
	}
	report := func(c change, o outcome) {
		if outcomes[c.at].Err = o.err; o.err != nil {
			outcomes[c.at].Verdict = engine.Keep
		}
	}
	first, twice := splitDuplicates(changes)
	failed := s.apply(ctx, loc, first, report)
	for i := range twice { // an id that occurs twice is edited in turn
		failed = errors.Join(failed, s.apply(ctx, loc, twice[i:i+1], report))
	}
	if failed != nil && !slices.ContainsFunc(outcomes, func(o engine.ChangeOutcome) bool { return o.Err == nil }) {
		return nil, failed
	}
	return outcomes, nil
}

// splitDuplicates separates the changes whose id occurred before.
func splitDuplicates(changes []change) (first, twice []change) {
	seen := make(map[string]bool, len(changes))
	for _, c := range changes {
		if seen[c.id] {
			twice = append(twice, c)
			continue
		}
		seen[c.id] = true
		first = append(first, c)
	}
	return first, twice
}

// writeChunks writes chunks to where the knowledge base is stored at this moment.
func (s *Store) writeChunks(
	ctx context.Context, loc *Location, req *engine.WriteRequest,
) ([]engine.WriteOutcome, error) {
	refused := req.Claims()
	last := lastByID(req.Chunks, refused)
	outcomes := make([]engine.WriteOutcome, len(req.Chunks))
	var changes []change
	for i := range req.Chunks {
		chunk := &req.Chunks[i]
		outcomes[i].ID = chunk.ID
		if refused[i] != nil {
			outcomes[i].Status, outcomes[i].Err = engine.Failed, refused[i]
		} else if last[chunk.ID] == i {
			changes = append(changes, writing(req, i))
		}
	}
	failed := s.apply(ctx, loc, changes, func(c change, o outcome) {
		outcomes[c.at].Status, outcomes[c.at].Err = o.status, o.err
	})
	return fillOutcomes(outcomes, last, refused, failed)
}

// writing is the change that writes a chunk of a request, where it may be written.
func writing(req *engine.WriteRequest, i int) change {
	chunk := &req.Chunks[i]
	c := change{at: i, id: chunk.ID, chunk: chunk, whole: req.Admit != nil}
	if req.Copy {
		return c
	}
	c.decide = func(stored *engine.Chunk) (*engine.Chunk, bool, error) {
		if stored == nil {
			return chunk, false, nil
		}
		return chunk, false, req.Admits(stored, chunk.DocumentID)
	}
	return c
}

// removeChunks deletes chunks from where the knowledge base is stored at this moment. It
// returns how many existed.
func (s *Store) removeChunks(ctx context.Context, loc *Location, ids []string) (int, error) {
	changes := make([]change, len(ids))
	for i, id := range ids {
		changes[i] = change{at: i, id: id}
	}
	outcomes := make([]outcome, len(ids)) // a change repeated on another index is reported twice
	failed := s.apply(ctx, loc, changes, func(c change, o outcome) { outcomes[c.at] = o })
	existed := 0
	for _, o := range outcomes {
		if failed == nil {
			failed = o.err
		}
		if o.existed {
			existed++
		}
	}
	return existed, failed
}
