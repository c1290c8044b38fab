package clicks_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/evaluation/clicks"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var scope = access.Scope{Tenant: "acme"}

// entries are a log in memory.
type entries []events.Entry

func (e entries) Read(context.Context, string, time.Time, time.Time) iter.Seq2[events.Entry, error] {
	return func(yield func(events.Entry, error) bool) {
		for i := range e {
			if !yield(e[i], nil) {
				return
			}
		}
	}
}

// shop is a library on the embedded engine with a knowledge base of some chunks.
func shop(t *testing.T, chunks ...string) *library.Library {
	t.Helper()
	e, err := embedded.Open(t.Context(), embedded.Options{
		Path: t.TempDir(), Tokenizer: enginetest.Words{}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	known := catalog.New([]engine.Engine{e}, catalog.Options{})
	if _, err := known.Create(t.Context(), scope, catalog.Spec{ID: "shop", Dimensions: new(int)}); err != nil {
		t.Fatal(err)
	}
	kb, _, err := known.Get(t.Context(), scope, "shop")
	if err != nil {
		t.Fatal(err)
	}
	write := engine.WriteRequest{KB: kb, Refresh: true}
	for _, id := range chunks {
		write.Chunks = append(write.Chunks, engine.Chunk{ID: id, DocumentID: "d", Content: "text of " + id, Available: true})
	}
	if _, err := e.Write(t.Context(), write); err != nil {
		t.Fatal(err)
	}
	return library.New(e, known)
}

// times repeats a search, with clicks on some ranks.
func times(n int, text, hits string, ranks ...int) (all entries) {
	for range n {
		e := events.Entry{Query: &events.Query{
			UserQuery: text, HitIDs: strings.Fields(hits), Attributes: events.QueryAttributes{KnowledgeBases: []string{"shop"}},
		}}
		for i, rank := range ranks {
			click := events.Event{ActionName: events.ActionClick}
			if i%2 == 0 { // some programs tell the id, and some the rank
				click.Attributes.Object = &events.Object{ObjectID: e.Query.HitIDs[rank-1]}
			} else {
				click.Attributes.Position = &events.Position{Ordinal: rank}
			}
			e.Events = append(e.Events, click)
		}
		all = append(all, e)
	}
	return all
}

func TestJudgmentsOfClicks(t *testing.T) {
	kept := shop(t, "a", "b", "c", "rare")
	log := times(12, "Green tea", "shop/a shop/b shop/c", 1, 2)
	log = append(log, times(4, "green  TEA", "shop/a shop/b shop/c", 3)...)
	log = append(log, times(20, "green tea", "shop/a shop/b shop/c")...)
	log = append(log, times(9, "few", "shop/rare", 1)...)
	log = append(log, times(10, "what was", "shop/gone shop/a", 1, 2)...)
	elsewhere := times(30, "green tea", "other/x", 1)
	for i := range elsewhere {
		elsewhere[i].Query.Attributes.KnowledgeBases = []string{"shop", "other"}
	}
	log = append(log, elsewhere...)
	log = append(log, events.Entry{Events: log[0].Events}) // an orphan
	judges := clicks.New(log, kept)
	req := clicks.Request{QuerySet: "users", JudgmentList: "clicks", KnowledgeBases: []string{"shop"}}
	for range 2 { // once more is no change
		report, err := judges.Judge(t.Context(), scope, req)
		if err != nil {
			t.Fatal(err)
		}
		report.From, report.To, report.Model = time.Time{}, time.Time{}, ""
		want := &clicks.Report{
			QuerySet: "users", JudgmentList: "clicks", Searches: 35, Queries: 2, Judgments: 3, TooFew: 2, Gone: 1,
		}
		if diff := cmp.Diff(want, report); diff != "" {
			t.Error(diff)
		}
	}
	// a: 16 read, 12 clicked, never last; b: 16 read, 12 clicked, 12 last: 0.75; c was read 4 times.
	queries, _, err := kept.Queries(t.Context(), scope, "users", "", 10)
	if err != nil || len(queries) != 2 {
		t.Fatalf("%+v, %v; want no error and 2 queries", queries, err)
	}
	judgments, _, err := kept.Judgments(t.Context(), scope, "clicks", library.JudgmentPage{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, q := range queries {
		texts[q.ID] = q.Text
	}
	got := map[string]int{}
	for _, j := range judgments {
		got[texts[j.QueryID]+": "+j.ChunkID+" by "+j.Judge] = j.Grade
	}
	want := map[string]int{"Green tea: a by clicks": 0, "Green tea: b by clicks": 3, "what was: a by clicks": 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	list, err := kept.JudgmentList(t.Context(), scope, "clicks")
	if err != nil || list.Source != library.Clicks || !strings.Contains(list.Note, "35 searches with clicks") {
		t.Errorf(`%+v, %v; want no error and list.Source Clicks and "35 searches with clicks" in it`, list, err)
	}
}

func TestClicksThatSayNothing(t *testing.T) {
	kept := shop(t, "a")
	req := clicks.Request{QuerySet: "users", JudgmentList: "clicks", KnowledgeBases: []string{"shop"}}
	report, err := clicks.New(times(9, "tea", "shop/a", 1), kept).Judge(t.Context(), scope, req)
	if err != nil || report.Judgments != 0 || report.TooFew != 1 {
		t.Errorf("%+v, %v; want no error and report.Judgments 0 and report.TooFew 1", report, err)
	}
	if _, err := kept.QuerySet(t.Context(), scope, "users"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a set was made of nothing: %v", err)
	}
	if _, err := clicks.New(times(20, "", "shop/a", 1), kept).Judge(t.Context(), scope, req); !fault.Is(err, fault.Unsupported) {
		t.Errorf("without texts: %v", err)
	}
}

func TestBadRequests(t *testing.T) {
	judges := clicks.New(entries{}, shop(t, "a"))
	f := func(field string, kind fault.Kind, change func(*clicks.Request)) {
		t.Helper()
		req := clicks.Request{QuerySet: "users", JudgmentList: "clicks", KnowledgeBases: []string{"shop"}}
		change(&req)
		bound := access.Scope{Tenant: "acme", KnowledgeBases: []string{"shop"}}
		_, err := judges.Judge(t.Context(), bound, req)
		if got := fmt.Sprint(fault.KindOf(err)); got != string(kind) || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%v, want %s of %s", err, kind, field)
		}
	}
	f("query_set", fault.InvalidArgument, func(r *clicks.Request) { r.QuerySet = "" })
	f("judgment_list", fault.InvalidArgument, func(r *clicks.Request) { r.JudgmentList = "A" })
	f("knowledge_bases", fault.InvalidArgument, func(r *clicks.Request) { r.KnowledgeBases = nil })
	f("knowledge base", fault.NotFound, func(r *clicks.Request) { r.KnowledgeBases = []string{"other"} })
	f("from", fault.InvalidArgument, func(r *clicks.Request) { r.From = time.Now().Add(time.Hour) })
	f("min_impressions", fault.InvalidArgument, func(r *clicks.Request) { r.MinImpressions = -1 })
	f("max_queries", fault.InvalidArgument, func(r *clicks.Request) { r.MaxQueries = 10_001 })
	f("thresholds[1]", fault.InvalidArgument, func(r *clicks.Request) { r.Thresholds = []float64{.5, .5} })
	f("thresholds", fault.InvalidArgument, func(r *clicks.Request) { r.Thresholds = make([]float64, 11) })
}
