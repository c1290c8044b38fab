package enginetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/textquery"
)

// Versus writes the same random chunks to two engines and wants the same
// answers to the same random searches: text scores to 1e-3, cosines and their
// order, filters, and sums to 1e-4. Nothing is deleted, as deleted chunks count
// in an index's statistics until it drops them.
func Versus(t *testing.T, a, b Harness) {
	t.Helper()
	left, right := open(t, a), open(t, b)
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			d := newDuel(t, left, right, seed)
			for i := range 40 {
				t.Run(fmt.Sprintf("search %d", i), func(t *testing.T) { d.round(t) })
			}
		})
	}
}

const (
	duelDims  = 12
	duelWords = 60
	duelSize  = 150
)

// duel is one corpus on two engines.
type duel struct {
	rng         *rand.Rand
	times       dice
	zipf        *rand.Zipf
	chunks      []engine.Chunk
	left, right *base
}

func newDuel(t *testing.T, left, right *suite, seed uint64) *duel {
	rng := rand.New(rand.NewPCG(seed, 77))
	d := &duel{
		rng: rng, zipf: rand.NewZipf(rng, 1.3, 2, duelWords-1), times: newDice(seed),
		left:  left.base(t, schema{Dimensions: duelDims}),
		right: right.base(t, schema{Dimensions: duelDims}),
	}
	for i := range duelSize {
		d.chunks = append(d.chunks, d.chunk(i))
	}
	d.left.write(d.chunks...)
	d.right.write(d.chunks...)
	return d
}

// chunk has 1 to 500 tokens, most have few.
func (d *duel) chunk(i int) engine.Chunk {
	length := 1 + d.rng.IntN(20)
	if d.rng.IntN(5) == 0 {
		length = 1 + d.rng.IntN(500)
	}
	c := passage(fmt.Sprintf("c%03d", d.rng.IntN(1000)*1000+i), strings.Join(d.words(length), " "))
	c.Metadata = map[string]any{
		"color": d.pick("red", "green", "blue"), "n": float64(d.rng.IntN(10)), "at": d.times.value(),
	}
	if d.rng.IntN(3) > 0 {
		c.Metadata["tags"] = []any{d.pick("x", "y"), d.pick("y", "z")}
	}
	c.Owner, c.Available = d.pick("u1", "u2", ""), d.rng.IntN(12) > 0
	if d.rng.IntN(10) > 0 {
		c.Vectors = map[string][]float32{engine.FieldVector: vectorOf(d.rng, duelDims)}
	}
	return c
}

func (d *duel) words(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("w%d", d.zipf.Uint64())
	}
	return list
}

func (d *duel) pick(values ...string) string { return values[d.rng.IntN(len(values))] }

// query has distinct terms, some with synonyms, and phrases of distinct words.
func (d *duel) query() *textquery.Query {
	q := &textquery.Query{MinimumMatch: d.rng.IntN(3)}
	for _, word := range d.distinct(1 + d.rng.IntN(6)) {
		term := textquery.Term{Text: word, Weight: 0.1 + d.rng.Float64()*2}
		if d.rng.IntN(3) == 0 {
			term.Synonyms = []textquery.Phrase{{Terms: d.distinct(1 + d.rng.IntN(2)), Weight: 0.8}}
		}
		q.Terms = append(q.Terms, term)
	}
	for range d.rng.IntN(3) {
		slop := 2 * d.rng.IntN(2)
		q.Phrases = append(q.Phrases, textquery.Phrase{Terms: d.distinct(2 + d.rng.IntN(2)), Slop: slop, Weight: 1.5})
	}
	return q
}

func (d *duel) distinct(n int) []string {
	seen := map[string]bool{}
	var list []string
	for len(list) < n {
		if w := d.words(1)[0]; !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	return list
}

func (d *duel) filter() engine.Filter {
	var f engine.Filter
	if d.rng.IntN(3) == 0 {
		f.Owner = d.pick("u1", "u2")
	}
	if d.rng.IntN(3) == 0 {
		c := in("color", d.pick("red", "green"), d.pick("green", "blue"))
		c.Not = d.rng.IntN(2) == 0
		f.Conditions = append(f.Conditions, c)
	}
	if d.rng.IntN(4) == 0 {
		low := filter.Value{V: float64(d.rng.IntN(8))}
		f.Conditions = append(f.Conditions, filter.Condition{Field: "n", Range: &filter.Range{GTE: &low}})
	}
	if d.times.IntN(4) == 0 {
		f.Conditions = append(f.Conditions, filter.Condition{Field: "at", Range: d.times.bounds(), Not: d.times.IntN(2) == 0})
	}
	if d.rng.IntN(4) == 0 {
		f.Conditions = append(f.Conditions, in("tags", d.pick("x", "y", "z")))
	}
	if d.rng.IntN(4) == 0 {
		f.Fields = []string{engine.FieldText}
		f.Required = []textquery.Phrase{{Terms: d.distinct(1 + d.rng.IntN(2))}}
		f.Excluded = []textquery.Phrase{{Terms: d.distinct(1 + d.rng.IntN(2))}}
	}
	return f
}

// round compares one random search, as rankings and as a sum.
func (d *duel) round(t *testing.T) {
	left := &base{t: t, engine: d.left.engine, kb: d.left.kb}
	right := &base{t: t, engine: d.right.engine, kb: d.right.kb}
	req := engine.Request{Filter: d.filter(), Legs: []engine.Leg{
		{Name: "text", Field: engine.FieldText, K: 1 + d.rng.IntN(duelSize), Text: d.query()},
		near(1+d.rng.IntN(duelSize), vectorOf(d.rng, duelDims)...),
	}}
	x, y := left.search(req), right.search(req)
	for leg := range req.Legs {
		sameRanking(t, &req, leg, x, y)
	}
	checkFilter(t, req.Filter, d.chunks, x)
	req.Sum = &engine.Sum{
		Candidates: 1 + d.rng.IntN(duelSize),
		Weights:    []float64{d.rng.Float64(), d.rng.Float64()},
		Pivot:      float64(d.rng.IntN(2)) * 4,
	}
	req.Legs[0].Required = d.rng.IntN(3) == 0
	sameSum(t, &req, left.search(req), right.search(req))
}

// checkFilter holds every hit to what a condition means.
func checkFilter(t *testing.T, f engine.Filter, chunks []engine.Chunk, result *engine.Result) {
	t.Helper()
	byID := map[string]*engine.Chunk{}
	for i := range chunks {
		byID[chunks[i].ID] = &chunks[i]
	}
	for _, hit := range result.Hits {
		c := byID[hit.ID]
		if !c.Available || f.Owner != "" && c.Owner != f.Owner {
			t.Errorf("hit %s is hidden or another owner's", hit.ID)
		}
		for i := range f.Conditions {
			if !f.Conditions[i].Matches(c) {
				t.Errorf("hit %s does not meet %+v", hit.ID, f.Conditions[i])
			}
		}
	}
}

// sameRanking wants the same scores at the same ranks; chunks may change places
// only where their scores are nearly the same.
func sameRanking(t *testing.T, req *engine.Request, leg int, x, y *engine.Result) {
	t.Helper()
	name := req.Legs[leg].Name
	a, b := ranking(x, leg), ranking(y, leg)
	if len(a) != len(b) {
		t.Fatalf("leg %s returned %d hits and %d", name, len(a), len(b))
	}
	for i := range a {
		left, right := find(t, x, a[i]).Observations[leg].Raw, find(t, y, b[i]).Observations[leg].Raw
		near64(t, fmt.Sprintf("leg %s, rank %d", name, i+1), left, right, 1e-3)
		if a[i] != b[i] && !nearly(left, right, 1e-5) {
			t.Errorf("leg %s, rank %d: %s (%v) and %s (%v)", name, i+1, a[i], left, b[i], right)
		}
	}
	sameObservations(t, req, x, y)
}

// sameObservations compares every leg's raw score of chunks that both found.
func sameObservations(t *testing.T, req *engine.Request, x, y *engine.Result) {
	t.Helper()
	other := map[string]*engine.Hit{}
	for i := range y.Hits {
		other[y.Hits[i].ID] = &y.Hits[i]
	}
	for _, hit := range x.Hits {
		twin := other[hit.ID]
		if twin == nil {
			continue // a tie at the end; the rankings were compared
		}
		for i, o := range hit.Observations {
			what := fmt.Sprintf("raw score of %s in %s", hit.ID, req.Legs[i].Name)
			if !nearly(o.Raw, twin.Observations[i].Raw, 1e-5) {
				near64(t, what, o.Raw, twin.Observations[i].Raw, 1e-3)
			}
		}
	}
}

func sameSum(t *testing.T, req *engine.Request, x, y *engine.Result) {
	t.Helper()
	if len(x.Hits) != len(y.Hits) {
		t.Fatalf("the sum gave %d hits and %d", len(x.Hits), len(y.Hits))
	}
	for i := range x.Hits {
		left, right := sumOf(req, &x.Hits[i]), sumOf(req, &y.Hits[i])
		near64(t, fmt.Sprintf("sum at rank %d", i+1), left, right, 1e-4)
		if x.Hits[i].ID != y.Hits[i].ID && !nearly(left, right, 1e-5) {
			t.Errorf("rank %d: %s (%v) and %s (%v)", i+1, x.Hits[i].ID, left, y.Hits[i].ID, right)
		}
	}
	sameObservations(t, req, x, y)
}
