package elastic

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// Render returns the requests that a search begins with, without running them: one for
// the sum, or one per leg (a search sends them together, as one _msearch). The request that
// completes raw scores is not among them, since it names the chunks that were found. kNN is
// used only where remembered counts call for it. The mapping of an attached index is read
// if it is not remembered.
func (e *Engine) Render(req *engine.Request) ([]engine.Statement, error) {
	loc := e.OwnLocation(&req.KB)
	loc.Moments = true // as of an index that is made today
	if req.KB.Attach != nil {
		var err error
		if loc, err = e.Locate(context.Background(), &req.KB); err != nil {
			return nil, err
		}
	}
	t, err := newTarget(loc)
	if err != nil {
		return nil, err
	}
	p, err := t.plan(req)
	if err != nil {
		return nil, err
	}
	if e.knownLarge(p, t.Own) && e.knownLarge(p, p.filters) {
		p.useKNN()
	}
	if req.Sum == nil || p.usesKNN() {
		return p.renderLegs(e)
	}
	query, possible, err := p.sumQuery()
	if err != nil || !possible {
		return nil, err
	}
	shown, err := statement(p.t.Path("_search", scoredParams...), p.sumSearch(e, query))
	return []engine.Statement{shown}, err
}

func (p *plan) renderLegs(e *Engine) ([]engine.Statement, error) {
	var all []engine.Statement
	for i := range p.legs {
		l := &p.legs[i]
		if !l.runs() {
			continue
		}
		k := l.leg.K
		if p.req.Sum != nil {
			k = p.req.Sum.Candidates
		}
		shown, err := statement(p.t.Path("_search", "search_type", dfs), p.legSearch(l, k, e))
		if err != nil {
			return nil, err
		}
		all = append(all, shown)
	}
	return all, nil
}

func statement(path string, search esquery.Search) (engine.Statement, error) {
	body, err := esquery.Marshal(search)
	if err != nil {
		return engine.Statement{}, fault.Wrap(fault.InvalidArgument, err, "a value of the request cannot be written as JSON")
	}
	return engine.Statement{Method: http.MethodPost, Path: path, Body: body}, nil
}

// knownLarge reports whether a count over the limit is remembered.
func (e *Engine) knownLarge(p *plan, filters []esquery.Query) bool {
	of, err := p.t.countQuery(filters)
	if err != nil {
		return false
	}
	n, ok := recall(e.memory.counts, e.countKey(p.t, of), countLife)
	return ok && n > e.exactUpTo(p)
}
