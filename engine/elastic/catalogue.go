package elastic

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
	"github.com/hybridge-search/hybridge/mappings"
)

// entry is a knowledge base's document in the catalogue.
type entry struct {
	Tenant string               `json:"tenant"`
	ID     string               `json:"id"`
	KB     engine.KnowledgeBase `json:"kb"`
}

func (e *Engine) entryPath(endpoint string, ref engine.Ref) string {
	return "/" + e.catalogueIndex() + "/" + endpoint + "/" + digest(ref.Tenant, ref.ID) + "?refresh=true"
}

// CreateKnowledgeBase implements engine.Store. The index comes first and the
// entry in the catalogue last, so a creation that was cut short can be repeated.
func (e *Engine) CreateKnowledgeBase(ctx context.Context, kb engine.KnowledgeBase) error {
	switch _, err := e.catalogued(ctx, kb.Ref); {
	case err == nil:
		return fault.New(fault.Conflict, "knowledge base %q exists already", kb.ID)
	case !fault.Is(err, fault.NotFound):
		return err
	}
	if err := e.prepare(ctx); err != nil {
		return err
	}
	if kb.Attach != nil {
		t, err := e.attached(ctx, &kb)
		if err != nil {
			return err
		}
		kb.Dimensions = t.kb.Dimensions
	} else if err := e.createIndex(ctx, generations(&kb)); err != nil {
		return err
	}
	s := rest.Put(e.entryPath("_create", kb.Ref), entry{kb.Tenant, kb.ID, kb})
	err := e.client.Change(ctx, s, nil)
	if fault.Is(err, fault.Conflict) {
		return fault.New(fault.Conflict, "knowledge base %q exists already", kb.ID)
	}
	return err
}

// prepare makes the catalogue, and the template that keeps a write to a deleted
// knowledge base from making an index.
func (e *Engine) prepare(ctx context.Context) error {
	template := rest.Put("/_index_template/"+e.prefix, mappings.NoAutoCreate(e.prefix+"-*"))
	if err := e.client.Change(ctx, template, nil); err != nil {
		return err
	}
	index := rest.Put("/"+e.catalogueIndex(), mappings.Catalogue())
	if err := e.client.Change(ctx, index, nil); err != nil && !fault.Is(err, fault.Conflict) {
		return err
	}
	return nil
}

// generations makes a knowledge base one whose storage can be rebuilt: behind an
// alias, beginning with generation 1.
func generations(kb *engine.KnowledgeBase) *engine.KnowledgeBase {
	if !kb.Shared {
		kb.Generation = 1
	}
	return kb
}

func (e *Engine) createIndex(ctx context.Context, kb *engine.KnowledgeBase) error {
	index, err := mappings.Desired(kb, e.tokenizer.Fingerprint())
	if err != nil {
		return err
	}
	if !kb.Shared {
		index.Aliases = map[string]mappings.Alias{e.indexOf(kb): {Write: true}, e.writeAlias(kb): {Write: true}}
	}
	s := rest.Put("/"+e.generationOf(kb), index)
	err = e.client.Change(ctx, s, nil)
	switch {
	case fault.Is(err, fault.Conflict): // a shared one, or left by a creation that was cut short
		return e.verifyIndex(ctx, kb)
	case fault.Is(err, fault.InvalidArgument) && mappings.NeedsIK(kb.Analyzer):
		return needsIK(kb.Analyzer, err)
	}
	return err
}

func needsIK(analyzer string, err error) *fault.Error {
	return &fault.Error{
		Kind: fault.Unsupported, Field: "analyzer", Err: err,
		Detail: "analyzer " + analyzer + " needs the analysis-ik plugin on every node of Elasticsearch " +
			"(bin/elasticsearch-plugin install analysis-ik); without it choose jieba, cjk or standard",
	}
}

func (e *Engine) verifyIndex(ctx context.Context, kb *engine.KnowledgeBase) error {
	live, err := e.liveMappings(ctx, e.indexOf(kb))
	if err != nil {
		return err
	}
	for _, found := range live {
		if err := mappings.Verify(kb, &found); err != nil {
			return err
		}
	}
	return nil
}

// catalogued reads a knowledge base's entry.
func (e *Engine) catalogued(ctx context.Context, ref engine.Ref) (*engine.KnowledgeBase, error) {
	var found struct {
		Source entry `json:"_source"`
	}
	path, _, _ := strings.Cut(e.entryPath("_doc", ref), "?")
	err := e.client.Read(ctx, rest.Get(path), &found)
	if fault.Is(err, fault.NotFound) {
		return nil, unknown(ref)
	}
	return &found.Source.KB, err
}

const entriesPerPage = 1000

// KnowledgeBases implements engine.Store.
func (e *Engine) KnowledgeBases(ctx context.Context) ([]engine.KnowledgeBase, error) {
	var all []engine.KnowledgeBase
	search := esquery.Search{
		Query: esquery.MatchAll{}, Size: entriesPerPage, Source: []string{"tenant", "id", "kb"},
		Sort: []esquery.Sort{{Field: "tenant", Order: esquery.Ascending}, {Field: "id", Order: esquery.Ascending}},
	}
	for {
		s := rest.Post("/"+e.catalogueIndex()+"/_search?ignore_unavailable=true", search)
		a, err := e.client.Search(ctx, s)
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
// entry last, so a deletion that was cut short can be repeated. An attached
// index is left as it is.
func (e *Engine) DeleteKnowledgeBase(ctx context.Context, ref engine.Ref) error {
	kb, err := e.catalogued(ctx, ref)
	if err != nil {
		return err
	}
	if kb.Attach == nil {
		if err := e.deleteContent(ctx, kb); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	e.memory.forgetTargets()
	e.memory.changed(ref)
	return e.client.Change(ctx, rest.Delete(e.entryPath("_doc", ref)), nil)
}

func (e *Engine) deleteContent(ctx context.Context, kb *engine.KnowledgeBase) error {
	t := e.ownTarget(kb)
	if kb.Shared {
		_, err := e.deleteWhere(ctx, t)
		return err
	}
	if err := e.dropMigration(ctx, kb.Ref); err != nil {
		return err
	}
	// An alias cannot be deleted by its name; a migration leaves further generations.
	name := e.indexOf(kb)
	live, err := e.liveMappings(ctx, name+","+name+"-v*,"+name+"-log-v*")
	if err != nil {
		return err
	}
	for _, index := range slices.Sorted(maps.Keys(live)) {
		err := e.client.Change(ctx, rest.Delete("/"+url.PathEscape(index)), nil)
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
func (e *Engine) Describe(ctx context.Context, kb engine.KnowledgeBase) (*engine.Description, error) {
	t, err := e.target(ctx, &kb)
	if err != nil {
		return nil, err
	}
	a, err := e.client.Search(ctx, t.describeStatement())
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
		Details: map[string]any{"index": t.index},
	}
	if t.stale {
		d.Details["tokens"] = "made by another version of the analyzer; write the chunks again"
	}
	if kb.Shared {
		return d, nil
	}
	return d, e.size(ctx, t, d)
}

func (t *target) describeStatement() rest.Request {
	var vectors esquery.Bool
	for _, name := range slices.Sorted(maps.Keys(t.names.Vectors)) {
		vectors.Should = append(vectors.Should, esquery.Exists{Field: t.names.Vectors[name].Name})
	}
	aggs := esquery.Aggregations{"vectors": esquery.FilterAggregation{Filter: esquery.MatchNone{}}}
	if len(vectors.Should) > 0 {
		aggs["vectors"] = esquery.FilterAggregation{Filter: vectors}
	}
	if t.names.DocumentID != "" {
		aggs["documents"] = esquery.CardinalityAggregation{Field: t.names.DocumentID, Precision: exactDocuments}
	}
	return rest.Post(t.path("_search"), esquery.Search{Query: esquery.Bool{Filter: t.own}, TrackTotal: true, Aggs: aggs})
}

// size adds what the index takes on disk, and its deleted documents.
func (e *Engine) size(ctx context.Context, t *target, d *engine.Description) error {
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
	if err := e.client.Read(ctx, rest.Get(t.plainPath("_stats/store,docs")), &stats); err != nil {
		return err
	}
	d.Bytes = stats.All.Primaries.Store.Bytes
	d.Details["deleted"] = stats.All.Primaries.Docs.Deleted
	return nil
}
