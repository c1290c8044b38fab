package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// reversing is a reranker that likes later texts better, and notes what it read.
type reversing struct {
	read []string
	err  error
	lost int  // so many scores are missing
	even bool // all texts are as good
}

func (r *reversing) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	r.read = texts
	scores := make([]float64, len(texts)-r.lost)
	for i := range scores {
		scores[i] = float64(i+1) / 200
		if r.even {
			scores[i] = 0.5
		}
	}
	return scores, r.err
}

// reranked searches 150 chunks, whose contents are their ids, with and without the
// reranker.
func reranked(t *testing.T, by *reversing, topK int) (plain, got *search.Response) {
	t.Helper()
	e := newStill(150, 150, true)
	for id, chunk := range e.chunks {
		chunk.Content = id
		e.chunks[id] = chunk
	}
	planners, err := presets.With(map[string]presets.Custom{
		"reranked": {Base: "script_score", Overrides: search.Overrides{Rerank: named("reversing")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := search.New(search.Options{
		Catalog: e, Analyzer: silent{}, Planners: planners, DefaultPreset: presets.Default,
		Rerankers: map[string]search.Reranker{"reversing": by},
	})
	request := search.Request{
		Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "script_score", TopK: &topK,
		Vector: make([]float32, 384),
	}
	ask := func() *search.Response {
		response, err := s.Search(t.Context(), scope, request)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	plain = ask()
	request.Rerank = named("reversing")
	got = ask()
	request.Preset, request.Rerank = "reranked", nil
	if byPreset := ask(); ids(byPreset) != ids(got) {
		t.Errorf("by the preset's reranker %s, by the request's %s", ids(byPreset), ids(got))
	}
	request.Rerank = named("")
	if without := ask(); ids(without) != ids(plain) {
		t.Errorf("without the preset's reranker %s, want %s", ids(without), ids(plain))
	}
	return plain, got
}

func TestARerankerOrdersTheBest(t *testing.T) {
	const read = 50 // the window, whatever top_k is
	plain, _ := reranked(t, &reversing{}, 150)
	order := strings.Fields(ids(plain))
	want := slices.Clone(order)
	slices.Reverse(want[:read])
	for _, topK := range []int{1, 10, 50, 51, 150} {
		by := &reversing{}
		_, got := reranked(t, by, topK)
		if !slices.Equal(by.read, order[:read]) {
			t.Errorf("top_k %d: it reads %d texts, want those of the best %d in their order", topK, len(by.read), read)
		}
		if !slices.Equal(strings.Fields(ids(got)), want[:topK]) {
			t.Errorf("top_k %d: hits %s, want %s", topK, ids(got), want[:topK])
		}
		if best := float64(read) / 200; got.Hits[0].Score != best || got.MaxScore != best {
			t.Errorf("top_k %d: score %v of at most %v, want the reranker's %v", topK, got.Hits[0].Score, got.MaxScore, best)
		}
		if last := got.Hits[topK-1]; last.Score > got.Hits[0].Score || topK > read && (last.Rerank != nil || last.Score != 1.0/200) {
			t.Errorf("top_k %d: the last has %v, %+v", topK, last.Score, last.Rerank)
		}
	}
}

func TestTextsAsGoodKeepTheirOrder(t *testing.T) {
	plain, got := reranked(t, &reversing{even: true}, 50)
	if ids(got) != ids(plain) || got.MaxScore != 0.5 {
		t.Errorf("hits %s of at most %v, want %s", ids(got), got.MaxScore, ids(plain))
	}
}

// Promise: "never the answer" (docs/guide/en/reranking.md).
func TestARerankerThatFailsChangesNothing(t *testing.T) {
	deadline.Set(t, time.Minute)
	for told, by := range map[search.Degraded]*reversing{
		{Code: fault.Overloaded, Reason: "it is busy"}:                                {err: fault.New(fault.Overloaded, "it is busy")},
		{Code: fault.Unavailable, Reason: "the reranker gave 49 scores for 50 texts"}: {lost: 1},
		{Code: fault.Internal, Reason: "internal error"}:                              {err: fmt.Errorf("secret")},
	} {
		plain, got := reranked(t, by, 10)
		told.Leg = "rerank"
		want := []search.Degraded{told}
		if ids(got) != ids(plain) || got.MaxScore != plain.MaxScore || !slices.Equal(got.Degraded, want) {
			t.Errorf("%s: hits %s, want %s; degraded %+v", told.Reason, ids(got), ids(plain), got.Degraded)
		}
	}
}

func named(name string) *search.Rerank { return &search.Rerank{Name: name, Weight: new(1.0)} }

// TestRerankInRequests: a name replaces the score, an object blends.
func TestRerankInRequests(t *testing.T) {
	for text, want := range map[string]search.Reranking{
		`"best"`:           {Name: "best", Window: 50, Weight: 1},
		`{"name": "best"}`: {Name: "best", Window: 50, Weight: 0.7},
		`{"name": "best", "window": 7, "weight": 0, "budget_ms": 5}`: {Name: "best", Window: 7, BudgetMS: 5},
	} {
		var r search.Rerank
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.Planned(); got == nil || *got != want {
			t.Errorf("%s is planned as %+v, want %+v", text, got, want)
		}
	}
}

// testReranked has a real engine behind a reranker that knows what it likes.
func testReranked(b *bench) {
	b.fill("k", shelf()...)
	by := &liking{word: "login"}
	b.searcher.Rerankers = map[string]search.Reranker{"liking": by}
	ask := func(more string) *search.Response {
		b.Helper()
		return b.answer(`{"query": "refund -wombat \"order page\"", "vector": [0.9, 0.1, 0, 0], "knowledge_bases": ["k"],
			"preset": "vector", "plain": false, "top_k": 3` + more + `}`)
	}
	first := func(r *search.Response) string { return strings.Fields(ids(r) + " none")[0] }
	ask(`, "rerank": "liking"`)
	if strings.ContainsAny(by.question, "-\"") || !strings.Contains(by.question, "refund") {
		b.Errorf("the reranker is asked %q", by.question)
	}
	open := func(more string) *search.Response {
		b.Helper()
		return b.answer(`{"query": "refund", "vector": [0.9, 0.1, 0, 0], "knowledge_bases": ["k"], "preset": "vector", "top_k": 2` + more + `}`)
	}
	plain := open("")
	if first(plain) == "login" {
		b.Fatalf("without a reranker %s", ids(plain))
	}
	replaced := open(`, "rerank": "liking"`) // from beyond top_k
	if h := replaced.Hits[0]; h.ID != "login" || h.Score != 0.9 || h.Rerank == nil || h.Rerank.Score != 0.9 || h.Rerank.Rank <= 2 {
		b.Errorf(`replaced: %s, %+v; want h.ID "login" and h.Score 0.9 and a h.Rerank and h.Rerank.Score 0.9 and h.Rerank.Rank above 2`, ids(replaced), h.Rerank)
	}
	blended := open(`, "rerank": {"name": "liking", "weight": 0.5}`).Hits[0]
	if want := 0.5*0.9 + 0.5*blended.Rerank.Fused; math.Abs(blended.Score-want) > 1e-12 {
		b.Errorf("blended: %v, want %v", blended.Score, want)
	}
	if few := open(`, "rerank": {"name": "liking", "window": 1}`); first(few) != first(plain) || len(by.read) != 1 {
		b.Errorf("a window of 1 reads %d texts and gives %s", len(by.read), ids(few))
	}
	cut := open(`, "rerank": "liking", "threshold": {"score": 0.9}`)
	if ids(cut) != "login" || cut.Total.Value != 1 {
		b.Errorf(`of a score of 0.9: %s, %+v; want ids(cut) "login" and cut.Total.Value 1`, ids(cut), cut.Total)
	}
	b.explainsReranked()
}

func (b *bench) explainsReranked() {
	b.Helper()
	for id, outcome := range map[string]string{"login": search.OutcomeHit, "refund-en": search.OutcomeThreshold} {
		e, err := b.searcher.Explain(b.Context(), scope, search.ExplainRequest{ChunkID: id, Request: search.Request{
			Query: "refund", Vector: []float32{0.9, 0.1, 0, 0}, KnowledgeBases: []string{"k"}, Preset: "vector",
			Overrides: search.Overrides{Rerank: named("liking"), Threshold: search.Threshold{Score: new(0.5)}},
		}})
		if err != nil {
			b.Fatal(err)
		}
		if e.Outcome != outcome || e.Rerank == nil {
			b.Errorf("%s: %s (%s), %+v", id, e.Outcome, e.Detail, e.Rerank)
		}
	}
}

// liking likes texts with a word, and notes what it was asked.
type liking struct {
	word, question string
	read           []string
}

func (l *liking) Rerank(_ context.Context, question string, texts []string) ([]float64, error) {
	l.question, l.read = question, texts
	scores := make([]float64, len(texts))
	for i, text := range texts {
		scores[i] = 0.1
		if strings.Contains(text, l.word) {
			scores[i] = 0.9
		}
	}
	return scores, nil
}

// TestPairsAreRerankedWhole: a reranker reads the question and the answer.
func TestPairsAreRerankedWhole(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fillKind(engine.KindQA, "faq", faq()...)
	by := &liking{word: "takes a week"} // an answer
	b.searcher.Rerankers = map[string]search.Reranker{"liking": by}
	r := b.answer(`{"query": "refund", "vector": [1, 0, 0, 0], "knowledge_bases": ["faq"], "preset": "qa_balanced", "rerank": "liking"}`)
	if r.Hits[0].ID != "answer-words" || !slices.ContainsFunc(by.read, func(text string) bool { return strings.Contains(text, "refund of a parcel") }) {
		t.Errorf("%s of %q", ids(r), by.read)
	}
}

// TestABudgetIsKept: the answer comes as it was fused, and says so.
func TestABudgetIsKept(t *testing.T) {
	deadline.Set(t, 30*time.Second)
	b := newBench(t, openEmbedded)
	b.fill("k", shelf()...)
	b.searcher.Rerankers = map[string]search.Reranker{"slow": slow{}}
	r := b.answer(`{"query": "refund", "vector": [0.9, 0.1, 0, 0], "knowledge_bases": ["k"], "rerank": {"name": "slow", "budget_ms": 20}}`)
	if len(r.Hits) == 0 || len(r.Degraded) != 1 || r.Degraded[0].Code != fault.Timeout || !strings.Contains(r.Degraded[0].Reason, "20 ms") {
		t.Errorf(`%s, %+v; want some r.Hits and 1 r.Degraded and r.Degraded[0].Code Timeout and "20 ms" in it`, ids(r), r.Degraded)
	}
}

type slow struct{}

func (slow) Rerank(ctx context.Context, _ string, _ []string) ([]float64, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestWhatIsObservedIsReranked: whatever may come into the window is read, and a reranker that fails is told.
func TestWhatIsObservedIsReranked(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("k", shelf()...)
	by := &liking{word: "refund"}
	b.searcher.Rerankers = map[string]search.Reranker{"liking": by, "slow": slow{}}
	req := search.Request{
		Query: "refund", Vector: []float32{0.9, 0.1, 0, 0}, KnowledgeBases: []string{"k"}, Preset: "linear",
		Overrides: search.Overrides{Rerank: &search.Rerank{Name: "liking", Window: new(2)}},
	}
	said, err := b.searcher.Observe(b.Context(), scope, req)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, score := range said.Reranked {
		if !math.IsNaN(score) {
			read++
		}
	}
	if len(said.Reranked) != len(said.Candidates) || read < 2 || read == len(said.Candidates) || len(by.read) != read {
		t.Errorf("%d of %d read: %v", read, len(said.Candidates), said.Reranked)
	}
	req.Rerank = &search.Rerank{Name: "slow", BudgetMS: new(20)}
	if _, err := b.searcher.Observe(b.Context(), scope, req); !fault.Is(err, fault.Unavailable) {
		t.Errorf("with a slow reranker: %v; want an error of kind Unavailable", err)
	}
}
