package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

var pairPresets = []string{"qa_four_path", "qa_balanced"}

// pair is a short way to write one; its vectors are [q, 1-q, 0, 0] and [a, 0, 1-a, 0].
func pair(id, question, answer string, q, a float32) engine.Chunk {
	return engine.Chunk{
		ID: id, DocumentID: "faq", DocumentName: "faq.csv", Available: true,
		QA: &engine.QA{Question: question, Answer: answer},
		Vectors: map[string][]float32{
			engine.FieldQuestionVector: {q, 1 - q, 0, 0}, engine.FieldAnswerVector: {a, 0, 1 - a, 0},
		},
	}
}

// faq has a pair that only one path finds, for each of the four.
func faq() []engine.Chunk {
	full := pair("full", "How do I get a refund?", "Press the button on the invoice page.", 0.9, 0.2)
	full.Title, full.Category, full.Date = "Refunds", "billing", "2026-01-31"
	full.FullAnswer, full.Summary, full.URL, full.Group = "Press it twice.", "A button.", "https://example.com/refund", "g1"
	return []engine.Chunk{
		full,
		pair("question-words", "refund of a parcel", "no", 0, 0),
		pair("answer-words", "money", "A refund takes a week.", 0, 0),
		pair("question-sense", "money back", "yes", 0.8, 0),
		pair("answer-sense", "deadline", "a week", 0, 0.8),
	}
}

func testPairsAreFoundOnFourPaths(b *bench) {
	b.fillKind(engine.KindQA, "faq", faq()...)
	for _, preset := range pairPresets {
		body := `{"query": "refund", "knowledge_bases": ["faq"], "vector": [1, 0, 0, 0], "preset": "` + preset + `"}`
		r := b.answer(body)
		if got := strings.Fields(ids(r)); len(got) != 5 || got[0] != "full" {
			b.Errorf("%s: hits %v, want all five and full first", preset, got)
		}
		b.holds(r)
		hit := r.Hits[0]
		shown, err := json.Marshal(hit)
		if err != nil {
			b.Fatal(err)
		}
		for _, member := range []string{
			`"question":"How do I get a refund?"`, `"answer":"Press the button on the invoice page."`,
			`"full_answer":"Press it twice."`, `"summary":"A button."`, `"url":"https://example.com/refund"`,
			`"title":"Refunds"`, `"category":"billing"`, `"date":"2026-01-31"`, `"group":"g1"`,
		} {
			if !strings.Contains(string(shown), member) {
				b.Errorf("%s: the hit lacks %s: %s", preset, member, brief.Of(shown))
			}
		}
		if len(hit.Legs) != 4 {
			b.Errorf("%s: %d legs, want four", preset, len(hit.Legs))
		}
	}
	// Category and title stand in front of question and of answer.
	for _, word := range []string{"billing", "refunds"} {
		r := b.answer(`{"query": "` + word + `", "knowledge_bases": ["faq"], "vector": [0, 0, 0, 1], "preset": "qa_four_path"}`)
		ranked := map[string]bool{}
		for _, l := range r.Hits[0].Legs {
			ranked[l.Leg] = l.Rank != nil
		}
		if r.Hits[0].ID != "full" || !ranked["question"] || !ranked["answer"] {
			b.Errorf("%s: hits %s, ranked by %v", word, ids(r), ranked)
		}
	}
}

// recorder notes the bodies that are sent to _msearch.
type recorder struct {
	http.RoundTripper
	mu     sync.Mutex
	bodies []string
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/_msearch") {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		r.mu.Lock()
		r.bodies = append(r.bodies, string(body))
		r.mu.Unlock()
	}
	return r.RoundTripper.RoundTrip(req)
}

func TestElasticsearchGetsTheFourPathsInOneRequest(t *testing.T) {
	sent := &recorder{RoundTripper: &http.Transport{DisableKeepAlives: true}}
	b := newBench(t, func(t *testing.T, analyzer *tokens.Analyzer) engine.Engine {
		return openElasticsearchBy(t, analyzer, sent)
	})
	b.fillKind(engine.KindQA, "faq", faq()...)
	b.answer(`{"query": "refund", "knowledge_bases": ["faq"], "vector": [1, 0, 0, 0], "preset": "qa_four_path"}`)
	fourPaths := 0
	for _, body := range sent.bodies {
		if strings.Count(body, "\n") == 8 { // four headers, four searches
			fourPaths++
		}
	}
	if fourPaths != 1 {
		t.Errorf("%d requests with four searches, want 1: %q", fourPaths, sent.bodies)
	}
}

func testCopiesOfAPairAreShownOnce(b *bench) {
	copied := func(id, document, group, question string, q float32) engine.Chunk {
		c := pair(id, question, "the answer of "+id, q, 0)
		c.DocumentID, c.Group = document, group
		return c
	}
	b.fillKind(engine.KindQA, "faq",
		copied("best", "faq", "g", "refund", 0.9), copied("copy", "faq", "g", "refund", 0.8),
		copied("other-group", "faq", "h", "refund", 0.7), copied("other-question", "faq", "g", "refund?", 0.6),
		copied("other-document", "more", "g", "refund", 0.5),
	)
	body := `{"query": "refund", "knowledge_bases": ["faq"], "vector": [1, 0, 0, 0], "preset": "qa_balanced"`
	r := b.answer(body + "}")
	if got := ids(r); got != "best other-group other-question other-document" || r.Total.Value != 4 {
		b.Errorf(`hits %s, total %d; want got "best other-group other-question other-document" and r.Total.Value 4`, got, r.Total.Value)
	}
	narrow := b.answer(body + `, "candidates": 3}`)
	if got := ids(narrow); got != "best other-group" || narrow.Total != (search.Total{Value: 2, Relation: "gte"}) {
		b.Errorf("of three candidates: hits %s, total %+v", got, narrow.Total)
	}
	// Of two knowledge bases each has the best of its own. Whole texts are compared beyond that.
	b.fillKind(engine.KindQA, "faq-too",
		copied("best-too", "faq", "g", "refund", 0.85), copied("copy-too", "faq", "g", "refund", 0.75))
	both := b.answer(strings.Replace(body, `["faq"]`, `["faq", "faq-too"]`, 1) + `, "copies": "keep"}`)
	if got := strings.Fields(ids(both)); len(got) != 5 || !slices.Contains(got, "best") || !slices.Contains(got, "best-too") {
		b.Errorf("of two knowledge bases: hits %s", got)
	}
	var req search.ExplainRequest
	if err := json.Unmarshal([]byte(body+`, "chunk_id": "copy"}`), &req); err != nil {
		b.Fatal(err)
	}
	why, err := b.searcher.Explain(b.Context(), scope, req)
	if err != nil || why.Outcome != search.OutcomeGrouped || !strings.Contains(why.Detail, `"best"`) {
		b.Errorf("explain of the copy: %+v, %v; want no error and why.Outcome OutcomeGrouped and `\"best\"` in it", why, err)
	}
}

func testPairsNeedTheirKind(b *bench) {
	b.fill("manuals", shelf()...)
	for _, preset := range pairPresets {
		_, err := b.ask(`{"query": "refund", "knowledge_bases": ["manuals"], "preset": "` + preset + `"}`)
		if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "kind qa") {
			b.Errorf("%s on passages: %v, want an invalid argument that names the kind", preset, err)
		}
	}
}

// failing is an engine, and the catalog over it, that fails for one knowledge base.
type failing struct {
	engine.Engine
	search.Catalog
	kb   string
	step string // catalog, statistics, text index, search or content
	// cancel, when set, is called before content fails.
	cancel context.CancelFunc
}

var errGone = fault.New(fault.Unavailable, "the disk is gone")

func (f *failing) fails(step, kb string) bool { return f.step == step && f.kb == kb }

func (f *failing) Get(ctx context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	if f.fails("catalog", id) {
		return engine.KnowledgeBase{}, nil, errGone
	}
	kb, _, err := f.Catalog.Get(ctx, scope, id)
	return kb, f, err
}

func (f *failing) Statistics(ctx context.Context, req *engine.StatisticsRequest) (*engine.Statistics, error) {
	if f.fails("statistics", req.KB.ID) {
		return nil, errGone
	}
	stats, err := f.Engine.Statistics(ctx, req)
	if err == nil && req.Field != "" && f.fails("text index", req.KB.ID) {
		stats.Docs, stats.AverageLength, stats.DF, stats.TextErr = 0, 0, make([]int, len(req.Terms)), errGone
	}
	return stats, err
}

func (f *failing) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	if f.fails("search", req.KB.ID) {
		return nil, errGone
	}
	return f.Engine.Search(ctx, req)
}

func (f *failing) Chunks(ctx context.Context, req engine.ChunksRequest) ([]engine.Chunk, error) {
	if f.fails("content", req.KB.ID) {
		if f.cancel != nil {
			f.cancel()
		}
		return nil, errGone
	}
	return f.Engine.Chunks(ctx, req)
}

// counting counts how often a question is embedded.
type counting struct{ calls int }

func (c *counting) Query(context.Context, string) ([]float32, error) {
	c.calls++
	return []float32{1, 0, 0, 0}, nil
}
func (c *counting) Model() string { return "counting" }

func TestOneFailingKnowledgeBaseIsReported(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fillKind(engine.KindQA, "good", faq()...)
	b.fillKind(engine.KindQA, "bad", faq()...)
	for _, step := range []string{"catalog", "statistics", "search", "content"} {
		f := &failing{Engine: b.engine, Catalog: b.catalog, kb: "bad", step: step}
		options, embedder := b.searcher.Options, &counting{}
		options.Catalog, options.Embedder = f, embedder
		searcher := search.New(options)
		req := search.Request{Query: "refund", KnowledgeBases: []string{"good", "bad"}, Preset: "qa_balanced"}
		r, err := searcher.Search(t.Context(), scope, req)
		if err != nil {
			t.Errorf("%s fails: %v", step, err)
			continue
		}
		if embedder.calls != 1 {
			t.Errorf("%s: the question was embedded %d times; want embedder.calls 1", step, embedder.calls)
		}
		if len(r.Degraded) == 0 || len(r.Hits) == 0 {
			t.Errorf("%s fails: %d hits, degraded %+v; want some r.Degraded and some r.Hits", step, len(r.Hits), r.Degraded)
		}
		if step == "content" && len(r.Degraded) != 1 {
			t.Errorf("read for its copies and for the page, it is degraded as %+v, want once", r.Degraded)
		}
		for _, d := range r.Degraded {
			if d.KnowledgeBase != "bad" || !strings.Contains(d.Reason, "disk") {
				t.Errorf(`%s fails: degraded %+v; want d.KnowledgeBase "bad" and "disk" in it`, step, d)
			}
		}
		for _, hit := range r.Hits {
			if hit.KnowledgeBase != "good" {
				t.Errorf(`%s fails: a hit of %s; want hit.KnowledgeBase "good"`, step, hit.KnowledgeBase)
			}
		}
		req.KnowledgeBases = []string{"bad"}
		if _, err := searcher.Search(t.Context(), scope, req); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s fails alone: %v, want unavailable", step, err)
		}
	}
}

// TestALostTextIndexCostsTheTextLegs: the cosines keep their moments, and count as they
// do beside words.
func TestALostTextIndexCostsTheTextLegs(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("manuals", shelf()...)
	options := b.searcher.Options
	options.Catalog = &failing{Engine: b.engine, Catalog: b.catalog, kb: "manuals", step: "text index"}
	lost := search.New(options)
	for preset := range passagePresets() {
		var req search.Request
		body := `{"query": "refund", "vector": [1, 0, 0, 0], "knowledge_bases": ["manuals"], "explain": true, "preset": "` + preset + `"}`
		if err := json.Unmarshal([]byte(body), &req); err != nil {
			t.Fatal(err)
		}
		whole, err := b.searcher.Search(t.Context(), scope, req)
		if err != nil {
			t.Fatal(err)
		}
		r, err := lost.Search(t.Context(), scope, req)
		switch legs := whole.Explain.Plan.Legs; {
		case preset == "text":
			if err != nil && !fault.Is(err, fault.Unavailable) {
				t.Errorf("words alone: %v; want no error or an error of kind Unavailable", err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", preset, err)
			continue
		case len(legs) > 1 && len(r.Degraded) == 0:
			continue // its plan asks for no statistics
		case len(legs) > 1 && (len(r.Degraded) != 1 || r.Degraded[0].Leg != "text" || r.Explain.Known != nil):
			t.Errorf("%s is degraded as %+v, known %v", preset, r.Degraded, r.Explain.Known)
		}
		if len(r.Hits) == 0 {
			t.Fatalf("%s: no hits; want some r.Hits", preset)
		}
		of := slices.IndexFunc(whole.Hits, func(h search.Hit) bool { return h.ID == r.Hits[0].ID })
		for i, leg := range r.Hits[0].Legs {
			beside := whole.Hits[of].Legs[i]
			if leg.Leg == "vector" && leg.Normalized != nil && *leg.Normalized != *beside.Normalized {
				t.Errorf("%s: the cosine counts %v, beside words %v", preset, *leg.Normalized, *beside.Normalized)
			}
		}
	}
}

func TestACanceledSearchIsNoDegradedAnswer(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fillKind(engine.KindQA, "good", faq()...)
	b.fillKind(engine.KindQA, "bad", faq()...)
	ctx, cancel := context.WithCancel(t.Context())
	options := b.searcher.Options
	options.Catalog = &failing{Engine: b.engine, Catalog: b.catalog, kb: "bad", step: "content", cancel: cancel}
	options.Embedder = &counting{}
	req := search.Request{Query: "refund", KnowledgeBases: []string{"good", "bad"}, Preset: "qa_balanced"}
	if r, err := search.New(options).Search(ctx, scope, req); err == nil {
		t.Errorf("%d hits, degraded %+v; want an error", len(r.Hits), r.Degraded)
	}
}
