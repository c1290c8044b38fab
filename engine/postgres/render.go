package postgres

import (
	"fmt"

	"github.com/hybridge-search/hybridge/engine"
)

// Render shows the SQL of a request's vector legs, as they run when few chunks pass the
// filter and when many do, without asking the database. $1 and so on are the caller's
// values; text legs run on the gateway's own index.
func (e *Engine) Render(req *engine.Request) ([]engine.Statement, error) {
	e.mu.Lock()
	b := e.bases[req.KB.Ref]
	e.mu.Unlock()
	if b == nil {
		b = newBase(0, req.KB)
	}
	q := &search{engine: e, base: b, request: req}
	if err := q.open(); err != nil {
		return nil, err
	}
	q.where = whereOf(&req.Filter)
	var all []engine.Statement
	for i := range q.legs {
		l := &q.legs[i]
		if l.Err != nil || l.isText() {
			continue
		}
		all = append(all, shown(l, "few chunks pass the filter", q.compare(l, q.where.clone())))
		if b.table.indexable() {
			all = append(all, shown(l, "many do", q.walk(l, q.where.clone())))
		}
	}
	return all, nil
}

func shown(l *leg, when, statement string) engine.Statement {
	return engine.Statement{SQL: fmt.Sprintf("-- leg %q where %s\n%s", l.Name, when, statement)}
}
