package elastic

import (
	"context"
	"encoding/json"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/esquery"
)

// Render gives the requests that a search begins with, without running them.
// The one that completes missing raw scores is not among them: it names the
// documents that the first one found. Whether kNN is used follows from what is
// known already. Of an attached knowledge base the mapping is read when it is
// not known.
func (e *Engine) Render(req *engine.Request) ([]Statement, error) {
	t := e.ownTarget(&req.KB)
	if req.KB.Attach != nil {
		var err error
		if t, err = e.target(context.Background(), &req.KB); err != nil {
			return nil, err
		}
	}
	p, err := t.plan(req)
	if err != nil {
		return nil, err
	}
	if e.knownLarge(t, t.own) && e.knownLarge(t, p.filters) {
		p.useNearest()
	}
	var s Statement
	switch {
	case req.Sum == nil:
		s, _, err = p.legsStatement(func(l *legPlan) int { return l.leg.K }, e)
	case p.hasNearest():
		s, _, err = p.legsStatement(func(*legPlan) int { return req.Sum.Candidates }, e)
	default:
		s, _, err = p.sumStatement(e)
	}
	if err != nil || s.Body == "" {
		return nil, err
	}
	return []Statement{s}, nil
}

// knownLarge reports whether a count over the limit is remembered.
func (e *Engine) knownLarge(t *target, filters []esquery.Query) bool {
	query, err := json.Marshal(esquery.Bool{Filter: filters})
	if err != nil {
		return false
	}
	n, ok := recall(e.memory.counts, e.countKey(t, query), countLife)
	return ok && n > e.exactLimit
}
