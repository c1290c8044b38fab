package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// plane is a bank whose vectors have the topic in their second number; the others are
// common to all texts of a language. So evidence is 1 for the same topic, -1 for the
// opposite one.
type plane struct{ err error }

func (p plane) Centres(string) (*bank.Centres, error) {
	if p.err != nil {
		return nil, p.err
	}
	en := bank.Vectors{
		Questions: [][]float32{{0.8, 0.6, 0, 0}, {0.8, -0.6, 0, 0}},
		Passages:  [][]float32{{0.8, 0.6, 0, 0}, {0.8, -0.6, 0, 0}},
	}
	zh := bank.Vectors{
		Questions: [][]float32{{0.6, 0.6, 0, 0.52915}, {0.6, -0.6, 0, 0.52915}},
		Passages:  [][]float32{{0.6, 0.6, 0, 0.52915}, {0.6, -0.6, 0, 0.52915}},
	}
	return bank.NewCentres(map[string]bank.Vectors{"en": en, "zh": zh})
}

// onPlane fills a knowledge base in two languages with topics in opposite directions, and
// one chunk without a vector.
func (b *bench) onPlane() {
	b.searcher.Bank = plane{}
	told := func(id, language, content string, vector ...float32) engine.Chunk {
		c := chunk(id, id, content, 0, 0)
		c.Metadata, c.Vectors = map[string]any{"language": language}, nil
		if vector != nil {
			c.Vectors = map[string][]float32{engine.FieldVector: vector}
		}
		return c
	}
	b.fill("m",
		told("refund", "en", "Money back within three days of the return", 0.8, 0.6, 0, 0),
		told("gloves", "en", "Gloves for the return of winter", 0.8, -0.6, 0, 0),
		told("tuikuan", "zh", "退款在三天内到账", 0.6, 0.6, 0, 0.52915),
		told("shoutao", "zh", "冬天的手套", 0.6, -0.6, 0, 0.52915),
		told("bare", "en", "Money back, and no vector"),
	)
}

const onRefunds = `{"query": "when is my money back", "knowledge_bases": ["m"], "vector": [0.8, 0.6, 0, 0]`

// Promise: "mean the same for every question" (docs/guide/en/relevance.md).
// Promise: "They mean the same under every preset" (docs/guide/en/concepts.md).
// Promise: "never from the fused score" (docs/score-contract.md).
func testRelevance(b *bench) {
	b.onPlane()
	for _, preset := range []string{"balanced", "rrf", "linear", "script_score", "vector"} {
		r := b.answer(onRefunds + `, "preset": "` + preset + `", "top_k": 10, "explain": true}`)
		if r.Answerable == nil || *r.Answerable < 0.9 || r.Language != "en" {
			b.Errorf(`%s: answerable %v, the question is in %q; want a r.Answerable and *r.Answerable at least 0.9 and r.Language "en"`, preset, show(r.Answerable), r.Language)
		}
		want := map[string]struct {
			language string
			low      float64
			high     float64
		}{"refund": {"en", 0.8, 1}, "gloves": {"en", 0, 0.01}, "tuikuan": {"zh", 0.8, 1}, "shoutao": {"zh", 0, 0.01}}
		for i := range r.Hits {
			h := &r.Hits[i]
			w, withVector := want[h.ID]
			if !withVector {
				if h.Relevance != nil || h.Language != "en" {
					b.Errorf(`%s: %s has relevance %v in %q; it has no vector; want no h.Relevance and h.Language "en"`, preset, h.ID, show(h.Relevance), h.Language)
				}
				continue
			}
			if h.Language != w.language || h.Relevance == nil || !(*h.Relevance >= w.low && *h.Relevance <= w.high) {
				b.Errorf("%s: %s has relevance %v in %q, want %+v", preset, h.ID, show(h.Relevance), h.Language, w)
			}
			b.explained(r, h)
		}
	}
}

// explained: the account of the answer gives the same relevance again.
func (b *bench) explained(r *search.Response, h *search.Hit) {
	b.Helper()
	at := slices.IndexFunc(r.Explain.Relevance, func(a search.RelevanceAccount) bool { return a.KnowledgeBase == h.KnowledgeBase })
	account := r.Explain.Relevance[at]
	again := bank.Relevance(account.EvidenceOf(h), *account.Best, account.Chunks)
	if h.Relevance == nil || math.Abs(again-*h.Relevance) > 1e-12 {
		b.Errorf("%s: relevance %v, by its explanation %v; want a h.Relevance and math.Abs(again - *h.Relevance) at most 1e-12", h.ID, show(h.Relevance), again)
	}
}

func sortedIDs(r *search.Response) string {
	list := strings.Fields(ids(r))
	slices.Sort(list)
	return strings.Join(list, " ")
}

func show(p *float64) string {
	if p == nil {
		return "null"
	}
	return fmt.Sprintf("%.4f", *p)
}

// testCutByRelevance: the value that cuts is the value that is shown.
func testCutByRelevance(b *bench) {
	b.onPlane()
	for _, preset := range []string{"balanced", "rrf", "linear", "script_score"} {
		with := func(threshold string) *search.Response {
			return b.answer(onRefunds + `, "preset": "` + preset + `", "top_k": 10, "threshold": ` + threshold + `}`)
		}
		r := with(`{"relevance": 0.3}`)
		if got := sortedIDs(r); got != "refund tuikuan" || r.Total.Value != 2 || r.Empty != "" {
			b.Errorf("%s: left are %s of %d", preset, got, r.Total.Value)
		}
		if got := sortedIDs(with(`"auto"`)); got != "refund tuikuan" {
			b.Errorf(`%s: auto leaves %s; want got "refund tuikuan"`, preset, got)
		}
		r = with(`{"relevance": 0.999}`)
		if len(r.Hits) > 0 || r.Empty != "nothing_relevant" || r.Answerable == nil || *r.Answerable < 0.9 {
			b.Errorf(`%s: %d hits, empty %q (%s), answerable %s; want len(r.Hits) 0 and r.Empty "nothing_relevant" and a r.Answerable and *r.Answerable at least 0.9`, preset, len(r.Hits), r.Empty, r.EmptyReason, show(r.Answerable))
		}
		why := b.explainChunk(onRefunds+`, "preset": "`+preset+`", "threshold": {"relevance": 0.3}`, "gloves")
		if why.Outcome != search.OutcomeThreshold || !strings.Contains(why.Detail, "threshold relevance") {
			b.Errorf(`%s: explain says %s: %s; want why.Outcome OutcomeThreshold and "threshold relevance" in it`, preset, why.Outcome, why.Detail)
		}
	}
	// A question about something else, in the same direction as nothing here.
	away := strings.Replace(onRefunds, "[0.8, 0.6, 0, 0]", "[0.8, 0, 0.6, 0]", 1)
	r := b.answer(away + `, "threshold": "auto"}`)
	if r.Empty != "nothing_relevant" || *r.Answerable > 0.01 || r.Total.Value != 0 {
		b.Errorf(`about something else: %d hits, empty %q, answerable %s; want r.Empty "nothing_relevant" and *r.Answerable at most 0.01 and r.Total.Value 0`, len(r.Hits), r.Empty, show(r.Answerable))
	}
	why := b.explainChunk(away+`, "threshold": "auto"`, "refund")
	if why.Outcome != search.OutcomeThreshold || !strings.Contains(why.Detail, "threshold answerable") {
		b.Errorf(`explain says %s: %s; want why.Outcome OutcomeThreshold and "threshold answerable" in it`, why.Outcome, why.Detail)
	}
	if r := b.answer(away + `}`); len(r.Hits) == 0 || *r.Answerable > 0.01 {
		b.Errorf("without a threshold: %d hits, answerable %s", len(r.Hits), show(r.Answerable))
	}
}

func (b *bench) explainChunk(body, id string) *search.ExplainResponse {
	b.Helper()
	var req search.ExplainRequest
	if err := json.Unmarshal([]byte(body+`, "chunk_id": "`+id+`"}`), &req); err != nil {
		b.Fatal(err)
	}
	why, err := b.searcher.Explain(b.Context(), scope, req)
	if err != nil {
		b.Fatal(err)
	}
	return why
}

// testRelevanceByWords: without a vector leg the share of the question's words counts, where
// question and chunks are in one language.
func testRelevanceByWords(b *bench) {
	b.onPlane()
	r := b.answer(`{"query": "money back within three days", "knowledge_bases": ["m"], "preset": "text", "explain": true}`)
	account := r.Explain.Relevance[0]
	if account.By != "words" || r.Answerable == nil || *r.Answerable < 0.9 || *r.Hits[0].Relevance < 0.3 {
		b.Errorf(`answerable %s by %s, hit %+v; want account.By "words" and a r.Answerable and *r.Answerable at least 0.9 and *r.Hits[0].Relevance at least 0.3`, show(r.Answerable), account.By, r.Hits[0])
	}
	again := bank.RelevanceByWords(account.EvidenceOf(&r.Hits[0]), *account.Best, account.Chunks)
	if math.Abs(again-*r.Hits[0].Relevance) > 1e-12 {
		b.Errorf("relevance %s, by its explanation %v; want math.Abs(again - *r.Hits[0].Relevance) at most 1e-12", show(r.Hits[0].Relevance), again)
	}
	r = b.answer(`{"query": "the recipe of money for pancakes with lemon", "knowledge_bases": ["m"], "preset": "text"}`)
	if r.Answerable == nil || *r.Answerable > 0.7 {
		b.Errorf("a question with one word of them: answerable %s; want a r.Answerable and *r.Answerable at most 0.7", show(r.Answerable))
	}
	// A knowledge base in English alone.
	b.fill("en", chunk("refund", "d", "Money back within three days of the return", 0.8, 0.2))
	r = b.answer(`{"query": "退款多久到账 return", "knowledge_bases": ["en"], "preset": "text", "explain": true, "threshold": {"relevance": 0.1}}`)
	if r.Answerable != nil || len(r.Hits) != 1 || r.Hits[0].Relevance != nil || r.Explain.Relevance[0].By != "nothing" {
		b.Errorf(`across languages: answerable %s, %+v; want no r.Answerable and 1 r.Hits and no r.Hits[0].Relevance and r.Explain.Relevance[0].By "nothing"`, show(r.Answerable), r.Hits)
	}
	r = b.answer(`{"query": "退款多久到账 return", "knowledge_bases": ["en"], "preset": "text", "language": "en-GB"}`)
	if r.Answerable == nil || r.Language != "en" {
		b.Errorf(`said to be in English: answerable %s, %q; want a r.Answerable and r.Language "en"`, show(r.Answerable), r.Language)
	}
}

// TestRelevanceIsUnknown: a defined answer, and null where nothing can be said.
//
// Promise: "never a guess" (docs/guide/en/relevance.md).
func TestRelevanceIsUnknown(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.onPlane()
	ask := func(what string, bank search.Bank, threshold, degraded string) {
		t.Helper()
		b.searcher.Bank = bank
		r := b.answer(onRefunds + `, "preset": "vector", "threshold": ` + threshold + `}`)
		if r.Answerable != nil || len(r.Hits) != 4 || r.Hits[0].Relevance != nil {
			t.Errorf("%s: answerable %s, %d hits; want no r.Answerable and 4 r.Hits and no r.Hits[0].Relevance", what, show(r.Answerable), len(r.Hits))
		}
		var said []string
		for _, d := range r.Degraded {
			said = append(said, d.Leg+" "+string(d.Code))
		}
		if got := strings.Join(said, ", "); got != degraded {
			t.Errorf("%s: degraded %q, want %q", what, got, degraded)
		}
	}
	measuring := plane{fault.New(fault.Unavailable, "being measured")}
	other := plane{fault.New(fault.Unsupported, "another model")}
	ask("no bank", nil, `{}`, "")
	ask("being measured", measuring, `{}`, "relevance unavailable")
	ask("another model", other, `{}`, "")
	ask("another model, and a threshold", other, `"auto"`, "relevance unsupported")
}

// replaced is a catalog with another engine.
type replaced struct {
	search.Catalog
	engine engine.Engine
}

func (r replaced) Get(ctx context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	kb, _, err := r.Catalog.Get(ctx, scope, id)
	return kb, r.engine, err
}

// mute is an engine that cannot tell the languages of a knowledge base.
type mute struct{ engine.Engine }

func (mute) Centroids(context.Context, *engine.CentroidsRequest) (*engine.Centroids, error) {
	return nil, fault.New(fault.Timeout, "too busy")
}

func TestRelevanceMayFail(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.onPlane()
	options := b.searcher.Options
	options.Catalog = replaced{b.catalog, mute{b.engine}}
	var req search.Request
	if err := json.Unmarshal([]byte(onRefunds+`}`), &req); err != nil {
		t.Fatal(err)
	}
	r, err := search.New(options).Search(t.Context(), scope, req)
	if err != nil || len(r.Hits) == 0 || r.Answerable != nil || len(r.Degraded) != 1 || r.Degraded[0].Leg != "relevance" {
		t.Errorf(`%+v, %v; want no error and some r.Hits and no r.Answerable and 1 r.Degraded and r.Degraded[0].Leg "relevance"`, r, err)
	}
}
