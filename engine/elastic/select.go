package elastic

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
)

// SelectChunks implements engine.Store. The first page makes visible what was written before.
func (e *Engine) SelectChunks(ctx context.Context, req engine.SelectRequest) ([]string, error) {
	return storage.OnIndex(ctx, e.Store, &req.KB, func(loc *storage.Location) ([]string, error) {
		t, err := newTarget(loc)
		if err != nil {
			return nil, err
		}
		filters := and(t.Own)
		for i := range req.Conditions {
			clause, err := t.condition(&req.Conditions[i])
			if err != nil {
				return nil, err
			}
			filters = append(filters, clause)
		}
		return e.selectIDs(ctx, t, filters, &req)
	})
}

func (e *Engine) selectIDs(
	ctx context.Context, t *target, filters []esquery.Query, req *engine.SelectRequest,
) ([]string, error) {
	search := esquery.Search{
		Query: esquery.Bool{Filter: filters}, Size: req.Limit, DocValueFields: []string{t.Names.ID}, NoStored: true,
		Sort: []esquery.Sort{{Field: t.Names.ID, Order: esquery.Ascending}},
	}
	if req.After == "" {
		if err := e.Refresh(ctx, t.Location); err != nil {
			return nil, err
		}
	} else {
		search.SearchAfter = []any{req.After}
	}
	a, err := e.client.Search(ctx, rest.Post(t.Path("_search"), search))
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(a.Hits))
	for i := range a.Hits {
		ids[i] = a.Hits[i].First(t.Names.ID)
	}
	return ids, nil
}
