package live_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/fault"
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
			t.Fatalf("a hit is there twice: %v", ids(response))
		}
		if again := b.ask(refund(fmt.Sprint("user-", i))); !slices.Equal(ids(again), ids(response)) || !again.Cached {
			t.Fatal("the list of a user changes, or is not kept")
		}
	}
	if len(lists) < 10 {
		t.Errorf("%d lists of 40 users", len(lists))
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
		t.Errorf("%d documents", len(seen))
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
			t.Errorf("clicks on one side's list are credited: %v", teams)
		}
	}
	f("vector", "text")
	f("text", "vector")
	bad := refund("anna")
	bad.Limit = new(int)
	_, err := b.searcher.Search(t.Context(), scope, bad)
	wants(t, err, fault.InvalidArgument, "limit", "1 to 10000")
}

// BenchmarkInterleave compares one list of both with the slower variant alone, on the embedded engine, with nothing kept.
func BenchmarkInterleave(b *testing.B) {
	bench := newBench(b)
	bench.create(interleaved("x", byText, byVector))
	no := false
	measure := func(preset string) float64 {
		var took []time.Duration
		for i := range 400 {
			req := refund(fmt.Sprint("user-", i))
			req.Cache = &no
			if preset != "" {
				req.Experiments, req.Preset = &no, preset
			}
			start := time.Now()
			bench.ask(req)
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		return float64(took[len(took)/2]) / float64(time.Millisecond)
	}
	for b.Loop() {
		text, vector, both := measure("text"), measure("vector"), measure("")
		b.ReportMetric(text, "ms-text")
		b.ReportMetric(vector, "ms-vector")
		b.ReportMetric(both, "ms-both")
		b.ReportMetric(both/max(text, vector), "ratio")
	}
}
