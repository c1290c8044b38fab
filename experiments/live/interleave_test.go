package live_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/search"
)

// TestInterleave: one list of both, hits as their variants gave them, and the log knows whose they are.
func TestInterleave(t *testing.T) {
	b := newBench(t)
	no := false
	by := map[string]*search.Response{}
	for _, preset := range []string{"text", "vector"} {
		req := refund("anna")
		req.Preset, req.Experiments = preset, &no
		by[preset] = b.ask(req)
	}
	b.create(interleaved("x", byText, byVector))
	lists := map[string]bool{}
	for i := range 40 {
		response := b.ask(refund(fmt.Sprint("user-", i)))
		lists[fmt.Sprint(ids(response))] = true
		logged := b.log.last()
		part := logged.Attributes.Experiments[0]
		if part.Variant != "" || len(part.Teams) != len(response.Hits) || len(response.Hits) != 10 ||
			!slices.Equal(response.Experiments, []search.InExperiment{{ID: "x"}}) {
			t.Fatalf("%d hits, %+v, %v", len(response.Hits), part, response.Experiments)
		}
		for j, team := range part.Teams {
			of := by[[]string{"text", "text", "vector"}[team]]
			hit := &response.Hits[j]
			at := slices.IndexFunc(of.Hits, func(h search.Hit) bool { return h.ID == hit.ID })
			if at < 0 || of.Hits[at].Score != hit.Score || len(of.Hits[at].Legs) != len(hit.Legs) {
				t.Fatalf("hit %d of team %d is not as its variant gave it: %+v", j, team, hit)
			}
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(ids(response)))); len(unique) != 10 {
			t.Fatalf("a hit is there twice: %v; want 10 unique", ids(response))
		}
		if again := b.ask(refund(fmt.Sprint("user-", i))); !slices.Equal(ids(again), ids(response)) || !again.Cached {
			t.Fatal("the list of a user changes, or is not kept")
		}
	}
	if len(lists) < 10 {
		t.Errorf("%d lists of 40 users; want at least 10 lists", len(lists))
	}
}

// TestPagesAreOneList: pages that are asked for one by one are the answer.
func TestPagesAreOneList(t *testing.T) {
	b := newBench(t)
	b.create(interleaved("x", byText, `{"preset":"vector","threshold":{"vector":0.9}}`))
	depth := 25
	for i := range 10 {
		whole := refund(fmt.Sprint("user-", i))
		whole.TopK = &depth
		want := b.ask(whole)
		if len(want.Hits) != depth {
			t.Fatalf("%d hits", len(want.Hits))
		}
		for _, size := range []int{1, 7, 10} {
			var got []string
			for from := 0; from < depth+size; from += size {
				page := whole
				page.Offset, page.Limit = &from, &size
				got = append(got, ids(b.ask(page))...)
			}
			if !slices.Equal(got, ids(want)) {
				t.Errorf("pages of %d: %v, want %v", size, got, ids(want))
			}
		}
		rest := whole
		from := 20
		rest.Offset = &from
		if got := b.ask(rest); !slices.Equal(ids(got), ids(want)[20:]) {
			t.Errorf("from 20 on: %v, want %v", ids(got), ids(want)[20:])
		}
	}
}

func TestDocumentsAreThereOnce(t *testing.T) {
	b := newBench(t)
	b.create(interleaved("x", byText, byVector))
	req := refund("anna")
	group := search.GroupByDocument
	req.GroupBy = &group
	response := b.ask(req)
	seen := map[string]bool{}
	for i := range response.Hits {
		if seen[response.Hits[i].DocumentID] {
			t.Errorf("document %s is there twice", response.Hits[i].DocumentID)
		}
		seen[response.Hits[i].DocumentID] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d documents; want 10 seen", len(seen))
	}
}

// TestOneSideFails: the other one answers, and says so.
func TestOneSideFails(t *testing.T) {
	b := newBench(t)
	b.create(interleaved("x", byText, byVector))
	f := func(preset, answers string) {
		t.Helper()
		below := &failing{bench: b, Below: b.below, preset: preset, err: fault.New(fault.Unavailable, "away")}
		req := refund("anna")
		offset, limit := 2, 3
		req.Offset, req.Limit = &offset, &limit
		response, err := live.NewSearcher(below, b.store, b.log.note).Search(t.Context(), scope, req)
		if err != nil {
			t.Fatal(err)
		}
		d := response.Degraded
		if response.Preset != answers || len(response.Hits) != 3 || len(d) != 1 || d[0].Leg != "experiment" ||
			d[0].Code != fault.Unavailable || d[0].Reason != "away" {
			t.Errorf("without %s: %d hits of %s, %+v", preset, len(response.Hits), response.Preset, d)
		}
		if teams := b.log.last().Attributes.Experiments[0].Teams; teams != nil {
			t.Errorf("clicks on one side's list are credited: %v; want no teams", teams)
		}
	}
	f("vector", "text")
	f("text", "vector")
	bad := refund("anna")
	bad.Limit = new(int)
	_, err := b.searcher.Search(t.Context(), scope, bad)
	wants(t, err, fault.InvalidArgument, "limit", "1 to 10000")
}

// waiting answers no search before there are two.
type waiting struct {
	live.Below
	both sync.WaitGroup
}

func (w *waiting) Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error) {
	w.both.Done()
	w.both.Wait()
	return w.Below.Search(ctx, scope, req)
}

// TestBothAreAskedAtOnce: the slower one is what a list of both waits for.
func TestBothAreAskedAtOnce(t *testing.T) {
	b := newBench(t)
	b.create(interleaved("x", byText, byVector))
	below := &waiting{Below: b.below}
	below.both.Add(2)
	if _, err := live.NewSearcher(below, b.store, nil).Search(t.Context(), scope, refund("anna")); err != nil {
		t.Error(err)
	}
}

// panicking is a searcher with a bug.
type panicking struct{ live.Below }

func (panicking) Search(context.Context, access.Scope, search.Request) (*search.Response, error) {
	panic("a bug")
}

func TestAPanicIsAnError(t *testing.T) {
	b := newBench(t)
	b.create(interleaved("x", byText, byVector))
	_, err := live.NewSearcher(panicking{b.below}, b.store, nil).Search(t.Context(), scope, refund("anna"))
	if !fault.Is(err, fault.Internal) {
		t.Error(err)
	}
}

// away is a searcher whose engine is on another machine.
type away struct{ live.Below }

func (a away) Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error) {
	time.Sleep(10 * time.Millisecond)
	return a.Below.Search(ctx, scope, req)
}

// BenchmarkInterleave compares one list of both with the slower variant alone, with nothing kept: medians of searches
// that take turns. On an engine in the same process it says how many processors are idle.
func BenchmarkInterleave(b *testing.B) {
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("embedded", func(b *testing.B) {
		local, err := embedded.Open(b.Context(), embedded.Options{Path: b.TempDir(), Tokenizer: analyzer})
		if err != nil {
			b.Fatal(err)
		}
		compareInterleaved(newBenchOn(b, local, local, analyzer), b)
	})
	b.Run("10 ms away", func(b *testing.B) {
		local, err := embedded.Open(b.Context(), embedded.Options{Path: b.TempDir(), Tokenizer: analyzer})
		if err != nil {
			b.Fatal(err)
		}
		bench := newBenchOn(b, local, local, analyzer)
		bench.searcher = live.NewSearcher(away{bench.below}, bench.store, nil)
		compareInterleaved(bench, b)
	})
	b.Run("elasticsearch", func(b *testing.B) {
		url, prefix := devservices.Indices(b)
		distributed, err := elastic.New(elastic.Options{Settings: elastic.Settings{IndexPrefix: prefix}, URLs: []string{url}, Tokenizer: analyzer})
		if err != nil {
			b.Fatal(err)
		}
		compareInterleaved(newBenchOn(b, distributed, distributed, analyzer), b)
	})
}

func compareInterleaved(bench *bench, b *testing.B) {
	bench.fill("manuals", 5000)
	bench.create(interleaved("x", byText, byVector))
	no := false
	took := map[string][]float64{}
	for i := range 300 {
		for _, preset := range []string{"text", "vector", ""} {
			req := refund(fmt.Sprint("user-", i))
			req.Cache = &no
			if preset != "" {
				req.Experiments, req.Preset = &no, preset
			}
			start := time.Now()
			bench.ask(req)
			took[preset] = append(took[preset], float64(time.Since(start))/float64(time.Millisecond))
		}
	}
	median := func(preset string) float64 {
		slices.Sort(took[preset])
		return took[preset][len(took[preset])/2]
	}
	b.ReportMetric(median("text"), "ms-text")
	b.ReportMetric(median("vector"), "ms-vector")
	b.ReportMetric(median(""), "ms-both")
	b.ReportMetric(median("")/max(median("text"), median("vector")), "ratio")
	b.ReportMetric(0, "ns/op")
}
