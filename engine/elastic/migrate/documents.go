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

// storedDocument is a document as an index has it.
type storedDocument struct {
	ID      string          `json:"_id"`
	Version int64           `json:"_version"`
	SeqNo   int64           `json:"_seq_no"`
	Found   bool            `json:"found"` // of _mget
	Source  json.RawMessage `json:"_source"`
	Sort    []any           `json:"sort"`
	Error   *rest.Refusal   `json:"error"`
}

// documentSearch is a search for whole documents.
type documentSearch struct {
	esquery.Search
	shard *int // nil: all of the index
}

// ascending sorts by a field.
func ascending(field string) []esquery.Sort {
	return []esquery.Sort{{Field: field, Order: esquery.Ascending}}
}

// searchDocuments may take as long as a write: documents are large.
func (s *Steps) searchDocuments(ctx context.Context, index string, search documentSearch) ([]storedDocument, error) {
	search.Versions = true
	endpoint := "_search"
	if search.shard != nil {
		endpoint += fmt.Sprintf("?preference=_shards:%d", *search.shard)
	}
	request, err := s.client.WithVectors(ctx, rest.Post(rest.IndexPath(index, endpoint), search.Search))
	if err != nil {
		return nil, err
	}
	var answer struct {
		TimedOut bool `json:"timed_out"`
		Shards   struct {
			Failed int `json:"failed"`
		} `json:"_shards"`
		Hits struct {
			Hits []storedDocument `json:"hits"`
		} `json:"hits"`
	}
	err = s.client.Change(ctx, request, &answer)
	if err == nil && (answer.TimedOut || answer.Shards.Failed > 0) {
		err = fault.New(fault.Unavailable, "Elasticsearch has a part of the answer only")
	}
	return answer.Hits.Hits, err
}

// getDocuments reads documents by _id as they are at this moment, searchable or not,
// in the order of the ids.
func (s *Steps) getDocuments(ctx context.Context, index string, ids []string) ([]storedDocument, error) {
	request, err := s.client.WithVectors(ctx, rest.PostJSON(rest.IndexPath(index, "_mget"), struct {
		IDs []string `json:"ids"`
	}{ids}))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Docs []storedDocument `json:"docs"`
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

// convert makes documents of another shape. Those that Elasticsearch could copy stay as
// they are.
func (s *Steps) convert(
	ctx context.Context, m *engine.Migration, from, to *storage.Location, docs []storedDocument,
) ([]any, error) {
	converted := make([]any, len(docs))
	if m.Diff().Copy == engine.CopyReindex {
		for i := range docs {
			converted[i] = docs[i].Source
		}
		return converted, nil
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
		converted[i] = d
	}
	return converted, nil
}

// countAll counts the documents of an index.
func (s *Steps) countAll(ctx context.Context, index string) (int, error) {
	var answer struct {
		Count int `json:"count"`
	}
	err := s.client.Read(ctx, rest.Get(rest.IndexPath(index, "_count")), &answer)
	return answer.Count, err
}
