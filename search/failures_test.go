package search_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// lostLegs is an engine, and the catalog over it, whose legs of some names fail.
type lostLegs struct {
	engine.Engine
	search.Catalog
	names   string
	damaged int // chunks that could not be read
	// meanwhile, when set, is called within a search, which then fails.
	meanwhile func()
}

func (l *lostLegs) Get(ctx context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	kb, _, err := l.Catalog.Get(ctx, scope, id)
	return kb, l, err
}

func (l *lostLegs) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	if l.meanwhile != nil {
		l.meanwhile()
		return nil, errGone
	}
	result, err := l.Engine.Search(ctx, req)
	if err != nil {
		return nil, err
	}
	failed := 0
	result.Damaged = l.damaged
	result.Legs = make([]engine.LegOutcome, len(req.Legs))
	for i, leg := range req.Legs {
		if strings.Contains(l.names, leg.Name) {
			result.Legs[i].Err = errGone
			failed++
		}
	}
	if failed == len(req.Legs) {
		result.Hits = nil
	}
	return result, nil
}

// TestWhichLegsFail: a search fails where every leg that was sent does, also when others could not be sent; it is
// degraded as long as one of them answers.
func TestWhichLegsFail(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("manuals", shelf()...)
	f := func(names string, vector []float32, degraded string, fails bool) {
		t.Helper()
		options := b.searcher.Options
		options.Catalog = &lostLegs{Engine: b.engine, Catalog: b.catalog, names: names}
		req := search.Request{Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "rrf", Vector: vector}
		r, err := search.New(options).Search(t.Context(), scope, req)
		if fails {
			if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "the disk is gone") {
				t.Errorf("%q fails, vector %v: %v, want that no leg could be run", names, vector, err)
			}
			return
		}
		if err != nil {
			t.Errorf("%q fails, vector %v: %v", names, vector, err)
			return
		}
		var got []string
		for _, d := range r.Degraded {
			got = append(got, d.Leg)
		}
		if strings.Join(got, " ") != degraded || len(r.Hits) == 0 {
			t.Errorf("%q fails, vector %v: degraded %v, %d hits; want %q", names, vector, got, len(r.Hits), degraded)
		}
	}
	vector := []float32{1, 0, 0, 0}
	f("", vector, "", false)
	f("text", vector, "text", false)
	f("vector", vector, "vector", false)
	f("text vector", vector, "", true)
	f("", nil, "vector", false) // without a model the question has no vector
	f("text", nil, "", true)
}

// TestAnEndedSearchIsNoFaultOfEngines: what fails because its time is over, or nobody waits any more, says so.
func TestAnEndedSearchIsNoFaultOfEngines(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("manuals", shelf()...)
	f := func(ctx context.Context, meanwhile func(), want fault.Kind) {
		t.Helper()
		options := b.searcher.Options
		options.Catalog = &lostLegs{Engine: b.engine, Catalog: b.catalog, meanwhile: meanwhile}
		req := search.Request{Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "text"}
		if _, err := search.New(options).Search(ctx, scope, req); !fault.Is(err, want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	f(t.Context(), func() {}, fault.Unavailable)
	gone, leave := context.WithCancel(t.Context())
	f(gone, leave, fault.Canceled)
	short, end := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer end()
	f(short, func() { <-short.Done() }, fault.Timeout)
}

// TestAsManyCandidatesAsAsked: of what two legs found together no more are in the answer set than are asked for.
func TestAsManyCandidatesAsAsked(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("manuals", shelf()...)
	for candidates, want := range map[int]search.Total{1: {Value: 1, Relation: "gte"}, 2: {Value: 2, Relation: "gte"}, 3: {Value: 3, Relation: "gte"}} {
		r := b.answer(fmt.Sprintf(`{%s, "query": "refund login", "preset": "rrf", "candidates": %d}`, onManuals, candidates))
		if r.Total != want {
			t.Errorf("%d candidates: %+v, want %+v", candidates, r.Total, want)
		}
	}
}

// TestOneDamagedChunkIsTold: an answer that lacks a chunk is degraded.
func TestOneDamagedChunkIsTold(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("manuals", shelf()...)
	for damaged := range 2 {
		options := b.searcher.Options
		options.Catalog = &lostLegs{Engine: b.engine, Catalog: b.catalog, damaged: damaged}
		req := search.Request{Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "text"}
		r, err := search.New(options).Search(t.Context(), scope, req)
		if err != nil || len(r.Degraded) != damaged || damaged > 0 && r.Degraded[0].Code != fault.Corrupt {
			t.Errorf("%d damaged chunks: %v, degraded %+v", damaged, err, r.Degraded)
		}
	}
}

// TestPinsAreNoAnswerOfARung: what is there because a rule pins it does not end the relaxation of the words, whether no
// leg found it or it is below the threshold of one.
func TestPinsAreNoAnswerOfARung(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("manuals", shelf()...)
	b.ruled("manuals", `[{"name": "r", "when": {"match": "contains", "queries": ["refunds", "login"]}, "pin": [{"chunk_id": "login"}]}]`)
	for query, threshold := range map[string]string{
		"wombat refunds invoices passwords burrows nights": `{}`,
		"login page": `{"vector": 0.5}`, // it has both words, other pages one
	} {
		r := b.withPins(onManuals + `, "query": "` + query + `", "threshold": ` + threshold + `, "preset": "script_score",
			"text_required": true, "minimum_should_match": "100%"`)
		if r.Relaxed == nil || *r.Relaxed != "10%" || len(r.Hits) < 2 || !strings.HasPrefix(pins(r), "r:login ") {
			t.Errorf(`%s: relaxed %v: %s; want a r.Relaxed and *r.Relaxed "10%%" and at least 2 r.Hits and one that begins with "r:login "`,
				query, r.Relaxed, pins(r))
		}
	}
}

// TestThresholdsKeepWhatIsAtThem: a hit, and an answer, at exactly the threshold stays, and goes at the next number.
func TestThresholdsKeepWhatIsAtThem(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.onPlane()
	const whole = `, "preset": "balanced", "top_k": 10`
	all := b.answer(onRefunds + whole + `}`)
	last := len(all.Hits) - 1
	f := func(name string, at *float64, dropped int) {
		t.Helper()
		if at == nil {
			t.Fatalf("%s is unknown; want a at", name)
		}
		for value, want := range map[float64]int{*at: len(all.Hits), math.Nextafter(*at, 2): len(all.Hits) - dropped} {
			r := b.answer(onRefunds + whole + fmt.Sprintf(`, "threshold": {%q: %.17g}}`, name, value))
			if len(r.Hits) != want {
				t.Errorf("%s %.17g: %d hits, want %d", name, value, len(r.Hits), want)
			}
		}
	}
	f("answerable", all.Answerable, len(all.Hits))
	f("score", &all.Hits[last].Score, 1)
	least, known := 1.0, 0
	for i := range all.Hits {
		if of := all.Hits[i].Relevance; of != nil {
			least, known = min(least, *of), known+1
		}
	}
	for value, want := range map[float64]int{least: known, math.Nextafter(least, 2): known - 1} {
		r := b.answer(onRefunds + whole + fmt.Sprintf(`, "threshold": {"relevance": %.17g}}`, value))
		if len(r.Hits) != want || known < 2 {
			t.Errorf("relevance %.17g: %d hits, want %d", value, len(r.Hits), want)
		}
	}
}
