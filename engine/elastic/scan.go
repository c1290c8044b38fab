package elastic

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// Scan implements engine.Scanner, for the gateway's own indexes.
func (e *Engine) Scan(ctx context.Context, req engine.ScanRequest) ([]engine.Chunk, error) {
	t, err := e.target(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	if t.names.Source.Chunk == "" {
		return nil, fault.New(fault.Unsupported, "knowledge base %q is attached: its chunks cannot be read whole", req.KB.ID)
	}
	if req.IDs != nil && len(req.IDs) == 0 || req.Limit <= 0 {
		return nil, nil
	}
	filters := slices.Clone(t.own)
	if req.IDs != nil {
		filters = append(filters, t.idFilter(req.IDs))
	}
	search := esquery.Search{
		Query: esquery.Bool{Filter: filters}, Size: min(req.Limit, chunksPerPage),
		Sort:   []esquery.Sort{{Field: t.names.ID, Order: esquery.Ascending}},
		Source: t.sources(),
	}
	for _, vector := range t.names.Vectors {
		search.Source = append(search.Source, vector.Name)
	}
	if req.After != "" {
		search.SearchAfter = []any{req.After}
	}
	s := rest.Post(t.path("_search"), search)
	a, err := e.client.Search(ctx, s)
	if err != nil {
		return nil, err
	}
	chunks, err := t.chunks(a)
	if err != nil {
		return nil, err
	}
	for i := range chunks {
		if err := t.readVectors(&a.Hits[i], &chunks[i]); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "a stored vector cannot be read")
		}
	}
	return chunks, nil
}

func (t *target) readVectors(h *rest.Hit, c *engine.Chunk) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(h.Source), &members); err != nil {
		return err
	}
	for name, field := range t.names.Vectors {
		text, ok := members[field.Name]
		if !ok {
			continue
		}
		var vector []float32
		if err := json.Unmarshal(text, &vector); err != nil {
			return err
		}
		if c.Vectors == nil {
			c.Vectors = map[string][]float32{}
		}
		c.Vectors[name] = vector
	}
	return nil
}
