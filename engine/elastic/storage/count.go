package storage

import (
	"context"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/mappings"
)

// CountChunks implements engine.ChunkCounter, by what every index says of itself. What a
// migration fills counts once it is in use.
func (s *Store) CountChunks(ctx context.Context, tenant string) (int64, error) {
	all, err := s.entries(ctx, esquery.Term{Field: "tenant", Value: tenant})
	if err != nil {
		return 0, err
	}
	own, shared := map[string]bool{}, map[string]bool{}
	for i := range all {
		if kb := &all[i]; kb.Attach == nil {
			if kb.Shared {
				shared[s.Alias(kb)] = true
			} else {
				own[s.Alias(kb)] = true
			}
		}
	}
	sum := int64(0)
	if len(own) > 0 {
		if sum, err = s.countOwn(ctx, s.prefix+"-kb-"+slug(tenant)+"-*", own); err != nil {
			return 0, err
		}
	}
	ofTenant := esquery.Bool{Filter: []esquery.Query{esquery.Term{Field: mappings.FieldTenant, Value: tenant}}}
	for index := range shared {
		a, err := s.client.Search(ctx, rest.Post(rest.IndexPath(index, "_search"), esquery.Search{
			Query: ofTenant, TrackTotal: true,
		}))
		if err != nil {
			return 0, err
		}
		sum += int64(a.Total)
	}
	return sum, nil
}

// countOwn counts the documents of those indices of a pattern that have, or are, one of the names.
func (s *Store) countOwn(ctx context.Context, pattern string, names map[string]bool) (int64, error) {
	var aliases map[string]struct {
		Aliases map[string]struct{} `json:"aliases"`
	}
	if err := s.client.Read(ctx, rest.Get("/"+pattern+"/_alias"), &aliases); err != nil {
		return 0, err
	}
	var stats struct {
		Indices map[string]struct {
			Primaries struct {
				Docs struct {
					Count int64 `json:"count"`
				} `json:"docs"`
			} `json:"primaries"`
		} `json:"indices"`
	}
	path := "/" + pattern + "/_stats/docs?level=indices&filter_path=indices.*.primaries.docs.count"
	if err := s.client.Read(ctx, rest.Get(path), &stats); err != nil {
		return 0, err
	}
	sum := int64(0)
	for index, has := range aliases {
		used := names[index]
		for name := range has.Aliases {
			used = used || names[name]
		}
		if used {
			sum += stats.Indices[index].Primaries.Docs.Count
		}
	}
	return sum, nil
}
