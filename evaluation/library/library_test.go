package library_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// words is the simplest tokenizer that an engine takes.
type words struct{}

func (words) Terms(text string) []string { return strings.Fields(strings.ToLower(text)) }
func (words) Fold(text string) string    { return strings.ToLower(text) }
func (words) Fingerprint() string        { return "words" }

// shelves is a library on the embedded engine, with the knowledge bases shop and other.
type shelves struct {
	*library.Library

	t       *testing.T
	engine  *embedded.Engine
	catalog *catalog.Catalog
	scope   access.Scope
}

func open(t *testing.T) *shelves {
	t.Helper()
	e, err := embedded.Open(t.Context(), embedded.Options{
		Path: t.TempDir(), Tokenizer: words{}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &shelves{
		t: t, engine: e, catalog: catalog.New([]engine.Engine{e}, catalog.Options{}),
		scope: access.Scope{Tenant: "acme", Key: "anna"},
	}
	s.Library = library.New(e, s.catalog)
	for _, id := range []string{"shop", "other"} {
		if _, err := s.catalog.Create(t.Context(), s.scope, catalog.Spec{ID: id, Dimensions: new(int)}); err != nil {
			t.Fatal(err)
		}
	}
	s.write("hours#0", "We open at nine.")
	s.write("hours#1", "退款会在一周之内退回。")
	return s
}

func (s *shelves) write(id, content string) {
	s.t.Helper()
	kb, _, err := s.catalog.Get(s.t.Context(), s.scope, "shop")
	if err != nil {
		s.t.Fatal(err)
	}
	document, _, _ := strings.Cut(id, "#")
	chunk := engine.Chunk{ID: id, DocumentID: document, Content: content, Available: true}
	if _, err := s.engine.Write(s.t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{chunk}, Refresh: true}); err != nil {
		s.t.Fatal(err)
	}
}

// ofShop makes the query set and the judgment list that tests use.
func (s *shelves) ofShop() {
	s.t.Helper()
	ctx := s.t.Context()
	if _, err := s.SaveQuerySet(ctx, s.scope, "faq", library.QuerySetSpec{KnowledgeBases: []string{"shop"}}, nil); err != nil {
		s.t.Fatal(err)
	}
	queries := []library.Query{{ID: "open", Text: "when does it open"}, {ID: "退款", Text: "退款要多久"}}
	if outcome, err := s.PutQueries(ctx, s.scope, "faq", queries, false); err != nil || outcome.Stored != 2 {
		s.t.Fatal(outcome, err)
	}
	if _, err := s.SaveJudgmentList(ctx, s.scope, "people", library.JudgmentListSpec{QuerySet: "faq"}, nil); err != nil {
		s.t.Fatal(err)
	}
}

// refused checks the kind and the field of an error.
func (s *shelves) refused(err error, kind fault.Kind, field string) {
	s.t.Helper()
	var got string
	if f, is := err.(*fault.Error); is { //nolint:errorlint // the outermost is what callers read
		got = f.Field
	}
	if !fault.Is(err, kind) || got != field {
		s.t.Errorf("%v, want %s at %q", err, kind, field)
	}
}

func TestQuerySets(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	s.ofShop()
	set, err := s.SaveQuerySet(ctx, s.scope, "faq",
		library.QuerySetSpec{Name: "Questions", Note: "what people ask", KnowledgeBases: []string{"shop", "other"}}, nil)
	if err != nil || set.Name != "Questions" || set.Queries != 2 {
		t.Errorf(`changed to %+v, %v; want no error and set.Name "Questions" and set.Queries 2`, set, err)
	}
	sets, err := s.QuerySets(ctx, s.scope)
	if err != nil || len(sets) != 1 || sets[0].ID != "faq" {
		t.Errorf(`listed %+v, %v; want no error and 1 sets and sets[0].ID "faq"`, sets, err)
	}
	page, next, err := s.Queries(ctx, s.scope, "faq", "", 1)
	if err != nil || len(page) != 1 || page[0].ID != "open" || next != "open" {
		t.Errorf(`%+v, %q, %v; want no error and 1 page and page[0].ID "open" and next "open"`, page, next, err)
	}
	page, next, err = s.Queries(ctx, s.scope, "faq", next, 2)
	if err != nil || len(page) != 1 || page[0].ID != "退款" || next != "" {
		t.Errorf(`%+v, %q, %v; want no error and 1 page and page[0].ID "退款" and next ""`, page, next, err)
	}
	if n, err := s.DeleteQueries(ctx, s.scope, "faq", []string{"open", "nope"}); err != nil || n != 1 {
		t.Errorf("deleted %d, %v; want no error and n 1", n, err)
	}
	if err := s.DeleteQuerySet(ctx, s.scope, "faq"); err != nil {
		t.Error(err)
	}
	_, err = s.QuerySet(ctx, s.scope, "faq")
	s.refused(err, fault.NotFound, "")
	_, err = s.JudgmentList(ctx, s.scope, "people")
	s.refused(err, fault.NotFound, "")
}

func TestBadQuerySets(t *testing.T) {
	s := open(t)
	f := func(id string, spec library.QuerySetSpec, kind fault.Kind, field string) {
		t.Helper()
		_, err := s.SaveQuerySet(t.Context(), s.scope, id, spec, nil)
		s.refused(err, kind, field)
	}
	shop := []string{"shop"}
	f("Faq", library.QuerySetSpec{KnowledgeBases: shop}, fault.InvalidArgument, "id")
	f("", library.QuerySetSpec{KnowledgeBases: shop}, fault.InvalidArgument, "id")
	f("faq", library.QuerySetSpec{}, fault.InvalidArgument, "knowledge_bases")
	f("faq", library.QuerySetSpec{KnowledgeBases: []string{"shop", "shop"}}, fault.InvalidArgument, "knowledge_bases")
	f("faq", library.QuerySetSpec{KnowledgeBases: []string{"nope"}}, fault.NotFound, "knowledge_bases")
	f("faq", library.QuerySetSpec{Name: strings.Repeat("x", 300), KnowledgeBases: shop}, fault.InvalidArgument, "name")
	f("faq", library.QuerySetSpec{Note: "a\u202eb", KnowledgeBases: shop}, fault.InvalidArgument, "note")
}

func TestBadQueries(t *testing.T) {
	s := open(t)
	s.ofShop()
	rows := []library.Query{
		{ID: "good", Text: "a question", Queries: []string{"another wording"}},
		{ID: "", Text: "a question"},
		{ID: "empty"},
		{ID: "good", Text: "again"},
		{ID: "long", Text: strings.Repeat("x", 40<<10)},
		{ID: "many", Text: "a question", Queries: []string{"1", "2", "3", "4", "5"}},
		{ID: "a\nb", Text: "a question"},
	}
	outcome, err := s.PutQueries(t.Context(), s.scope, "faq", rows, false)
	if err != nil || outcome.Stored != 1 {
		t.Fatalf("%+v, %v; want no error and outcome.Stored 1", outcome, err)
	}
	if diff := cmp.Diff([]string{"1 id", "2 text", "3 id", "4 text", "5 queries", "6 id"}, failed(outcome)); diff != "" {
		t.Error(diff)
	}
	for _, n := range []int{0, library.MaxPage + 1} {
		_, err = s.PutQueries(t.Context(), s.scope, "faq", make([]library.Query, n), false)
		s.refused(err, fault.InvalidArgument, "queries")
	}
	_, err = s.PutQueries(t.Context(), s.scope, "nope", rows, false)
	s.refused(err, fault.NotFound, "")
}

// Another text is another question: judgments are not carried over unless somebody says so.
func TestTextsOfJudgedQueries(t *testing.T) {
	s := open(t)
	s.ofShop()
	ctx := t.Context()
	put := func(replace bool, queries ...library.Query) *library.Outcome {
		t.Helper()
		outcome, err := s.PutQueries(ctx, s.scope, "faq", queries, replace)
		if err != nil {
			t.Fatal(err)
		}
		return outcome
	}
	same := library.Query{ID: "open", Text: "when does it open", Note: "asked daily"}
	other := library.Query{ID: "open", Text: "what does it cost"}
	free := library.Query{ID: "退款", Text: "能退款吗"}
	judged := []library.Judgment{{QueryID: "open", DocumentID: "hours", Grade: 3}}
	if outcome, err := s.PutJudgments(ctx, s.scope, "people", judged, false); err != nil || outcome.Stored != 1 {
		t.Fatal(outcome, err)
	}

	outcome := put(false, same, free)
	want := []library.Replaced{{Row: 1, ID: "退款", Before: "退款要多久"}}
	if diff := cmp.Diff(want, outcome.Replaced); diff != "" || outcome.Stored != 2 {
		t.Errorf(`%+v, %s; want diff "" and outcome.Stored 2`, outcome, diff)
	}
	outcome = put(false, other)
	if outcome.Stored != 0 || len(outcome.Failed) != 1 || outcome.Failed[0].Code != fault.Conflict ||
		!strings.Contains(outcome.Failed[0].Detail, `has judgments in list "people"`) {
		t.Errorf("%+v; want outcome.Stored 0 and 1 outcome.Failed and outcome.Failed[0].Code Conflict and `has judgments in list \"people\"` in it", outcome)
	}
	many := []library.Query{other}
	for i := range 20 {
		many = append(many, library.Query{ID: fmt.Sprint("q", i), Text: "first"})
	}
	if outcome = put(false, many...); outcome.Stored != 20 || len(outcome.Failed) != 1 {
		t.Errorf("%+v; want outcome.Stored 20 and 1 outcome.Failed", outcome)
	}
	for i := range many[1:] {
		many[i+1].Text = "second"
	}
	if outcome = put(false, many...); outcome.Stored != 20 || len(outcome.Failed) != 1 || len(outcome.Replaced) != 20 {
		t.Errorf("%+v; want outcome.Stored 20 and 1 outcome.Failed and 20 outcome.Replaced", outcome)
	}
	if outcome = put(true, other); outcome.Stored != 1 || len(outcome.Replaced) != 1 {
		t.Errorf("%+v; want outcome.Stored 1 and 1 outcome.Replaced", outcome)
	}
	page, _, err := s.Queries(ctx, s.scope, "faq", "", 1)
	if err != nil || page[0].Text != other.Text {
		t.Errorf("%+v, %v", page, err)
	}
}

func failed(o *library.Outcome) (rows []string) {
	for _, f := range o.Failed {
		rows = append(rows, strings.TrimSpace(fmt.Sprint(f.Row, " ", f.Field)))
	}
	return rows
}

func TestJudgments(t *testing.T) {
	s := open(t)
	s.ofShop()
	ctx := t.Context()
	rows := []library.Judgment{
		{QueryID: "open", ChunkID: "hours#0", Grade: 3},
		{QueryID: "退款", ChunkID: "hours#1", DocumentID: "hours", Grade: 2, Judge: "bo", Note: "says how long"},
		{QueryID: "open", DocumentID: "gone.md", Grade: 1},
		{QueryID: "open", ChunkID: "gone#7", Hash: "of an export", Grade: 1},
	}
	if outcome, err := s.PutJudgments(ctx, s.scope, "people", rows, false); err != nil || outcome.Stored != 4 {
		t.Fatalf("%+v, %v; want no error and outcome.Stored 4", outcome, err)
	}
	judgments, next, err := s.Judgments(ctx, s.scope, "people", library.JudgmentPage{Query: "退款", Limit: 10})
	if err != nil || len(judgments) != 1 || next != "" {
		t.Fatalf(`%+v, %q, %v; want no error and 1 judgments and next ""`, judgments, next, err)
	}
	j := judgments[0]
	if j.KnowledgeBase != "shop" || j.Judge != "bo" || j.Hash != library.HashOf("", "退款会在一周之内退回。") ||
		time.Since(j.Time) > time.Minute {
		t.Errorf("%+v", j)
	}
	again := []library.Judgment{{QueryID: "open", ChunkID: "hours#0", Grade: 0}}
	if outcome, err := s.PutJudgments(ctx, s.scope, "people", again, false); err != nil || outcome.Stored != 1 {
		t.Fatalf("%+v, %v; want no error and outcome.Stored 1", outcome, err)
	}
	list, err := s.JudgmentList(ctx, s.scope, "people")
	if err != nil || list.Judgments != 4 || list.MaxGrade != 3 || list.Source != library.People {
		t.Errorf("%+v, %v; want no error and list.Judgments 4 and list.MaxGrade 3 and list.Source People", list, err)
	}
	if n, err := s.DeleteJudgments(ctx, s.scope, "people", append(again, rows[2])); err != nil || n != 2 {
		t.Errorf("deleted %d, %v; want no error and n 2", n, err)
	}
}

func TestBadJudgments(t *testing.T) {
	s := open(t)
	s.ofShop()
	rows := []library.Judgment{
		{QueryID: "open", ChunkID: "hours#0", Grade: 1},
		{QueryID: "open", ChunkID: "hours#0", Grade: 2},
		{QueryID: "nope", ChunkID: "hours#0"},
		{QueryID: "open", ChunkID: "nope#0"},
		{QueryID: "open", ChunkID: "hours#1", Grade: 4},
		{QueryID: "open", ChunkID: "hours#1", Grade: -1},
		{QueryID: "open", ChunkID: "hours#1", KnowledgeBase: "other"},
		{QueryID: "open", ChunkID: "hours#1", Time: time.Now().Add(24 * time.Hour)},
		{QueryID: "open", ChunkID: "hours#1", DocumentID: "another.md"},
		{QueryID: "open"},
	}
	outcome, err := s.PutJudgments(t.Context(), s.scope, "people", rows, false)
	if err != nil || outcome.Stored != 1 {
		t.Fatalf("%+v, %v; want no error and outcome.Stored 1", outcome, err)
	}
	want := []string{
		"1", "2 query_id", "3 chunk_id", "4 grade", "5 grade", "6 knowledge_base", "7 time", "8 chunk_id", "9 document_id",
	}
	if diff := cmp.Diff(want, failed(outcome)); diff != "" {
		t.Error(diff)
	}
	f := func(spec library.JudgmentListSpec, kind fault.Kind, field string) {
		t.Helper()
		_, err := s.SaveJudgmentList(t.Context(), s.scope, "people", spec, nil)
		s.refused(err, kind, field)
	}
	f(library.JudgmentListSpec{QuerySet: "nope"}, fault.NotFound, "query_set")
	f(library.JudgmentListSpec{QuerySet: "faq", MaxGrade: 11}, fault.InvalidArgument, "max_grade")
	f(library.JudgmentListSpec{QuerySet: "faq", MaxGrade: 4}, fault.InvalidArgument, "max_grade")
	f(library.JudgmentListSpec{QuerySet: "faq", Source: "dice"}, fault.InvalidArgument, "source")
	f(library.JudgmentListSpec{QuerySet: "faq", Source: library.Model}, fault.InvalidArgument, "source")
}

// Whoever does not see a knowledge base of a set sees neither the set nor its judgments.
func TestWhoSeesASet(t *testing.T) {
	s := open(t)
	s.ofShop()
	ctx := t.Context()
	for _, scope := range []access.Scope{
		{Tenant: "rival"}, {Tenant: "acme", KnowledgeBases: []string{"other"}}, {Tenant: "acme", KnowledgeBases: []string{}},
	} {
		sets, err := s.QuerySets(ctx, scope)
		if err != nil || len(sets) > 0 {
			t.Errorf("%+v sees %+v, %v; want no error and len(sets) 0", scope, sets, err)
		}
		lists, err := s.JudgmentLists(ctx, scope, "")
		if err != nil || len(lists) > 0 {
			t.Errorf("%+v sees %+v, %v; want no error and len(lists) 0", scope, lists, err)
		}
		_, err = s.QuerySet(ctx, scope, "faq")
		s.refused(err, fault.NotFound, "")
		_, err = s.JudgmentList(ctx, scope, "people")
		s.refused(err, fault.NotFound, "")
		s.refused(s.DeleteQuerySet(ctx, scope, "faq"), fault.NotFound, "")
		_, err = s.PutJudgments(ctx, scope, "people", []library.Judgment{{QueryID: "open", ChunkID: "hours#0"}}, false)
		s.refused(err, fault.NotFound, "")
	}
	bound := access.Scope{Tenant: "acme", KnowledgeBases: []string{"shop"}}
	lists, err := s.JudgmentLists(ctx, bound, "faq")
	if err != nil || len(lists) != 1 {
		t.Errorf("%+v, %v; want no error and 1 lists", lists, err)
	}
	other := access.Scope{Tenant: "acme", KnowledgeBases: []string{"other"}}
	_, err = s.SaveQuerySet(ctx, other, "faq", library.QuerySetSpec{KnowledgeBases: []string{"other"}}, nil)
	s.refused(err, fault.Conflict, "")
	var queries []string
	err = s.EachQuery(ctx, bound, "faq", func(q *library.Query) error { queries = append(queries, q.ID); return nil })
	if err != nil || !slices.Equal(queries, []string{"open", "退款"}) {
		t.Errorf(`%v, %v; want no error and {"open", "退款"}`, queries, err)
	}
}
