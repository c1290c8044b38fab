package storage

import (
	"context"

	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// usage counts what tenants write: a document a tenant, changed only by who has seen its latest
// revision.
type usage struct{ store *Store }

// tenantUsage is a tenant's document.
type tenantUsage struct {
	Tenant string `json:"tenant"`
	Day    string `json:"day"`
	Bytes  int64  `json:"bytes"`
}

// Usage gives the store of what tenants write; it lives as long as the engine.
func (s *Store) Usage() quota.Store { return &usage{s} }

// usageIndex holds one document per tenant.
func (s *Store) usageIndex() string { return s.prefix + "-usage" }

// Add implements quota.Store.
func (u *usage) Add(ctx context.Context, day string, bytes map[string]int64) (map[string]int64, error) {
	sums := make(map[string]int64, len(bytes))
	for tenant, n := range bytes {
		sum, err := u.add(ctx, tenantUsage{Tenant: tenant, Day: day, Bytes: n})
		if err != nil {
			return sums, err
		}
		sums[tenant] = sum
	}
	return sums, nil
}

// add is repeated when another gateway was faster, and when the first of all has to make the
// index.
func (u *usage) add(ctx context.Context, more tenantUsage) (int64, error) {
	s := u.store
	id := digest(more.Tenant)
	for {
		var found struct {
			SeqNo       int64       `json:"_seq_no"`
			PrimaryTerm int64       `json:"_primary_term"`
			Source      tenantUsage `json:"_source"`
		}
		err := s.client.Read(ctx, rest.Get(rest.IndexPath(s.usageIndex(), "_doc/"+id)), &found)
		next := more
		var request rest.Request
		switch {
		case fault.Is(err, fault.NotFound):
			if err := s.prepare(ctx); err != nil {
				return 0, err
			}
			if err := s.EnsureIndex(ctx, s.usageIndex(), mappings.Usage()); err != nil {
				return 0, err
			}
			request = rest.Put(rest.IndexPath(s.usageIndex(), "_create/"+id), next)
		case err != nil:
			return 0, err
		case found.Source.Day > more.Day || found.Source.Day == more.Day && more.Bytes == 0:
			return found.Source.Bytes, nil
		default:
			if found.Source.Day == more.Day {
				next.Bytes += found.Source.Bytes
			}
			request = rest.Put(rest.IndexPath(s.usageIndex(), "_doc/"+id), next).
				With(ifUnchanged([2]int64{found.SeqNo, found.PrimaryTerm}))
		}
		if err := s.client.Change(ctx, request, nil); !fault.Is(err, fault.Conflict) {
			return next.Bytes, err
		}
	}
}

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
