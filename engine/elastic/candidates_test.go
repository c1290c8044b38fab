package elastic

import (
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/textquery"
)

// TestEqualSumsAreOrderedByID: hits of different sums stay where Elasticsearch put them.
func TestEqualSumsAreOrderedByID(t *testing.T) {
	f := func(ids string, sums []float32, want string) {
		t.Helper()
		c := &candidates{}
		for _, id := range ids {
			hit := engine.Hit{}
			hit.ID = string(id)
			c.hits = append(c.hits, hit)
		}
		c.orderTies(sums)
		got := ""
		for i := range c.hits {
			got += c.hits[i].ID
		}
		if got != want {
			t.Errorf("%s by %v: %s, want %s", ids, sums, got, want)
		}
	}
	f("dcba", []float32{4, 3, 2, 1}, "dcba")
	f("dcba", []float32{3, 3, 3, 3}, "abcd")
	f("dcba", []float32{3, 3, 2, 2}, "cdab")
	f("cab", []float32{3, 2, 2}, "cab")
	f("acb", []float32{3, 2, 2}, "abc")
}

// plannedLegs is a plan of a text leg and of a vector leg that may run by kNN.
func plannedLegs(t *testing.T, k int, sum *engine.Sum) *plan {
	t.Helper()
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "acme", ID: "manuals"}, Kind: engine.KindChunks, Dimensions: 2,
		Analyzer: mappings.Analyzers()[0],
	}
	store, err := storage.New(storage.Options{Prefix: defaultPrefix})
	if err != nil {
		t.Fatal(err)
	}
	at, err := newTarget(store.OwnLocation(&kb))
	if err != nil {
		t.Fatal(err)
	}
	p, err := at.plan(&engine.Request{KB: kb, Sum: sum, Legs: []engine.Leg{
		{Field: engine.FieldText, Text: &textquery.Query{Terms: []textquery.Term{{Text: "x", Weight: 1}}}, K: 5000},
		{Field: engine.FieldVector, Vector: []float32{1, 0}, K: k},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestManyCandidatesAreComparedExactlyForLonger: the more hits, the more chunks it takes for
// kNN to pay.
func TestManyCandidatesAreComparedExactlyForLonger(t *testing.T) {
	e := &Engine{exactLimit: 1000}
	f := func(k int, sum *engine.Sum, want int) {
		t.Helper()
		if got := e.exactUpTo(plannedLegs(t, k, sum)); got != want {
			t.Errorf("k %d, %+v: exact up to %d chunks, want %d", k, sum, got, want)
		}
	}
	f(10, nil, 1000)
	f(graphHits, nil, 1000)
	f(4*graphHits, nil, 4000) // and not by the text leg's 5,000
	f(10, &engine.Sum{Candidates: 2 * graphHits, Weights: []float64{1, 1}}, 2000)
}

// TestOnlyAShortPageIsPrefetched: most chunks of a long one are not shown.
func TestOnlyAShortPageIsPrefetched(t *testing.T) {
	p := plannedLegs(t, 10, nil)
	for prefetch, want := range map[int]bool{0: false, 1: true, 50: true, 51: false} {
		p.req.Prefetch = prefetch
		if p.canPrefetch() != want {
			t.Errorf("%d chunks: %v, want %v", prefetch, !want, want)
		}
	}
}

// TestWhenASampleIsDrawnAgain: after each write if it holds all vectors, else only now and
// then.
func TestWhenASampleIsDrawnAgain(t *testing.T) {
	f := func(size int, age time.Duration, writes int64, want bool) {
		t.Helper()
		s := &sample{size: size, since: time.Now().Add(-age), writes: 7}
		if s.usable(writes) != want {
			t.Errorf("%d vectors, %s old, after write %d: %v", size, age, writes, !want)
		}
	}
	f(sampleSize, 0, 7, true)
	f(sampleSize, time.Hour, 7, true)
	f(sampleSize, 0, 8, true)
	f(sampleSize, sampleRefresh+time.Second, 8, false)
	f(sampleSize-1, 0, 7, true)
	f(sampleSize-1, 0, 8, false)
}
