package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// knownVectors embeds the texts that it knows.
type knownVectors map[string][]float32

func (v knownVectors) Query(_ context.Context, text string) ([]float32, error) {
	if vector, ok := v[text]; ok {
		return vector, nil
	}
	return nil, fault.New(fault.Unavailable, "no vector of %s", text)
}

func (knownVectors) Model() string { return "known" }

func testPhrasings(b *bench) {
	b.searcher.Embedder = knownVectors{
		"money back": {0.6, 0.1, 0.3, 0}, "request a refund": {1, 0, 0, 0}, "如何申请退款": {0.95, 0.05, 0, 0},
		"burrow of a wombat": {0, 0.1, 0.9, 0},
	}
	b.fill("k", shelf()...)
	b.fill("other", chunk("elsewhere", "billing", "A refund is asked for at the counter.", 0.8, 0.1))
	for preset := range passagePresets() {
		b.phrasedLike(preset)
		body := fmt.Sprintf(`{"query": "money back", "queries": ["request a refund", "如何申请退款"], "knowledge_bases": ["k"],
			"preset": %q, "threshold": {"relative": 0}, "explain": true, "highlight": {}}`, preset)
		r := b.answer(body)
		if got := ids(r); !strings.HasPrefix(got, "refund-") || !strings.Contains(got, "refund-zh") {
			b.Errorf(`%s: %s; want one that begins with "refund-" and "refund-zh" in it`, preset, got)
		}
		if n, legs := len(r.Hits[0].Legs), len(r.Explain.Plan.Legs); n != legs || n%3 != 0 {
			b.Errorf("%s: %d legs of a hit, %d planned", preset, n, legs)
		}
		for i := range r.Hits {
			if h := &r.Hits[i]; preset != "vector" && h.ID == "refund-zh" && !strings.Contains(strings.Join(h.Highlights, ""), "<em>退款</em>") {
				b.Errorf("%s: words of a phrasing are not marked: %v", preset, h.Highlights)
			}
		}
	}
	r := b.answer(`{"query": "money back", "queries": ["request a refund"], "knowledge_bases": ["k", "other"]}`)
	if got := ids(r); !strings.Contains(got, "elsewhere") || r.MergedBy != "pooled" {
		b.Errorf(`two knowledge bases, %s: %s; want "elsewhere" in it and r.MergedBy "pooled"`, r.MergedBy, got)
	}
	r = b.answer(`{"query": "money back", "queries": ["something else"], "knowledge_bases": ["k"], "preset": "rrf"}`)
	if len(r.Hits) == 0 || len(r.Degraded) != 1 || r.Degraded[0].Leg != "vector:1" {
		b.Errorf("a phrasing without a vector: %s, %+v", ids(r), r.Degraded)
	}
	r = b.answer(`{"query": "money back", "queries": ["\"burrow of a wombat\" -digs"], "knowledge_bases": ["k"], "preset": "text"}`)
	if got := ids(r); !strings.HasPrefix(got, "wombat") {
		b.Errorf(`operators of a phrasing are plain text: %s; want one that begins with "wombat"`, got)
	}
	why := b.explainChunk(`{"query": "money back", "queries": ["request a refund"], "knowledge_bases": ["k"], "preset": "rrf"`, "refund-en")
	if len(why.Legs) != 4 || why.Legs[2].Leg != "text:1" || why.Legs[2].Rank == nil || why.Outcome != search.OutcomeHit {
		b.Errorf(`%+v; want 4 why.Legs and why.Legs[2].Leg "text:1" and a why.Legs[2].Rank and why.Outcome OutcomeHit`, why)
	}
	nine := strings.TrimSuffix(strings.Repeat(`"a", `, 9), ", ")
	for list, field := range map[string]string{nine: "queries", `"a", " "`: "queries[1]", `"\ufffd", ""`: "queries[1]"} {
		_, err := b.ask(`{"query": "refund", "knowledge_bases": ["k"], "queries": [` + list + `]}`)
		if e := new(fault.Error); !errors.As(err, &e) || e.Field != field {
			b.Errorf("%s: %v, want an error of %s", list, err, field)
		}
	}
}

// writer writes what it is told to.
type writer struct {
	texts []string
	err   error
}

func (w writer) Rewrite(_ context.Context, _ string, wanted search.Rewrite) ([]string, error) {
	return w.texts, w.err
}

func testRewritten(b *bench) {
	b.searcher.Embedder = knownVectors{"money back": {0.6, 0.1, 0.3, 0}, "request a refund": {1, 0, 0, 0}}
	b.fill("k", shelf()...)
	const body = `{"query": "money back", "knowledge_bases": ["k"], "explain": true, "rewrite": {"phrasings": 1}`
	refused := func(more, field string) {
		b.Helper()
		_, err := b.ask(body + more)
		if e := new(fault.Error); !errors.As(err, &e) || e.Field != field {
			b.Errorf("%s: %v, want an error of %s", more, err, field)
		}
	}
	refused(`}`, "rewrite") // no model
	b.searcher.Rewriter = writer{texts: []string{"request a refund"}}
	r := b.answer(body + `, "queries": ["wombat"]}`)
	if got := strings.Join(r.Explain.Queries, "|"); got != "wombat|request a refund" || len(r.Hits[0].Legs) != 6 {
		b.Errorf(`%s, %d legs; want got "wombat|request a refund" and 6 r.Hits[0].Legs`, got, len(r.Hits[0].Legs))
	}
	if !strings.HasPrefix(ids(b.answer(body+`}`)), "refund-") {
		b.Errorf(`%s; want one that begins with "refund-"`, ids(r))
	}
	refused(`, "queries": ["a", "b", "c", "d", "e", "f", "g", "h"]}`, "rewrite")
	refused(`, "rewrite": {"phrasings": 9}}`, "rewrite.phrasings")
	refused(`, "rewrite": {"translate_to": "klingon"}}`, "rewrite.translate_to")
	b.searcher.Rewriter = writer{err: fault.New(fault.Timeout, "the llm service does not answer")}
	r = b.answer(body + `}`)
	if len(r.Hits) == 0 || len(r.Degraded) != 1 || r.Degraded[0].Leg != "rewrite" || len(r.Hits[0].Legs) != 2 {
		b.Errorf("without the model: %s, %+v", ids(r), r.Degraded)
	}
	b.searcher.Rewriter = writer{texts: []string{"request a refund"}}
	plain := search.Request{Query: "money back", KnowledgeBases: []string{"k"}}
	written := plain
	written.Rewrite = &search.Rewrite{Phrasings: 1}
	outcomes, err := b.searcher.Together(b.Context(), scope, []search.Request{plain, written, plain})
	if err != nil {
		b.Fatal(err)
	}
	for i, legs := range []int{2, 4, 2} {
		if outcomes[i].Err != nil || len(outcomes[i].Response.Hits[0].Legs) != legs {
			b.Errorf("column %d: %+v", i, outcomes[i])
		}
	}
}

// phrasedLike wants the question asked twice to be what it is asked once: the weights are shares.
func (b *bench) phrasedLike(preset string) {
	b.Helper()
	if preset == "text" || preset == "vector" { // one leg is no fusion
		return
	}
	body := fmt.Sprintf(`"query": "request a refund", "knowledge_bases": ["k"], "preset": %q, "threshold": {"relative": 0}}`, preset)
	once, twice := b.answer("{"+body), b.answer(`{"queries": ["request a refund"], `+body)
	if !strings.HasPrefix(ids(twice), ids(once)) { // without required words there may be more
		b.Errorf("%s asked once finds %s, twice %s", preset, ids(once), ids(twice))
	}
	for i := range min(len(once.Hits), len(twice.Hits)) {
		if d := once.Hits[i].Score - twice.Hits[i].Score; math.Abs(d) > 1e-6 {
			b.Errorf("%s: %s has %v once, %v twice; want math.Abs(d) at most 1e-6", preset, once.Hits[i].ID, once.Hits[i].Score, twice.Hits[i].Score)
		}
	}
}
