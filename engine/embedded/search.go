package embedded

import (
	"context"
	"fmt"
	"slices"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
	"github.com/hybridge-search/hybridge/lib/vector"
)

// Search implements engine.Searcher.
func (e *Engine) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	return e.search(ctx, req, narrowRows)
}

// search estimates rows first if there are at least narrowRows.
func (e *Engine) search(ctx context.Context, req *engine.Request, narrowRows int) (*engine.Result, error) {
	b, s, err := e.snapshot(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	if req.Sum != nil && len(req.Sum.Weights) != len(req.Legs) {
		return nil, fault.Invalid("sum.weights", len(req.Sum.Weights), fmt.Sprintf("one weight per leg, %d", len(req.Legs)))
	}
	f := filterer{snapshot: s, texts: b.texts}
	selected, err := f.run(ctx, &req.Filter)
	if err != nil {
		return nil, err
	}
	q := &search{ctx: ctx, snapshot: s, request: req, selected: selected, narrowRows: narrowRows}
	if err := q.open(b); err != nil {
		return nil, err
	}
	if req.Sum != nil {
		q.sum()
	} else {
		q.rank()
	}
	if err := ctx.Err(); err != nil { // the steps stopped early
		return nil, sqlite.Fault(err, "searching")
	}
	result := q.result()
	result.Damaged = b.damage.count()
	return result, nil
}

// search is one running search on one snapshot.
type search struct {
	ctx      context.Context
	snapshot *snapshot
	request  *engine.Request
	selected selection
	legs     []leg
	hits     []engine.Hit

	narrowRows int
}

// leg is one leg with the field it runs over.
type leg struct {
	*engine.Leg
	field  int           // among the text or the vector fields
	index  bm25.Searcher // of a text leg: its field, with its boosted parts
	unit   []float32     // nil for a zero vector, which has no cosine
	query  *vector.Query
	ranked []scored
	engine.LegOutcome
}

func (l *leg) isText() bool { return l.Text != nil }

// open finds each leg's field; it fails when no leg can run.
func (q *search) open(b *base) error {
	var first error
	failed := 0
	q.legs = make([]leg, len(q.request.Legs))
	for i := range q.legs {
		l := &q.legs[i]
		l.Leg = &q.request.Legs[i]
		l.Err = l.bind(b, q.snapshot)
		if stale := q.request.KB.CheckCurrent(&b.kb); stale != nil && !l.isText() {
			l.Err = stale
		}
		if l.Err != nil {
			failed++
			if first == nil {
				first = l.Err
			}
		}
	}
	if len(q.legs) == 0 && q.request.Sum == nil {
		return fault.New(fault.InvalidArgument, "the request has no legs; it must have at least one")
	}
	if failed < len(q.legs) {
		return nil
	}
	return first
}

func (l *leg) bind(b *base, s *snapshot) error {
	if l.K < 0 {
		return fault.Invalid(l.Name+".k", l.K, ">= 0")
	}
	if l.isText() {
		l.Method = "bm25"
		l.field = slices.Index(b.texts, l.Field)
		if l.field < 0 {
			return fault.Invalid(l.Name+".field", l.Field, engine.OneOf("a text field", b.texts))
		}
		if err := l.CheckBoosts(&b.kb); err != nil {
			return err
		}
		var parts []bm25.Part
		for _, boost := range l.Boosts {
			parts = append(parts, bm25.Part{Snapshot: s.texts[slices.Index(b.texts, boost.Part)], Boost: boost.By})
		}
		l.index = bm25.Boosted(s.texts[l.field], parts)
		return nil
	}
	l.Method = "exact"
	l.field = slices.Index(b.table.vectors, l.Field)
	if l.field < 0 {
		return fault.Invalid(l.Name+".field", l.Field, engine.OneOf("a vector field", b.table.vectors))
	}
	if err := engine.CheckVector(l.Name+".vector", l.Vector, b.kb.Dimensions); err != nil {
		return err
	}
	if l.unit = vector.Unit(l.Vector); l.unit != nil {
		l.query = vector.NewQuery(l.unit)
	}
	return nil
}
