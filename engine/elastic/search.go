package elastic

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
)

// Search implements engine.Searcher.
func (e *Engine) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	t, err := e.target(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	p, err := t.plan(req)
	if err != nil {
		return nil, err
	}
	if err := e.chooseMethod(ctx, p); err != nil {
		return nil, err
	}
	switch {
	case req.Sum == nil:
		return e.searchLegs(ctx, p)
	case p.usesKNN():
		return e.searchUnion(ctx, p)
	default:
		return e.searchSum(ctx, p)
	}
}
