package storage

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

const (
	chunksPerPage = 1000 // of one request for chunks with their content
	idsPerPage    = 10_000
)

// readingOrder is the order of a document's chunks.
func (loc *Location) readingOrder() []esquery.Sort {
	var order []esquery.Sort
	for _, field := range []string{loc.Names.Ordinal, loc.Names.ID} {
		if field != "" {
			order = append(order, esquery.Sort{Field: field, Order: esquery.Ascending})
		}
	}
	return order
}

// DocumentChunks implements engine.Store. An attached index has no ordinals: its
// chunks come in the index's order, mostly that of writing, and only from the start.
func (s *Store) DocumentChunks(ctx context.Context, req engine.DocumentChunksRequest) ([]engine.Chunk, error) {
	return OnIndex(ctx, s, &req.KB, func(loc *Location) ([]engine.Chunk, error) {
		return s.documentChunks(ctx, loc, req)
	})
}

func (s *Store) documentChunks(
	ctx context.Context, loc *Location, req engine.DocumentChunksRequest,
) (_ []engine.Chunk, err error) {
	if loc.Names.DocumentID == "" || loc.Names.Ordinal == "" && req.After != "" {
		return nil, fault.New(fault.Unsupported,
			"the index of knowledge base %q does not tell the order of chunks", req.KB.ID)
	}
	search := loc.documentSearch(req.DocumentID, min(req.Limit, chunksPerPage))
	search.Source = loc.Sources()
	if loc.Names.Ordinal != "" {
		search.Query = esquery.Bool{Filter: append(loc.documentFilters(req.DocumentID), ordinalRange(loc, req))}
	}
	if req.After != "" {
		if search.SearchAfter, err = s.sortValues(ctx, loc, &req); err != nil {
			return nil, err
		}
	}
	page, err := s.Page(ctx, loc, rest.Post(loc.Path("_search"), search))
	if err != nil {
		return nil, err
	}
	return page.Chunks()
}

func ordinalRange(loc *Location, req engine.DocumentChunksRequest) esquery.Query {
	between := esquery.Range{Field: loc.Names.Ordinal, GTE: req.From}
	if req.To >= 0 {
		between.LTE = req.To
	}
	return between
}

func (loc *Location) documentFilters(documentID string) []esquery.Query {
	return append(slices.Clone(loc.Own), esquery.Term{Field: loc.Names.DocumentID, Value: documentID})
}

func (loc *Location) documentSearch(documentID string, limit int) esquery.Search {
	filters := loc.documentFilters(documentID)
	return esquery.Search{Query: esquery.Bool{Filter: filters}, Size: limit, Sort: loc.readingOrder()}
}

// sortValues returns the sort values of the chunk to continue after.
func (s *Store) sortValues(ctx context.Context, loc *Location, req *engine.DocumentChunksRequest) ([]any, error) {
	request := rest.Post(loc.Path("_search"), esquery.Search{
		Query: esquery.Bool{Filter: append(loc.documentFilters(req.DocumentID), loc.IDFilter([]string{req.After}))},
		Size:  1, DocValueFields: []string{loc.Names.Ordinal},
	})
	a, err := s.client.Search(ctx, request)
	if err != nil {
		return nil, err
	}
	if len(a.Hits) == 0 || a.Hits[0].First(loc.Names.Ordinal) == "" {
		return nil, req.Gone()
	}
	return []any{a.Hits[0].First(loc.Names.Ordinal), req.After}, nil
}

// chunkIDs lists the ids of all chunks of a document.
func (s *Store) chunkIDs(ctx context.Context, loc *Location, documentID string) ([]string, error) {
	search := loc.documentSearch(documentID, idsPerPage)
	search.Sort = []esquery.Sort{{Field: loc.Names.ID, Order: esquery.Ascending}}
	search.DocValueFields, search.NoStored = []string{loc.Names.ID}, true
	var ids []string
	for {
		request := rest.Post(loc.Path("_search"), search)
		a, err := s.client.Search(ctx, request)
		if err != nil {
			return nil, err
		}
		for i := range a.Hits {
			ids = append(ids, a.Hits[i].First(loc.Names.ID))
		}
		if len(a.Hits) < idsPerPage {
			return ids, nil
		}
		search.SearchAfter = []any{ids[len(ids)-1]}
	}
}

// Scan implements engine.Scanner, for the gateway's own indexes.
func (s *Store) Scan(ctx context.Context, req engine.ScanRequest) ([]engine.Chunk, error) {
	return OnIndex(ctx, s, &req.KB, func(loc *Location) ([]engine.Chunk, error) { return s.scan(ctx, loc, req) })
}

func (s *Store) scan(ctx context.Context, loc *Location, req engine.ScanRequest) ([]engine.Chunk, error) {
	if loc.Names.Source.Chunk == "" {
		return nil, fault.New(fault.Unsupported,
			"knowledge base %q is attached: its chunks cannot be read whole", req.KB.ID)
	}
	if req.IDs != nil && len(req.IDs) == 0 || req.Limit <= 0 {
		return nil, nil
	}
	filters := slices.Clone(loc.Own)
	if req.IDs != nil {
		filters = append(filters, loc.IDFilter(req.IDs))
	}
	search := esquery.Search{
		Query: esquery.Bool{Filter: filters}, Size: min(req.Limit, chunksPerPage),
		Sort:   []esquery.Sort{{Field: loc.Names.ID, Order: esquery.Ascending}},
		Source: loc.Sources(),
	}
	for _, vector := range loc.Names.Vectors {
		search.Source = append(search.Source, vector.Name)
	}
	if req.After != "" {
		search.SearchAfter = []any{req.After}
	}
	request := rest.Post(loc.Path("_search"), search)
	a, err := s.client.Search(ctx, request)
	if err != nil {
		return nil, err
	}
	chunks, err := loc.chunks(a)
	if err != nil {
		return nil, err
	}
	for i := range chunks {
		if err := loc.readVectors(a.Hits[i].Source, &chunks[i]); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "a stored vector cannot be read")
		}
	}
	return chunks, nil
}

// storedDocument is a document in a response of _mget.
type storedDocument struct {
	ID          string          `json:"_id"`
	Found       bool            `json:"found"`
	Version     int64           `json:"_version"`
	SeqNo       int64           `json:"_seq_no"`
	PrimaryTerm int64           `json:"_primary_term"`
	Source      json.RawMessage `json:"_source"`
	Error       *rest.Refusal   `json:"error"`
}

func (d *storedDocument) revision() *esquery.Revision {
	return &esquery.Revision{SeqNo: d.SeqNo, PrimaryTerm: d.PrimaryTerm}
}

// chunk reads the chunk, or its id and document; nil where there is none.
func (d *storedDocument) chunk(loc *Location, whole bool) (*engine.Chunk, error) {
	if !d.Found {
		return nil, nil //nolint:nilnil // there is none
	}
	var c *engine.Chunk
	var err error
	if whole {
		c, err = loc.WholeChunk(string(d.Source))
	} else {
		c = &engine.Chunk{}
		err = json.Unmarshal(d.Source, c)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "a stored chunk of knowledge base %q cannot be read", loc.KB.ID)
	}
	if whole && loc.KB.Kind == engine.KindQA && c.QA == nil {
		c.QA = &engine.QA{}
	}
	return c, nil
}

// storedIn reads the documents of chunks in an index as they are at this moment, searchable or not.
func (s *Store) storedIn(
	ctx context.Context, loc *Location, index string, ids []string, whole bool,
) (map[string]storedDocument, error) {
	type wanted struct {
		ID      string `json:"_id"`
		Routing string `json:"routing,omitempty"`
	}
	found := make(map[string]storedDocument, len(ids))
	most := changesPerRound
	if whole {
		most = longestLook
	}
	for some := range slices.Chunk(ids, most) {
		list := make([]wanted, len(some))
		for i, id := range some {
			list[i] = wanted{documentID(&loc.KB, id), loc.Routing}
		}
		request := rest.PostJSON(rest.IndexPath(index, "_mget"), map[string]any{"docs": list})
		var err error
		if whole {
			request, err = s.client.WithVectors(ctx, request)
		} else {
			request = request.With("_source_includes=id,document_id,op") // op: of the change log
		}
		if err != nil {
			return nil, err
		}
		var answer struct {
			Docs []storedDocument `json:"docs"`
		}
		if err := s.client.Read(ctx, request, &answer); err != nil {
			return nil, err
		}
		if len(answer.Docs) != len(some) {
			return nil, fault.New(fault.Unavailable, "Elasticsearch gave %d documents for %d ids", len(answer.Docs), len(some))
		}
		for i, id := range some {
			if why := answer.Docs[i].Error; why != nil {
				return nil, why.Fault(http.StatusNotFound)
			}
			found[id] = answer.Docs[i]
		}
	}
	return found, nil
}
