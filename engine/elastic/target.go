package elastic

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/mappings"
)

// target is a searchable location of a knowledge base with the parts shared by all its
// searches. It is immutable except for the cached count.
type target struct {
	*storage.Location
	searchPath string
	scoredPath string          // of a search whose hits carry the scores of named clauses
	available  esquery.Query   // nil: the index marks no hidden chunks
	visible    []esquery.Query // own and available
	docValues  []string        // that every hit carries
	sources    []string        // members of _source that make up a chunk
	order      []esquery.Sort
	vectors    map[string]vectorField // by the engine's field

	everything countQuery // counts all chunks
	counted    atomic.Pointer[countedAt]
}

// vectorField is a field with the parts of its clauses.
type vectorField struct {
	field  mappings.VectorField
	exists esquery.Query
	cosine string // source of the script
}

// target locates a knowledge base and prepares what its searches share.
func (e *Engine) target(ctx context.Context, kb *engine.KnowledgeBase) (*target, error) {
	loc, err := e.Locate(ctx, kb)
	if err != nil {
		return nil, err
	}
	if loc.Moved { // its fields may differ: the caller must read the catalogue again
		return nil, storage.Unknown(kb.Ref)
	}
	if t, ok := e.memory.targets.Get(loc); ok {
		return t, nil
	}
	t, err := newTarget(loc)
	if err == nil {
		e.memory.targets.Add(loc, t)
	}
	return t, err
}

func newTarget(loc *storage.Location) (*target, error) {
	t := &target{
		Location: loc, searchPath: loc.Path("_search"), scoredPath: loc.Path("_search", scoredParams...),
		visible: slices.Clone(loc.Own), sources: loc.Sources(), order: esquery.ByScore(loc.Names.ID),
		vectors: make(map[string]vectorField, len(loc.Names.Vectors)),
	}
	if t.available = t.availableFilter(); t.available != nil {
		t.visible = append(t.visible, t.available)
	}
	for _, field := range []string{loc.Names.ID, loc.Names.DocumentID, loc.Names.DocumentName} {
		if field != "" {
			t.docValues = append(t.docValues, field)
		}
	}
	for name, field := range loc.Names.Vectors {
		t.vectors[name] = vectorField{
			field: field, exists: esquery.Exists{Field: field.Name}, cosine: esquery.CosineScript(field.Name, nil).Source,
		}
	}
	everything, err := t.countQuery(loc.Own)
	if err != nil {
		return nil, err
	}
	t.everything = *everything
	return t, nil
}

// and joins filters into a new slice: the first list is shared by all requests.
func and(filters []esquery.Query, more ...esquery.Query) []esquery.Query {
	return slices.Concat(filters, more)
}

// scoredParams make hits carry the scores of named clauses.
var scoredParams = []string{"include_named_queries_score", "true", "search_type", dfs}
