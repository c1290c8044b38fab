package elastic

import (
	"context"
	"crypto/sha256"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/scoring"
)

// plan is a request with everything resolved that takes no request to Elasticsearch.
type plan struct {
	t       *target
	req     *engine.Request
	filters []esquery.Query
	facets  []column // one per facet of the request
	signals []column // and one per signal
	legs    []legPlan
}

// legPlan is one leg: it failed (err), can find nothing (idle), or runs.
type legPlan struct {
	leg    *engine.Leg
	name   string // of its clause
	err    error
	idle   bool // an empty text query or a zero vector
	text   mappings.TextField
	vector vectorField
	unit   []float32 // the vector with length 1
	knn    bool      // there are too many chunks to compare every vector
}

func (t *target) plan(req *engine.Request) (*plan, error) {
	filters, err := t.filters(&req.Filter)
	if err != nil {
		return nil, err
	}
	p := &plan{t: t, req: req, filters: filters, legs: make([]legPlan, len(req.Legs))}
	for _, name := range req.Facets {
		p.facets = append(p.facets, t.column(name))
	}
	for i := range req.Signals {
		p.signals = append(p.signals, t.column(req.Signals[i].Field))
	}
	var failed error
	running := 0
	for i := range req.Legs {
		leg := &p.legs[i]
		p.planLeg(leg, i, &req.Legs[i])
		if leg.err != nil && failed == nil {
			failed = leg.err
		}
		if leg.err == nil {
			running++
		}
	}
	if running == 0 && failed != nil {
		return nil, failed
	}
	return p, p.checkSum()
}

func clauseName(leg int) string {
	if leg < len(clauseNames) {
		return clauseNames[leg]
	}
	return "leg" + strconv.Itoa(leg)
}

// clauseNames are made once for the legs that most searches have.
var clauseNames = [...]string{"leg0", "leg1", "leg2", "leg3"}

func (p *plan) checkSum() error {
	switch {
	case p.req.Sum == nil:
		return nil
	case len(p.req.Sum.Weights) != len(p.req.Legs):
		return fault.New(fault.Internal, "a sum of %d legs has %d weights", len(p.req.Legs), len(p.req.Sum.Weights))
	case p.req.Sum.Candidates < 1 || p.req.Sum.Candidates > maxCandidates:
		return fault.Invalid("candidates", p.req.Sum.Candidates, "from 1 to 10000")
	default:
		return nil
	}
}

// planLeg plans the i-th leg.
func (p *plan) planLeg(l *legPlan, i int, leg *engine.Leg) {
	l.leg, l.name = leg, clauseName(i)
	if sum := p.req != nil && p.req.Sum != nil; !sum && (leg.K < 1 || leg.K > maxCandidates) {
		l.err = fault.Invalid("k", leg.K, "from 1 to 10000")
		return
	}
	t, known := p.t, false
	if leg.Kind() == scoring.Text {
		l.text, known = t.Names.Text[leg.Field]
		if l.err = leg.CheckBoosts(&t.KB); l.err != nil {
			return
		}
		for _, boost := range leg.Boosts {
			part := t.Names.Text[boost.Part]
			l.text.Within = append(l.text.Within, mappings.BesideField{Name: part.Name, Boost: boost.By - 1})
		}
		l.idle = leg.Text.Empty()
	} else if l.vector, known = p.t.vectors[leg.Field]; known {
		l.unit, l.err = storage.UnitVector(leg.Vector, l.vector.field.Dims)
		l.idle = l.unit == nil
	}
	if !known {
		l.err = t.NoField("legs.field", leg.Field)
	}
}

// runs reports whether the leg is sent to Elasticsearch.
func (l *legPlan) runs() bool { return l.err == nil && !l.idle }

func (l *legPlan) isText() bool { return l.leg.Kind() == scoring.Text }

func (l *legPlan) method() string {
	if l.isText() {
		return methodText
	}
	return methodOf(l.knn)
}

// clause is the leg's named clause. It scores by BM25, or by cosine + 1.
func (l *legPlan) clause() esquery.Query {
	if l.isText() {
		return textClause(l.text, l.leg.Text, esquery.Common{Name: l.name})
	}
	return l.vectorClause()
}

func (l *legPlan) vectorClause() esquery.ScriptScore {
	return esquery.ScriptScore{Common: esquery.Common{Name: l.name}, Query: l.vector.exists, Script: l.cosine()}
}

// cosine is the script of a vector leg.
func (l *legPlan) cosine() esquery.Script {
	return esquery.Script{Source: l.vector.cosine, Params: esquery.Params{Vector: l.unit}}
}

// raw converts the score of clause to the leg's own scale.
func (l *legPlan) raw(score float32) float64 {
	if l.isText() {
		return float64(score)
	}
	return cosineOfScript(float64(score))
}

// chooseMethod lets vector legs run by kNN when more chunks pass the filter
// than are worth comparing one by one. The whole knowledge base is counted
// first: that count is nearly always known and small enough.
func (e *Engine) chooseMethod(ctx context.Context, p *plan) error {
	possible := false
	for i := range p.legs {
		possible = possible || p.legs[i].canUseKNN()
	}
	if !possible || p.req.Exact {
		return nil
	}
	if n, err := e.countAll(ctx, p.t); err != nil || n <= e.exactUpTo(p) {
		return err
	}
	passing, err := p.t.countQuery(p.filters)
	if err != nil {
		return err
	}
	if n, err := e.count(ctx, p.t, passing); err != nil || n <= e.exactUpTo(p) {
		return err
	}
	p.useKNN()
	return nil
}

// graphHits is the number of hits per leg up to which kNN is faster at the exact limit. Its
// graph is walked in every segment, for three times as many hits as wanted: 1,024 of
// 100,000 took far longer than comparing all of them one by one (docs/growth.md).
const graphHits = 256

// exactUpTo is the number of chunks up to which the vectors of a plan are
// compared one by one.
func (e *Engine) exactUpTo(p *plan) int {
	most := 0
	for i := range p.legs {
		if l := &p.legs[i]; l.canUseKNN() {
			most = max(most, l.leg.K)
		}
	}
	if p.req.Sum != nil {
		most = p.req.Sum.Candidates
	}
	return e.exactLimit * max(graphHits, most) / graphHits
}

func (l *legPlan) canUseKNN() bool { return l.runs() && !l.isText() && l.vector.field.Approximate }

func (p *plan) useKNN() {
	for i := range p.legs {
		p.legs[i].knn = p.legs[i].canUseKNN()
	}
}

func (p *plan) usesKNN() bool {
	for i := range p.legs {
		if p.legs[i].knn {
			return true
		}
	}
	return false
}

// count counts chunks, and remembers the number for countLife.
func (e *Engine) count(ctx context.Context, t *target, of *countQuery) (int, error) {
	key := e.countKey(t, of)
	if n, ok := recall(e.memory.counts, key, countLife); ok {
		return n, nil
	}
	found, err := e.client.Search(ctx, of.request)
	if err != nil {
		return 0, err
	}
	remember(e.memory.counts, key, found.Total)
	return found.Total, nil
}

// countedAt is the number of all chunks of a target after so many writes.
type countedAt struct {
	aged[int]
	writes int64
}

// countAll counts all chunks. Every search needs it, so the target keeps it.
func (e *Engine) countAll(ctx context.Context, t *target) (int, error) {
	writes := e.Writes(t.KB.Ref)
	known := t.counted.Load()
	if known != nil && known.writes == writes && time.Since(known.since) <= countLife {
		return known.value, nil
	}
	n, err := e.count(ctx, t, &t.everything)
	key := countKey{t.KB.Ref, writes, t.everything.digest}
	if found, ok := e.memory.counts.Peek(key); ok {
		t.counted.Store(&countedAt{found, writes})
	}
	return n, err
}

// countQuery counts the chunks that pass filters.
type countQuery struct {
	request rest.Request
	digest  [sha256.Size]byte // of its body, under which the number is remembered
}

func (t *target) countQuery(filters []esquery.Query) (*countQuery, error) {
	search := esquery.Search{Query: esquery.Bool{Filter: filters}, TrackTotal: true}
	body, err := esquery.Marshal(search)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "a value of the filter cannot be written as JSON")
	}
	return &countQuery{rest.Post(t.Path("_search"), search), sha256.Sum256(body)}, nil
}

func (e *Engine) countKey(t *target, of *countQuery) countKey {
	return countKey{t.KB.Ref, e.Writes(t.KB.Ref), of.digest}
}

// docValues lists the doc values that each hit has to carry.
func (p *plan) docValues() []string {
	fields := slices.Clip(p.t.docValues)
	for _, facet := range p.facets {
		if facet.kind != absent {
			fields = append(fields, facet.field)
		}
	}
	for _, signal := range p.signals {
		if signal.kind != absent && !slices.Contains(fields, signal.field) {
			fields = append(fields, signal.field)
		}
	}
	return fields
}

const dfs = "dfs_query_then_fetch" // document frequencies of all shards together

// searchTimeout is Elasticsearch's own limit, short enough for its response to arrive
// within the engine's.
func (e *Engine) searchTimeout() time.Duration { return e.timeout - e.timeout/answerShare }

// unmatched is the raw score of a chunk that the leg's clause does not match.
func (l *legPlan) unmatched() float64 {
	if l.isText() && l.err == nil {
		return 0
	}
	return math.NaN()
}
