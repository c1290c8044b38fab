package storage

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

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
