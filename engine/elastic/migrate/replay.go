package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// stored is a document as an index has it.
type stored struct {
	ID      string          `json:"_id"`
	Version int64           `json:"_version"`
	SeqNo   int64           `json:"_seq_no"`
	Found   bool            `json:"found"` // of _mget
	Source  json.RawMessage `json:"_source"`
	Sort    []any           `json:"sort"`
	Error   *rest.Refusal   `json:"error"`
}

// page is a search for whole documents.
type page struct {
	esquery.Search
	shard *int // nil: all of the index
}

// ascending sorts by a field.
func ascending(field string) []esquery.Sort {
	return []esquery.Sort{{Field: field, Order: esquery.Ascending}}
}

// read runs a page. It takes the time of a write: documents are large.
func (s *Steps) read(ctx context.Context, index string, p page) ([]stored, error) {
	p.Versions = true
	endpoint := "_search"
	if p.shard != nil {
		endpoint += fmt.Sprintf("?preference=_shards:%d", *p.shard)
	}
	request := rest.Post(rest.IndexPath(index, endpoint), p.Search)
	var answer struct {
		TimedOut bool `json:"timed_out"`
		Shards   struct {
			Failed int `json:"failed"`
		} `json:"_shards"`
		Hits struct {
			Hits []stored `json:"hits"`
		} `json:"hits"`
	}
	err := s.client.Change(ctx, request, &answer)
	if err == nil && (answer.TimedOut || answer.Shards.Failed > 0) {
		err = fault.New(fault.Unavailable, "Elasticsearch has a part of the answer only")
	}
	return answer.Hits.Hits, err
}

// fetch reads documents by _id as they are at this moment, searchable or not;
// in the order of the ids.
func (s *Steps) fetch(ctx context.Context, index string, ids []string) ([]stored, error) {
	request := rest.PostJSON(rest.IndexPath(index, "_mget"), struct {
		IDs []string `json:"ids"`
	}{ids})
	var answer struct {
		Docs []stored `json:"docs"`
	}
	if err := s.client.Change(ctx, request, &answer); err != nil {
		return nil, err
	}
	if len(answer.Docs) != len(ids) {
		return nil, fault.New(fault.Unavailable, "Elasticsearch gave %d documents for %d ids", len(answer.Docs), len(ids))
	}
	for i := range answer.Docs {
		if why := answer.Docs[i].Error; why != nil {
			return nil, why.Fault(http.StatusNotFound)
		}
	}
	return answer.Docs, nil
}

// transform makes documents for another shape. Where the server could copy them
// as they are, they stay as they are.
func (s *Steps) transform(
	ctx context.Context, m *engine.Migration, from, to *storage.Location, docs []stored,
) ([]any, error) {
	made := make([]any, len(docs))
	if m.Plan.Diff.Copy == engine.CopyReindex {
		for i := range docs {
			made[i] = docs[i].Source
		}
		return made, nil
	}
	chunks := make([]*engine.Chunk, len(docs))
	for i := range docs {
		c, err := from.WholeChunk(string(docs[i].Source))
		if err != nil {
			return nil, fault.Wrap(fault.Corrupt, err, "a stored chunk cannot be read")
		}
		if c.ID == "" {
			return nil, fault.New(fault.Conflict, "document %q of index %s was not written by this gateway; "+
				"delete it and resume, or cancel", docs[i].ID, from.Index)
		}
		chunks[i] = c
	}
	fitted, err := s.store.Refit(ctx, &from.KB, &to.KB, chunks)
	if err != nil {
		return nil, err
	}
	for i, c := range fitted {
		d, err := s.store.Document(to, c)
		if err != nil {
			return nil, fault.Wrap(fault.Conflict, err, "chunk %q cannot be written in the new shape", c.ID)
		}
		made[i] = d
	}
	return made, nil
}

// replayPage is how many entries of the log are replayed by one request.
const replayPage = 200

// replay makes the other index agree with the true one on every document that
// the change log names after m.Replayed.
func (s *Steps) replay(ctx context.Context, m *engine.Migration, save func(context.Context) error) error {
	log := s.store.ChangeLogOf(m)
	if err := s.refreshIndex(ctx, log.Index); err != nil {
		return err
	}
	for {
		entries, err := s.read(ctx, log.Index, page{Search: esquery.Search{
			Query: esquery.Range{Field: "_seq_no", GT: m.Replayed}, Size: replayPage, Sort: ascending("_seq_no"),
			WholeSource: true,
		}})
		if err != nil || len(entries) == 0 {
			return err
		}
		if err := s.agree(ctx, m, log, entries); err != nil {
			return err
		}
		m.Replayed = entries[len(entries)-1].SeqNo
		m.Progress.Replayed += len(entries)
		if err := save(ctx); err != nil {
			return err
		}
	}
}

// agree brings the documents of log entries from the true index to the other.
// What the true index does not have is deleted there, below the version of a
// write that may be on its way.
func (s *Steps) agree(ctx context.Context, m *engine.Migration, log *storage.ChangeLog, entries []stored) error {
	ids := make([]string, len(entries))
	for i := range entries {
		ids[i] = entries[i].ID
	}
	docs, err := s.fetch(ctx, log.Truth.Index, ids)
	if err != nil {
		return err
	}
	var ops []storage.Operation
	var there []stored
	for i := range docs {
		if docs[i].Found {
			there = append(there, docs[i])
			continue
		}
		var entry storage.LogEntry
		if err := json.Unmarshal(entries[i].Source, &entry); err != nil {
			return fault.Wrap(fault.Corrupt, err, "an entry of the change log cannot be read")
		}
		version := log.Base + entries[i].SeqNo
		if entry.Op == storage.LogIndex {
			version--
		}
		ops = append(ops, storage.Versioned(log.Other.Index, ids[i], version, nil))
	}
	made, err := s.transform(ctx, m, log.Truth, log.Other, there)
	if err != nil {
		return err
	}
	for i := range there {
		ops = append(ops, storage.Versioned(log.Other.Index, there[i].ID, there[i].Version, made[i]))
	}
	return s.store.Apply(ctx, ops)
}
