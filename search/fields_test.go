package search_test

import (
	"context"
	"errors"
	"strings"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// parts are chunks that have a word in different parts of their text.
func parts() []engine.Chunk {
	one := func(id, title, content string) engine.Chunk {
		c := chunk(id, "d", content, 0.5, 0.1)
		c.Title = title
		return c
	}
	keyword := one("keyword", "Paying", "The money comes back to the card after some days of waiting.")
	keyword.ImportantKeywords, keyword.Questions = []string{"refund"}, []string{"When do I have my money again?"}
	return []engine.Chunk{
		one("title", "Refund policy", "How the shop pays its customers back after a long wait, in all of its many words."),
		one("content", "The shop", "A refund is a refund is a refund."), keyword,
		one("coffee", "Coffee", "Water and beans for the machine."),
	}
}

// weights leave words alone to count.
func weights(preset string) string {
	if preset == "text" {
		return ""
	}
	return `, "weights": {"text": 1, "vector": 0}`
}

func testFields(b *bench) {
	dimensions := 4
	kb, err := b.catalog.Create(b.Context(), scope, catalog.Spec{
		ID: "k", Dimensions: &dimensions, Fields: map[string]float64{"title": 2, "important_keywords": 1},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = b.engine.DeleteKnowledgeBase(context.Background(), kb.Ref) })
	if _, err := b.engine.Write(b.Context(), engine.WriteRequest{KB: kb, Chunks: parts(), Refresh: true}); err != nil {
		b.Fatal(err)
	}
	b.fill("plain", parts()...)
	ask := func(kb, preset, more string) string {
		b.Helper()
		return ids(b.answer(`{"query": "refund", "vector": [0.5, 0.1, 0.4, 0], "copies": "keep", "threshold": {"relative": 0},
			"knowledge_bases": ["` + kb + `"], "preset": "` + preset + `"` + weights(preset) + more + `}`))
	}
	for preset := range passagePresets() {
		if preset == "vector" {
			continue
		}
		for fields, first := range map[string]string{
			`, "fields": {"important_keywords": 100}`:             "keyword",
			`, "fields": {"title": 100}`:                          "title",
			`, "fields": {"title": 1, "important_keywords": 1}`:   "content",
			`, "fields": {}`:                                      "content",
			`, "fields": {"important_keywords": 2, "title": 100}`: "title",
		} {
			if got := ask("k", preset, fields); !strings.HasPrefix(got, first) {
				b.Errorf("%s%s: %s, want %s first", preset, fields, got, first)
			}
		}
		if with, without := ask("k", preset, `, "fields": {}`), ask("plain", preset, ""); with != without {
			b.Errorf("%s: %s without boosts, %s in a knowledge base without parts", preset, with, without)
		}
	}
	r := b.answer(`{"query": "refund", "knowledge_bases": ["k"], "preset": "text", "explain": true}`)
	if got := r.Explain.Plan.Fields; len(got) != 1 || got["title"] != 2 {
		b.Errorf(`the knowledge base's own: %v; want 1 got and got["title"] 2`, got)
	}
	two := b.answer(`{"query": "refund", "vector": [0.5, 0.1, 0.4, 0], "knowledge_bases": ["k", "plain"], "copies": "keep"}`)
	if two.MergedBy != "pooled" || len(two.Hits) < 6 {
		b.Errorf("with one without boosts, %s: %s", two.MergedBy, ids(two))
	}
	for i := range r.Hits {
		if h := &r.Hits[i]; h.ID == "keyword" && (len(h.ImportantKeywords) != 1 || len(h.Questions) != 1) {
			b.Errorf(`%+v; want h.ID other than "keyword" or 1 h.ImportantKeywords and 1 h.Questions`, h)
		}
	}
	if got := ask("k", "text", `, "fields": {}, "filter": {"document_id": "other"}`); got != "" {
		b.Errorf(`filtered: %s; want got ""`, got)
	}
	for body, field := range map[string]string{
		`"k"], "fields": {"title": 1.5}`: "fields.title", `"k"], "fields": {"title": 0}`: "fields.title", `"k"], "fields": {"body": 2}`: "fields",
		`"k"], "fields": {"title": 101}`: "fields.title", `"k"], "fields": {"questions": 2}`: "fields.questions",
		`"plain"], "fields": {"title": 2}`: "fields.title", `"k", "plain"], "fields": {"title": 2}`: "fields.title",
	} {
		_, err := b.ask(`{"query": "refund", "knowledge_bases": [` + body + `}`)
		if e := new(fault.Error); !errors.As(err, &e) || e.Field != field || e.Kind != fault.InvalidArgument {
			b.Errorf("%s: %v, want an error of %s", brief.Of(body), err, field)
		}
	}
	for _, bad := range []catalog.Spec{
		{Fields: map[string]float64{"title": 0.5}},
		{Fields: map[string]float64{"tags": 2}},
		{Kind: engine.KindQA, Fields: map[string]float64{"title": 2}},
	} {
		bad.ID = "bad"
		_, err := b.catalog.Create(b.Context(), scope, bad)
		if e := new(fault.Error); !errors.As(err, &e) || !strings.HasPrefix(e.Field, "fields") {
			b.Errorf("%+v: %v, want an error of fields", bad, err)
		}
	}
}
