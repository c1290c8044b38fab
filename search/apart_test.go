package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/engines"
)

// notes are 24 chunks of five documents, three categories and four pages.
func notes(id string) []engine.Chunk {
	chunks := make([]engine.Chunk, 24)
	for i := range chunks {
		chunks[i] = chunk(fmt.Sprint(id, i), fmt.Sprint("d", i%5), fmt.Sprint("A note on a refund ", i), float32(i)/24, 0)
		chunks[i].Metadata = map[string]any{"category": fmt.Sprint("c", i%3), "page": float64(i % 4)}
	}
	return chunks
}

// notesFilter has a condition on each of the fields that are counted, and one on another.
var notesFilter = filter.Expression{
	"metadata.category": json.RawMessage(`["c0"]`),
	"page":              json.RawMessage(`{"lte": 1}`),
	"document_id":       json.RawMessage(`["d0", "d1"]`),
	"document_name":     json.RawMessage(`{"not": "d4.md"}`),
}

// testDisjunctiveCounts: a field has the counts of the same search without the filter on
// it; the hits are those of the filter.
func testDisjunctiveCounts(b *bench) {
	b.fill("manuals", notes("a")...)
	b.fill("more", notes("b")...)
	for preset := range passagePresets() {
		req := search.Request{
			Query: "refund", KnowledgeBases: []string{"manuals", "more"}, Preset: preset, Vector: []float32{1, 0, 0, 0},
			Facets: []string{"category", "page"}, Filter: notesFilter,
		}
		narrow := b.search(req)
		wide := map[string]*search.Response{}
		for name := range notesFilter {
			other := req
			other.Filter = maps.Clone(notesFilter)
			delete(other.Filter, name)
			wide[name] = b.search(other)
		}
		req.FacetMode = search.FacetDisjunctive
		got := b.search(req)
		if len(got.Hits) == 0 || ids(got) != ids(narrow) || got.Total != narrow.Total {
			b.Errorf("%s: hits %s of %+v; with conjunctive facets %s of %+v", preset, ids(got), got.Total, ids(narrow), narrow.Total)
		}
		for field, name := range map[string]string{"category": "metadata.category", "page": "page"} {
			if diff := cmp.Diff(wide[name].Facets[field], got.Facets[field]); diff != "" {
				b.Errorf("%s: counts of %s differ from those without its filter:\n%s", preset, field, diff)
			}
			if len(got.Facets[field]) <= len(narrow.Facets[field]) {
				b.Errorf("%s: %s has no more values without its filter: %+v", preset, field, got.Facets[field])
			}
		}
		if diff := cmp.Diff(wide["document_id"].Documents, got.Documents); diff != "" {
			b.Errorf("%s: documents differ from those without their filter:\n%s", preset, diff)
		}
		if len(got.Documents) <= len(narrow.Documents) || len(got.Degraded) > 0 {
			b.Errorf("%s: documents %+v, degraded %+v", preset, got.Documents, got.Degraded)
		}
	}
}

func (b *bench) search(req search.Request) *search.Response {
	b.Helper()
	response, err := b.searcher.Search(b.Context(), scope, req)
	if err != nil {
		b.Fatal(err)
	}
	b.holds(response)
	return response
}

// A value that was chosen has its count, and so have the others, until a filter on
// another field leaves nothing of them.
func TestAChosenValueLeavesTheOthersTheirCounts(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("manuals", shelf()...)
	f := func(members string, categories []search.FacetCount, documents ...string) {
		t.Helper()
		r := b.answer(`{"query": "refund", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0], "preset": "vector",
			"facets": ["category"], ` + members + `}`)
		if !slices.Equal(r.Facets["category"], categories) {
			t.Errorf("%s: categories %+v, want %+v", members, r.Facets["category"], categories)
		}
		var got []string
		for _, d := range r.Documents {
			got = append(got, d.DocumentID)
		}
		if !slices.Equal(got, documents) {
			t.Errorf("%s: documents %v, want %v", members, got, documents)
		}
	}
	all := []search.FacetCount{{Value: "billing", Count: 3}, {Value: "account", Count: 1}, {Value: "animals", Count: 1}}
	one := []search.FacetCount{{Value: "account", Count: 1}}
	f(`"facet_mode": "disjunctive"`, all, "billing", "account", "animals")
	f(`"facet_mode": "disjunctive", "filter": {"category": ["account"]}`, all, "account")
	f(`"facet_mode": "conjunctive", "filter": {"category": ["account"]}`, one, "account")
	f(`"filter": {"category": ["account"]}`, one, "account")
	f(`"facet_mode": "disjunctive", "filter": {"document_id": "account"}`, one, "billing", "account", "animals")
	f(`"facet_mode": "disjunctive", "filter": {"category": "account", "document_id": "animals"}`,
		[]search.FacetCount{{Value: "animals", Count: 1}}, "account")
	f(`"facet_mode": "disjunctive", "filter": {"page": 3}`, one, "account") // page is no facet
	f(`"facet_mode": "disjunctive", "filter": {"all_of": [{"category": "account"}]}`, all, "account")
	f(`"facet_mode": "disjunctive", "filter": {"any_of": [{"category": "account"}, {"page": 99}]}`, one, "account")
	f(`"facet_mode": "disjunctive", "filter": {"not": {"category": ["billing", "animals"]}}`, one, "account")
}

// Several days of written_at are a filter on that field alone.
func TestChosenDaysLeaveTheOthersTheirCounts(t *testing.T) {
	b := newBench(t, openEmbedded)
	chunks := shelf()[:3]
	for i := range chunks {
		chunks[i].WrittenAt = fmt.Sprintf("2026-06-%02dT12:00:00Z", 10+i)
	}
	b.fill("manuals", chunks...)
	for mode, counted := range map[string]int{"disjunctive": 3, "conjunctive": 2} {
		r := b.answer(`{"query": "refund", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0], "preset": "vector",
			"facet_mode": "` + mode + `", "facets": ["written_at"], "filter": {"written_at": ["2026-06-10", "2026-06-11"]}}`)
		if len(r.Facets["written_at"]) != counted || len(r.Hits) != 2 {
			t.Errorf("%s: %d hits, counts %+v", mode, len(r.Hits), r.Facets)
		}
	}
}

// testFacetsCalledAsWhatJoins: what joins filters is no filter on a field that is called so.
func testFacetsCalledAsWhatJoins(b *bench) {
	chunks := shelf()
	for i := range chunks {
		chunks[i].Metadata = map[string]any{"any_of": chunks[i].DocumentID, "not": chunks[i].DocumentID}
	}
	b.fill("manuals", chunks...)
	for _, filter := range []string{
		`{"any_of": [{"document_id": "account"}]}`, `{"not": {"document_id": ["billing", "animals"]}}`,
	} {
		for _, field := range []string{"any_of", "not"} {
			r := b.answer(`{"query": "refund", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0], "preset": "vector",
				"facet_mode": "disjunctive", "facets": ["` + field + `"], "filter": ` + filter + `}`)
			want := []search.FacetCount{{Value: "account", Count: 1}}
			if !slices.Equal(r.Facets[field], want) {
				b.Errorf("%s of %s: %+v, want %+v", field, filter, r.Facets[field], want)
			}
		}
	}
}

func TestFacetModesThatAreRefused(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("manuals", shelf()...)
	f := func(mode string, fields int, detail string) {
		t.Helper()
		req := search.Request{Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "text", FacetMode: mode, Filter: filter.Expression{}}
		for i := range fields {
			field := strings.Repeat("f", i+1)
			req.Facets, req.Filter[field] = append(req.Facets, field), json.RawMessage(`1`)
		}
		_, err := b.searcher.Search(t.Context(), scope, req)
		if detail == "" && err != nil || detail != "" && (!fault.Is(err, fault.InvalidArgument) || err.Error() != detail) {
			t.Errorf("%s of %d fields: %v", mode, fields, err)
		}
	}
	f("disjunctive", search.MaxDisjunctive, "")
	f("conjunctive", search.MaxDisjunctive+1, "")
	f("disjunctive", search.MaxDisjunctive+1,
		"facet_mode disjunctive counts 11 fields without the filter on them; at most 10 are accepted")
	f("or", 0, `facet_mode is "or"; it must be conjunctive or disjunctive`)
	f("Disjunctive", 0, `facet_mode is "Disjunctive"; it must be conjunctive or disjunctive`)
}

// sideways is an engine that does something else for searches without a condition on
// category: those that count it apart from its filter.
type sideways struct {
	engine.Engine
	mu         sync.Mutex
	statistics int
	requests   []*engine.Request
	narrow     func() error // in place of a search with the condition
	wide       func(context.Context, *engine.Result) error
}

func (e *sideways) Statistics(ctx context.Context, req *engine.StatisticsRequest) (*engine.Statistics, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.statistics++
	return e.Engine.Statistics(ctx, req)
}

func (e *sideways) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	e.mu.Lock()
	e.requests = append(e.requests, req)
	e.mu.Unlock()
	filtered := slices.ContainsFunc(req.Filter.Conditions, func(c filter.Condition) bool { return c.Field == "category" })
	if filtered && e.narrow != nil {
		return nil, e.narrow()
	}
	result, err := e.Engine.Search(ctx, req)
	if err == nil && !filtered && e.wide != nil {
		err = e.wide(ctx, result)
	}
	return result, err
}

// besides is a bench whose engine goes sideways.
func besides(t *testing.T) (*bench, *sideways) {
	t.Helper()
	e := &sideways{}
	b := newBench(t, func(t *testing.T, analyzer *tokens.Analyzer) engine.Engine {
		e.Engine = openEmbedded(t, analyzer)
		return e
	})
	b.fill("manuals", shelf()...)
	return b, e
}

func account() search.Request {
	return search.Request{
		Query: "refund on the page", KnowledgeBases: []string{"manuals"}, Facets: []string{"category", "page"},
		Filter: filter.Expression{
			"category": json.RawMessage(`"account"`), "page": json.RawMessage(`3`), "document_id": json.RawMessage(`"account"`),
		},
		FacetMode: search.FacetDisjunctive,
	}
}

// The question is embedded once and its statistics are asked for once, however many
// fields are counted; each costs a search, which brings no chunks along.
func TestCountingApartAsksTheQuestionOnce(t *testing.T) {
	b, e := besides(t)
	embedder := &countingEmbedder{}
	b.searcher.Embedder = embedder
	b.search(account())
	if n := embedder.calls.Load(); n != 1 {
		t.Errorf("the query was embedded %d times; want n 1", n)
	}
	if e.statistics != 1 || len(e.requests) != 4 {
		t.Errorf("statistics were asked for %d times and searches %d; want 1 and 4", e.statistics, len(e.requests))
	}
	for _, req := range e.requests {
		if wide := len(req.Filter.Conditions) < 3; wide && (req.Prefetch != 0 || len(req.Facets) != 1) {
			t.Errorf("a search for counts asks for %d chunks and facets %v; want not wide or req.Prefetch 0 and 1 req.Facets", req.Prefetch, req.Facets)
		}
	}
}

// Counts that cannot be had are those of the filter, and the answer says so.
func TestCountsThatFailDegradeTheAnswer(t *testing.T) {
	b, e := besides(t)
	b.searcher.Embedder = &countingEmbedder{}
	e.wide = func(context.Context, *engine.Result) error { return fault.New(fault.Unavailable, "the shop is closed") }
	r := b.search(account())
	if !slices.Equal(r.Facets["category"], []search.FacetCount{{Value: "account", Count: 1}}) || len(r.Facets["page"]) != 1 {
		t.Errorf(`facets %+v; want {{Value: "account", Count: 1}} and 1 r.Facets["page"]`, r.Facets)
	}
	if len(r.Degraded) != 1 || r.Degraded[0].Leg != "facets" ||
		!strings.HasPrefix(r.Degraded[0].Reason, "the counts of category are those with the filter on it: ") ||
		!strings.Contains(r.Degraded[0].Reason, "the shop is closed") {
		t.Errorf("degraded %+v", r.Degraded)
	}
}

// A leg that failed only where a field is counted is told; one that failed everywhere
// is told once.
func TestALegMissingInCountsIsTold(t *testing.T) {
	b, e := besides(t)
	e.wide = func(_ context.Context, result *engine.Result) error {
		result.Legs[0].Err = fault.New(fault.Timeout, "took too long")
		return nil
	}
	req := account()
	req.Preset, req.Vector = "rrf", []float32{1, 0, 0, 0}
	r := b.search(req)
	want := []search.Degraded{{Leg: "facets", KnowledgeBase: "manuals", Code: fault.Timeout, Reason: "for the counts of category, text: took too long"}}
	if !slices.Equal(r.Degraded, want) {
		t.Errorf("degraded %+v, want %+v", r.Degraded, want)
	}
	e.wide, req.Vector = nil, nil
	if r := b.search(req); len(r.Degraded) != 1 || r.Degraded[0].Leg != "vector" {
		t.Errorf("without a vector: degraded %+v", r.Degraded)
	}
}

// untilTheEnd waits for the end of a search.
func untilTheEnd(ctx context.Context, _ *engine.Result) error {
	<-ctx.Done()
	return engines.ContextFault(ctx)
}

// Counts that outlive the time limit cost no hits, and a search that fails does not wait
// for them.
func TestCountsDoNotHoldUpTheEnd(t *testing.T) {
	b, e := besides(t)
	e.wide = untilTheEnd
	req := account()
	req.Preset = "text"
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	r, err := b.searcher.Search(ctx, scope, req)
	if err != nil || len(r.Hits) != 1 || len(r.Degraded) != 1 || !strings.Contains(r.Degraded[0].Reason, "time limit") {
		t.Errorf(`%+v, %v; want no error and 1 r.Hits and 1 r.Degraded and "time limit" in it`, r, err)
	}
	e.narrow = func() error { return fault.New(fault.Unavailable, "the shop is closed") }
	if _, err := b.searcher.Search(t.Context(), scope, req); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a search that fails: %v; want an error of kind Unavailable", err)
	}
}
