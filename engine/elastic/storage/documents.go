package storage

import (
	"context"
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
