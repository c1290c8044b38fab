package search_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

// testEverythingIsListed asks for what passes a filter, without a question.
//
// Promise: "This lists every chunk" (docs/guide/en/searching.md).
func testEverythingIsListed(b *bench) {
	b.fill("manuals", shelf()...)
	b.fill("more", shelf()[:2]...)
	f := func(body, want string, total int) *search.Response {
		b.Helper()
		r := b.answer(`{"everything": true, "facets": ["category"], ` + body + `}`)
		if got := ids(r); got != want || r.Total.Value != total || r.Total.Relation != "eq" || len(r.Degraded) > 0 {
			b.Errorf("%s: %s of %+v, degraded %v; want %s of %d", brief.Of(body), got, r.Total, r.Degraded, want, total)
		}
		for i := range r.Hits {
			if h := &r.Hits[i]; h.Relevance != nil || h.Score < 0 || h.Score > 1 || h.Content == "" || len(h.Legs) > 0 {
				b.Errorf(`%s: %+v; want no h.Relevance and h.Score at least 0 and h.Score at most 1 and h.Content other than "" and len(h.Legs) 0`, brief.Of(body), h)
			}
		}
		return r
	}
	all := f(`"knowledge_bases": ["manuals"]`, "bare invoice login refund-en refund-zh wombat", 6)
	if c := all.Facets["category"]; len(c) != 3 || c[0].Value != "billing" || c[0].Count != 3 || all.Preset != "everything" {
		b.Errorf(`facets %+v of preset %s; want 3 c and c[0].Value "billing" and c[0].Count 3 and all.Preset "everything"`, c, all.Preset)
	}
	f(`"knowledge_bases": ["manuals"], "offset": 2, "limit": 2`, "login refund-en", 6)
	f(`"knowledge_bases": ["manuals"], "top_k": 2`, "bare invoice", 6)
	f(`"knowledge_bases": ["manuals"], "filter": {"category": "billing"}, "top_k": 5`, "invoice refund-en refund-zh", 3)
	f(`"knowledge_bases": ["manuals"], "group_by": "document_id"`, "bare invoice login", 3)
	several := f(`"knowledge_bases": ["manuals", "more"], "copies": "keep", "top_k": 20`,
		"bare invoice login "+strings.Repeat("refund-en ", 2)+strings.Repeat("refund-zh ", 2)+"wombat", 8)
	if several.MergedBy == "" {
		b.Errorf(`merged by %q; want several.MergedBy other than ""`, several.MergedBy)
	}
	if none := f(`"knowledge_bases": ["manuals"], "filter": {"category": "nothing"}`, "", 0); none.Empty != "filter" {
		b.Errorf(`empty %q, %q; want none.Empty "filter"`, none.Empty, none.EmptyReason)
	}
	for body, field := range map[string]string{
		`"query": "refund"`:               "query",
		`"queries": ["refund"]`:           "query",
		`"preset": "balanced"`:            "preset",
		`"vector": [1, 0, 0, 0]`:          "vector",
		`"threshold": {"relevance": 0.5}`: "everything",
		`"top_k": 10001`:                  "top_k",
	} {
		_, err := b.ask(`{"everything": true, "knowledge_bases": ["manuals"], ` + body + `}`)
		var wrong *fault.Error
		if !errors.As(err, &wrong) || wrong.Kind != fault.InvalidArgument || wrong.Field != field {
			b.Errorf("%s: %v, want that %s is refused", brief.Of(body), err, field)
		}
	}
}

// away is an engine that cannot search.
type away struct{ *still }

func (a *away) Get(context.Context, access.Scope, string) (engine.KnowledgeBase, engine.Engine, error) {
	return engine.KnowledgeBase{}, a, nil
}

func (*away) Search(context.Context, *engine.Request) (*engine.Result, error) {
	return nil, fault.New(fault.Unavailable, "the disk is gone")
}

func TestAnEngineThatFailsToListIsTold(t *testing.T) {
	s := search.New(search.Options{Catalog: &away{still: newStill(3, 3, true)}, Analyzer: silent{}})
	_, err := s.Search(t.Context(), scope, search.Request{Everything: true, KnowledgeBases: []string{"manuals"}})
	if err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf(`%v; want an error and "the disk is gone" in it`, err)
	}
}
