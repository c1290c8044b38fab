package elastic

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// Render gives the requests that a search begins with, without running them: one for
// the sum, or one per leg (these travel together in one _msearch). The one that
// completes missing raw scores is not among them: it names the documents that were
// found. Whether kNN is used follows from what is known already. Of an attached index the
// mapping is read when it is not known.
func (e *Engine) Render(req *engine.Request) ([]engine.Statement, error) {
	loc := e.OwnLocation(&req.KB)
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
		p.useNearest()
	}
	if req.Sum == nil || p.hasNearest() {
		return p.renderLegs(e)
	}
	query, possible := p.sumQuery()
	if !possible {
		return nil, nil
	}
	shown, err := show(p.t.Path("_search", scoredParams...), p.sumSearch(e, query))
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
		shown, err := show(p.t.Path("_search", "search_type", dfs), p.legSearch(l, k, e))
		if err != nil {
			return nil, err
		}
		all = append(all, shown)
	}
	return all, nil
}

func show(path string, search esquery.Search) (engine.Statement, error) {
	body, err := esquery.Marshal(search)
	if err != nil {
		return engine.Statement{}, fault.Wrap(fault.InvalidArgument, err, "a value of the request cannot be written as JSON")
	}
	return engine.Statement{Method: http.MethodPost, Path: path, Body: body}, nil
}

// knownLarge reports whether a count over the limit is remembered.
func (e *Engine) knownLarge(p *plan, filters []esquery.Query) bool {
	of, err := p.t.counting(filters)
	if err != nil {
		return false
	}
	n, ok := recall(e.memory.counts, e.countKey(p.t, of), countLife)
	return ok && n > e.exactUpTo(p)
}
