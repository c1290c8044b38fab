package storage

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// entry is a knowledge base's document in the catalogue.
type entry struct {
	Tenant string               `json:"tenant"`
	ID     string               `json:"id"`
	KB     engine.KnowledgeBase `json:"kb"`
}

func (s *Store) entryPath(endpoint string, ref engine.Ref) string {
	return "/" + s.catalogueIndex() + "/" + endpoint + "/" + digest(ref.Tenant, ref.ID) + "?refresh=true"
}

// CreateKnowledgeBase implements engine.Store. The index comes first and the
// entry in the catalogue last, so an interrupted creation can be repeated.
func (s *Store) CreateKnowledgeBase(ctx context.Context, kb engine.KnowledgeBase) error {
	switch _, err := s.readEntry(ctx, kb.Ref); {
	case err == nil:
		return fault.New(fault.Conflict, "knowledge base %q exists already", kb.ID)
	case !fault.Is(err, fault.NotFound):
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if kb.Attach != nil {
		loc, err := s.attached(ctx, &kb)
		if err != nil {
			return err
		}
		kb.Dimensions = loc.KB.Dimensions
	} else if err := s.createIndex(ctx, firstGeneration(&kb)); err != nil {
		return err
	}
	request := rest.Put(s.entryPath("_create", kb.Ref), entry{kb.Tenant, kb.ID, kb})
	err := s.client.Change(ctx, request, nil)
	if fault.Is(err, fault.Conflict) {
		return fault.New(fault.Conflict, "knowledge base %q exists already", kb.ID)
	}
	return err
}

// firstGeneration makes a knowledge base one whose storage can be rebuilt: an index behind
// an alias, beginning with generation 1. A shared index has no generations.
func firstGeneration(kb *engine.KnowledgeBase) *engine.KnowledgeBase {
	if !kb.Shared {
		kb.Generation = 1
	}
	return kb
}

// readEntry reads what the catalogue says of a knowledge base.
func (s *Store) readEntry(ctx context.Context, ref engine.Ref) (*engine.KnowledgeBase, error) {
	var found struct {
		Source entry `json:"_source"`
	}
	path, _, _ := strings.Cut(s.entryPath("_doc", ref), "?")
	err := s.client.Read(ctx, rest.Get(path), &found)
	if fault.Is(err, fault.NotFound) {
		return nil, Unknown(ref)
	}
	return &found.Source.KB, err
}

// KnowledgeBase implements engine.Finder.
func (s *Store) KnowledgeBase(ctx context.Context, ref engine.Ref) (engine.KnowledgeBase, error) {
	kb, err := s.readEntry(ctx, ref)
	if err != nil {
		return engine.KnowledgeBase{}, err
	}
	return *kb, nil
}

const entriesPerPage = 1000

// KnowledgeBases implements engine.Store.
func (s *Store) KnowledgeBases(ctx context.Context) ([]engine.KnowledgeBase, error) {
	return s.entries(ctx, esquery.MatchAll{})
}

// entries reads what the catalogue has of a query.
func (s *Store) entries(ctx context.Context, query esquery.Query) ([]engine.KnowledgeBase, error) {
	if err := s.readable(ctx); err != nil {
		return nil, err
	}
	var all []engine.KnowledgeBase
	search := esquery.Search{
		Query: query, Size: entriesPerPage, Source: []string{"tenant", "id", "kb"},
		Sort: []esquery.Sort{{Field: "tenant", Order: esquery.Ascending}, {Field: "id", Order: esquery.Ascending}},
	}
	for {
		request := rest.Post("/"+s.catalogueIndex()+"/_search?ignore_unavailable=true", search)
		a, err := s.client.Search(ctx, request)
		if err != nil {
			return nil, err
		}
		var last entry
		for i := range a.Hits {
			last = entry{}
			if err := json.Unmarshal([]byte(a.Hits[i].Source), &last); err != nil {
				return nil, fault.Wrap(fault.Unavailable, err, "an entry of the catalogue cannot be read")
			}
			all = append(all, last.KB)
		}
		if len(a.Hits) < entriesPerPage {
			return all, nil
		}
		search.SearchAfter = []any{last.Tenant, last.ID}
	}
}

// DeleteKnowledgeBase implements engine.Store. What it holds goes first and the
// entry last, so an interrupted deletion can be repeated. An attached
// index is left as it is.
func (s *Store) DeleteKnowledgeBase(ctx context.Context, ref engine.Ref) error {
	if err := s.readable(ctx); err != nil {
		return err
	}
	kb, err := s.readEntry(ctx, ref)
	if err != nil {
		return err
	}
	if kb.Attach == nil {
		if err := s.deleteContent(ctx, kb); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	s.recent.forget(ref)
	return s.client.Change(ctx, rest.Delete(s.entryPath("_doc", ref)), nil)
}

func (s *Store) deleteContent(ctx context.Context, kb *engine.KnowledgeBase) error {
	loc := s.OwnLocation(kb)
	if kb.Shared {
		_, err := s.deleteWhere(ctx, loc)
		return err
	}
	if err := s.dropMigration(ctx, kb.Ref); err != nil {
		return err
	}
	// An alias cannot be deleted by its name; a migration leaves further generations.
	name := s.Alias(kb)
	live, err := s.liveMappings(ctx, name+","+name+"-v*,"+name+"-log-v*")
	if err != nil {
		return err
	}
	for _, index := range slices.Sorted(maps.Keys(live)) {
		err := s.client.Change(ctx, rest.Delete("/"+url.PathEscape(index)), nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// exactDocuments is the number of documents up to which Describe is exact.
const exactDocuments = 40_000

// Describe implements engine.Store. Over 40,000 documents their number is an
// estimate; bytes are the whole index's, 0 for a shared one.
func (s *Store) Describe(ctx context.Context, kb engine.KnowledgeBase) (*engine.Description, error) {
	return OnIndex(ctx, s, &kb, func(loc *Location) (*engine.Description, error) { return s.describe(ctx, loc) })
}

func (s *Store) describe(ctx context.Context, loc *Location) (*engine.Description, error) {
	a, err := s.client.Search(ctx, loc.describeRequest())
	if err != nil {
		return nil, err
	}
	var aggs struct {
		Documents struct {
			Value int `json:"value"`
		} `json:"documents"`
		Vectors struct {
			Count int `json:"doc_count"`
		} `json:"vectors"`
	}
	if err := json.Unmarshal([]byte(a.Aggregations), &aggs); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "Elasticsearch's answer cannot be read")
	}
	d := &engine.Description{
		Documents: aggs.Documents.Value, Chunks: a.Total, Vectors: aggs.Vectors.Count,
		Details: map[string]any{"index": loc.Index},
	}
	if loc.stale {
		d.Details["tokens"] = "made by another version of the analyzer; write the chunks again"
	}
	if loc.KB.Shared {
		return d, nil
	}
	return d, s.addSize(ctx, loc, d)
}

func (loc *Location) describeRequest() rest.Request {
	vectors := esquery.Bool{Should: loc.someVector()}
	aggs := esquery.Aggregations{"vectors": esquery.FilterAggregation{Filter: esquery.MatchNone{}}}
	if len(vectors.Should) > 0 {
		aggs["vectors"] = esquery.FilterAggregation{Filter: vectors}
	}
	if loc.Names.DocumentID != "" {
		aggs["documents"] = esquery.CardinalityAggregation{Field: loc.Names.DocumentID, Precision: exactDocuments}
	}
	return rest.Post(loc.Path("_search"), esquery.Search{
		Query: esquery.Bool{Filter: loc.Own}, TrackTotal: true, Aggs: aggs,
	})
}

// addSize adds what the index takes on disk, and its deleted documents.
func (s *Store) addSize(ctx context.Context, loc *Location, d *engine.Description) error {
	var stats struct {
		All struct {
			Primaries struct {
				Store struct {
					Bytes int64 `json:"size_in_bytes"`
				} `json:"store"`
				Docs struct {
					Deleted int `json:"deleted"`
				} `json:"docs"`
			} `json:"primaries"`
		} `json:"_all"`
	}
	if err := s.client.Read(ctx, rest.Get(loc.plainPath("_stats/store,docs")), &stats); err != nil {
		return err
	}
	d.Bytes = stats.All.Primaries.Store.Bytes
	d.Details["deleted"] = stats.All.Primaries.Docs.Deleted
	return nil
}

// SaveKnowledgeBase stores a schema, by which searches and writes go from now on.
func (s *Store) SaveKnowledgeBase(ctx context.Context, kb *engine.KnowledgeBase) error {
	request := rest.Put(s.entryPath("_doc", kb.Ref), entry{kb.Tenant, kb.ID, *kb})
	s.recent.forget(kb.Ref)
	return s.client.Change(ctx, request, nil)
}
