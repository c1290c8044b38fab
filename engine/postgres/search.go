package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/vector"
)

// Search implements engine.Searcher.
func (e *Engine) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	if req.Sum != nil && len(req.Sum.Weights) != len(req.Legs) {
		return nil, fault.Invalid("sum.weights", len(req.Sum.Weights), fmt.Sprintf("one weight per leg, %d", len(req.Legs)))
	}
	var result *engine.Result
	err := e.withShape(ctx, &req.KB, func(b *base) error {
		return e.reading(ctx, func(ctx context.Context) (err error) {
			q := &search{engine: e, base: b, request: req}
			result, err = q.run(ctx)
			return wrapUnlessReplaced(err, "searching knowledge base %q", b.kb.ID)
		})
	})
	return result, err
}

// search is one search in one transaction with a single snapshot.
type search struct {
	engine   *Engine
	base     *base
	request  *engine.Request
	legs     []leg
	keywords map[string]keyword // by text field
	until    time.Time          // deadline for them

	conn  *pgxpool.Conn // in the transaction
	ended bool          // the transaction is over
	state *state
	where *where // the filter
	few   bool   // few chunks pass the filter: all are compared
	// rows holds the chunks that pass the filter, if few and known.
	rows   []int64
	accept *roaring.Bitmap // rows as a set
	found  map[int64]*record
	hits   []engine.Hit
	method string
}

// leg is one leg with the field it runs over.
type leg struct {
	*engine.Leg
	unit   []float32 // nil for a zero vector, which has no cosine
	ranked []scored
	engine.LegOutcome

	first []bm25.Hit // of a text leg
	asked int        // number of hits requested
}

// scored is a row with its score.
type scored struct {
	row   int64
	score float64
}

func (l *leg) isText() bool { return l.Text != nil }

// run executes the search. While a keyword index is built or loaded it waits, at most
// Options.KeywordWait in all, without holding a connection, and then starts again: with the
// index, or else with vectors only.
func (q *search) run(ctx context.Context) (*engine.Result, error) {
	if err := q.open(); err != nil {
		return nil, err
	}
	q.until = time.Now().Add(q.engine.keywordWait(q.needsKeywords()))
	for {
		result, err := q.attempt(ctx)
		var late *lateError
		switch {
		case errors.As(err, &late):
			q.keywordsUntil(ctx, q.until, late.state)
		case !errors.Is(err, errMoved) || ctx.Err() != nil:
			return result, err
		}
	}
}

// errMoved says that a keyword index is newer than the transaction.
var errMoved = errors.New("the knowledge base has changed")

// lateError says that a keyword index of a state is not ready yet.
type lateError struct {
	state *state
	err   error
}

// Error implements error.
func (e *lateError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *lateError) Unwrap() error { return e.err }

func (q *search) attempt(ctx context.Context) (*engine.Result, error) {
	conn, err := q.engine.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release() // closes it if the transaction did not end
	q.conn, q.found, q.rows, q.accept = conn, map[int64]*record{}, nil, nil
	if err := q.begin(ctx); err != nil {
		return nil, err
	}
	err = q.within(ctx)
	if q.ended && err == nil {
		return q.result(), nil
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, failed := conn.Exec(ending, "ROLLBACK"); err == nil {
		err = failed // it only reads, but the result must be complete
	}
	if err != nil {
		return nil, err
	}
	return q.result(), nil
}

// begin opens the snapshot transaction and reads the state.
func (q *search) begin(ctx context.Context) (err error) {
	q.ended = false
	batch := &pgx.Batch{}
	batch.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
	batch.Queue(stateQuery, q.base.kb.Tenant, q.base.kb.ID)
	results := q.conn.SendBatch(ctx, batch)
	defer func() { err = cmp.Or(err, results.Close()) }()
	if _, err := results.Exec(); err != nil {
		return err
	}
	q.state, err = q.base.readState(results.QueryRow())
	return err
}

// within runs the steps inside the transaction.
func (q *search) within(ctx context.Context) error {
	if err := q.fetchKeywords(ctx); err != nil {
		return err
	}
	if err := q.filter(ctx); err != nil {
		return err
	}
	work := q.rank
	if q.request.Sum != nil {
		work = q.sum
	}
	if err := work(ctx); err != nil {
		return err
	}
	return ctx.Err() // keyword indexes return partial results when it ends
}

// shortKeywordWait is the longest wait for keyword indexes inside the transaction.
const shortKeywordWait = 50 * time.Millisecond

// fetchKeywords gets the keyword indexes, or leaves the transaction to wait for them. After
// the deadline, legs without an index fail.
func (q *search) fetchKeywords(ctx context.Context) error {
	until, mayLeave := time.Now().Add(shortKeywordWait), true
	if until.After(q.until) {
		until, mayLeave = q.until, false
	}
	late, moved := q.keywordsUntil(ctx, until, q.state)
	switch {
	case moved && time.Now().Before(q.until):
		return errMoved
	case late && mayLeave:
		for _, k := range q.keywords {
			if k.err != nil {
				return &lateError{q.state, k.err}
			}
		}
	}
	return q.lackKeywords()
}

// keywordsUntil waits for the keyword indexes of a state; late reports a timeout.
func (q *search) keywordsUntil(ctx context.Context, until time.Time, of *state) (late, moved bool) {
	waiting, stop := context.WithDeadline(ctx, until)
	defer stop()
	q.keywords, moved = q.engine.keywordIndexes(waiting, q.base, of, q.textFields())
	return waiting.Err() != nil && ctx.Err() == nil, moved
}

// open finds each leg's field; it fails when no leg can run.
func (q *search) open() error {
	if len(q.request.Legs) == 0 && q.request.Sum == nil {
		return fault.New(fault.InvalidArgument, "the request has no legs; it must have at least one")
	}
	q.legs = make([]leg, len(q.request.Legs))
	for i := range q.legs {
		l := &q.legs[i]
		l.Leg = &q.request.Legs[i]
		if l.Err = l.bind(q.base); !l.isText() {
			l.Err = cmp.Or(q.request.KB.CheckCurrent(&q.base.kb), l.Err)
		}
	}
	return q.anyLeg()
}

// anyLeg returns the first leg's fault if all legs failed.
func (q *search) anyLeg() error {
	for i := range q.legs {
		if q.legs[i].Err == nil {
			return nil
		}
	}
	if len(q.legs) == 0 {
		return nil
	}
	return q.legs[0].Err
}

func (l *leg) bind(b *base) error {
	if l.K < 0 {
		return fault.Invalid(l.Name+".k", l.K, ">= 0")
	}
	if l.isText() {
		l.Method = "bm25"
		if !slices.Contains(b.texts, l.Field) {
			return fault.Invalid(l.Name+".field", l.Field, engine.OneOf("a text field", b.texts))
		}
		return l.CheckBoosts(&b.kb)
	}
	l.Method = methodExact
	if !slices.Contains(b.table.vectors, l.Field) {
		return fault.Invalid(l.Name+".field", l.Field, engine.OneOf("a vector field", b.table.vectors))
	}
	if err := engine.CheckVector(l.Name+".vector", l.Vector, b.kb.Dimensions); err != nil {
		return err
	}
	l.unit = vector.Unit(l.Vector)
	return nil
}

// needsKeywords reports whether the search is impossible without keyword indexes.
func (q *search) needsKeywords() bool {
	byVector := slices.ContainsFunc(q.legs, func(l leg) bool { return l.Err == nil && !l.isText() })
	return !byVector && len(q.legs) > 0 || len(q.request.Filter.Required)+len(q.request.Filter.Excluded) > 0
}

// textFields lists the fields whose keyword indexes the search needs.
func (q *search) textFields() []string {
	var fields []string
	for i := range q.legs {
		if l := &q.legs[i]; l.Err == nil && l.isText() {
			fields = append(fields, l.Field)
			for _, boost := range l.Boosts {
				fields = append(fields, boost.Part)
			}
		}
	}
	f := &q.request.Filter
	if len(f.Required)+len(f.Excluded) > 0 {
		fields = append(fields, q.phraseFields()...)
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

func (q *search) phraseFields() []string {
	if len(q.request.Filter.Fields) == 0 {
		return q.base.texts
	}
	return q.request.Filter.Fields
}

// lackKeywords fails the legs without a keyword index.
func (q *search) lackKeywords() error {
	for i := range q.legs {
		if l := &q.legs[i]; l.isText() && l.Err == nil {
			l.Err = q.keywords[l.Field].err
			for _, boost := range l.Boosts {
				l.Err = cmp.Or(l.Err, q.keywords[boost.Part].err)
			}
		}
	}
	return q.anyLeg()
}
