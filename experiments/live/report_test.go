package live_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// search is a search of the log, by a variant: of so many hits, with clicks at these ranks.
func (b *bench) search(unit, variant string, change func(*events.Query), clicks ...int) {
	q := &events.Query{
		Timestamp: b.now(), QueryID: search.NewQueryID(), ClientID: unit,
		Attributes: events.QueryAttributes{
			TookMS: 20, KnowledgeBases: []string{"manuals"},
			Experiments: []events.Participation{{Experiment: "x", Variant: variant, Unit: unit}},
		},
	}
	for i := range 10 {
		q.HitIDs = append(q.HitIDs, events.HitID("manuals", fmt.Sprintf("c%02d", i)))
	}
	if change != nil {
		change(q)
	}
	entry := &events.Entry{QueryID: q.QueryID, Query: q}
	for _, rank := range clicks {
		entry.Events = append(entry.Events, events.Event{
			ActionName: events.ActionClick, Attributes: events.EventAttributes{Position: &events.Position{Ordinal: rank}},
		})
	}
	b.log.mu.Lock()
	defer b.log.mu.Unlock()
	b.log.entries = append(b.log.entries, entry)
}

func (b *bench) report() *experiments.Report {
	b.Helper()
	r, err := b.store.Report(b.Context(), scope, "x")
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func valueOf(t *testing.T, r *experiments.Report, variant, metric string) float64 {
	t.Helper()
	for i := range r.Variants {
		for _, v := range r.Variants[i].Metrics {
			if r.Variants[i].Name == variant && v.Metric == metric {
				return v.Value
			}
		}
	}
	t.Fatalf("no %s of %q", metric, variant)
	return 0
}

// TestReport: what counts, as what.
func TestReport(t *testing.T) {
	b := newBench(t)
	d := halves("x", byText, byVector)
	d.Start = begin.Add(time.Minute)
	b.create(d)
	b.search("early", "v1", nil)
	if r := b.report(); r.Variants[0].Units != 0 || r.Verdict.Outcome != experiments.Open {
		t.Errorf("before its start: %+v; want r.Variants[0].Units 0 and r.Verdict.Outcome Open", r)
	}
	b.pass(time.Hour)
	of := func(change func(*events.QueryAttributes)) func(*events.Query) {
		return func(q *events.Query) { change(&q.Attributes) }
	}
	empty := func(why string) func(*events.Query) {
		return func(q *events.Query) { q.HitIDs, q.Attributes.Empty = nil, why }
	}
	b.search("a", "v1", nil, 2, 1)
	b.search("a", "v1", nil, 4)
	b.search("b", "v1", empty("nothing_relevant"))
	b.search("b", "v1", empty("match"))
	b.search("c", "v1", of(func(a *events.QueryAttributes) { a.Error = fault.Timeout }))
	b.search("c", "v1", of(func(a *events.QueryAttributes) { a.Offset = 10 }), 15)
	b.search("d", "v1", nil, 99) // nothing stood there
	// These do not count.
	b.search("c", "v1", of(func(a *events.QueryAttributes) { a.Error = fault.InvalidArgument }))
	b.search("c", "v1", func(q *events.Query) { q.HitIDs, q.Attributes.Offset = nil, 50 })
	b.search("c", "another", nil)
	b.search("c", "v1", of(func(a *events.QueryAttributes) { a.Experiments[0].Experiment = "y" }))
	b.log.entries = append(b.log.entries, &events.Entry{QueryID: "orphan", Query: &events.Query{Timestamp: begin.AddDate(0, 1, 0)}})
	b.pass(time.Second)
	b.search("e", "v2", nil, 1)
	last := b.log.last()
	r := b.report()
	if r.Variants[0].Units != 4 || r.Variants[0].Searches != 7 || r.Variants[1].Units != 0 {
		t.Errorf("%+v: a search counts in the moment that is over; want r.Variants[0].Units 4 and r.Variants[0].Searches 7 and r.Variants[1].Units 0", r.Variants)
	}
	b.pass(time.Second)
	r = b.report()
	if r.Variants[1].Units != 1 {
		t.Errorf("%+v; want r.Variants[1].Units 1", r.Variants)
	}
	for metric, want := range map[string]float64{
		experiments.ClickThrough: 3.0 / 7, experiments.ClickMRR: (1 + 1.0/4 + 1.0/15) / 7, experiments.RefusedRate: 1.0 / 7,
		experiments.ZeroResultRate: 1.0 / 7, experiments.ErrorRate: 1.0 / 7, experiments.AbandonedRate: 1.0 / 4,
		experiments.Latency: 20,
	} {
		if got := valueOf(t, r, "v1", metric); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %g, want %g", metric, got, want)
		}
	}
	// A hit that is named counts at its rank, whatever position is said.
	b.log.entries[len(b.log.entries)-1].Events[0].Attributes.Object = &events.Object{ObjectID: last.HitIDs[4]}
	if got := valueOf(t, b.report(), "v2", experiments.ClickMRR); got != 1.0/5 {
		t.Errorf("MRR %g; want got 1.0 / 5", got)
	}
	if _, err := live.New(live.Options{Keeper: b.keeper}).Report(t.Context(), scope, "x"); err == nil {
		t.Error("there is a report without a log")
	} else {
		wants(t, err, fault.Unsupported, "", "events.enabled")
	}
}

// TestReportHasItsHistory: each point is what the report said then, the last what it says now; at most 61 are told.
func TestReportHasItsHistory(t *testing.T) {
	b := newBench(t)
	b.create(halves("x", byText, byVector))
	if r := b.report(); r.Curves != nil {
		t.Errorf("before its first search: %+v; want no r.Curves", r.Curves)
	}
	then := map[time.Time]experiments.Difference{}
	random := rand.New(rand.NewPCG(3, 3))
	for hour := range 12 * 24 {
		for range 3 {
			n := random.IntN(900)
			var clicks []int
			if random.IntN(10) < 2+3*(n%2) {
				clicks = []int{1}
			}
			b.search(fmt.Sprint("u", n), fmt.Sprint("v", 1+n%2), nil, clicks...)
		}
		b.pass(time.Hour)
		if hour%6 == 5 {
			then[b.now()] = b.report().Differences[0]
		}
	}
	check := func(want int) *experiments.Report {
		t.Helper()
		r := b.report()
		if len(r.Curves) != 1 || len(r.Curves[0].Points) != want || r.Curves[0].Metric != experiments.ClickThrough {
			t.Fatalf("%+v, want %d points", r.Curves, want)
		}
		last, d := r.Curves[0].Points[want-1], r.Differences[0]
		if last.Value != d.Value || *last.Low != *d.Low || *last.High != *d.High || last.Units != r.Variants[0].Units+r.Variants[1].Units {
			t.Errorf("the last point %+v is not the report's %+v", last, d)
		}
		return r
	}
	r := check(48) // of 12 days, by six hours
	for _, p := range r.Curves[0].Points {
		if d, ok := then[p.At]; !ok || math.Abs(p.Value-d.Value) > 1e-12 || math.Abs(*p.Low-*d.Low) > 1e-9 {
			t.Errorf("%+v; the report said %+v; want ok and math.Abs(p.Value - d.Value) at most 1e-12 and math.Abs(*p.Low - *d.Low) at most 1e-9", p, d)
		}
	}
	if left := r.Curves[0].LeftAt; left == nil || then[*left].P > 0.05 {
		t.Errorf("it left zero at %v; want a left and then[*left].P at most 0.05", left)
	}
	b.pass(90 * 24 * time.Hour) // it is over: the curve ends there
	if last := check(56).Curves[0].Points[55]; !last.At.Equal(begin.AddDate(0, 0, 14)) {
		t.Errorf("it ends at %v", last.At)
	}
}

// TestGuardRailStops: a variant that fails is stopped by whoever looks, once, and the reason is kept. What is settled is
// not read again.
//
// Promise: "Every minute the gateways" (docs/guide/en/experiments.md).
func TestGuardRailStops(t *testing.T) {
	b := newBench(t)
	d := halves("x", byText, byVector)
	limit := 0.02
	d.GuardRails = []experiments.GuardRail{{Metric: experiments.ErrorRate, AtMost: &limit}}
	b.create(d)
	look := b.store.Guarding()
	fails := func(q *events.Query) { q.Attributes.Error = fault.Unavailable }
	for round := range 6 {
		for i := range 40 {
			b.search(fmt.Sprint("a", round, i), "v1", nil)
			broken := fails
			if i%4 > 0 || round < 2 {
				broken = nil
			}
			b.search(fmt.Sprint("b", round, i), "v2", broken)
		}
		b.pass(40 * time.Minute)
		look(t.Context())
		e, err := b.store.Get(t.Context(), scope, "x")
		if err != nil {
			t.Fatal(err)
		}
		report := b.report()
		if stopped := report.Verdict.Outcome == experiments.Stopped; stopped != (e.State == live.Stopped) {
			t.Fatalf("round %d: it is %s, and its report says %+v", round, e.State, report.Verdict)
		}
		if e.State == live.Stopped {
			if e.Stopped.Reason != report.Verdict.Reason || round < 2 {
				t.Errorf("round %d: %+v", round, e.Stopped)
			}
			if response := b.ask(refund("anna")); len(response.Experiments) > 0 {
				t.Error("it goes on")
			}
			return
		}
	}
	t.Error("nothing stops it")
}

func TestNeeded(t *testing.T) {
	b := newBench(t)
	ask := func(d live.Definition, g experiments.Goal) (*live.Estimate, error) {
		return b.store.Needed(context.Background(), scope, live.Plan{Experiment: d, Goal: g})
	}
	d := halves("x", byText, byVector)
	_, err := ask(d, experiments.Goal{Effect: 0.05})
	wants(t, err, fault.InvalidArgument, "goal.units_per_day", "the log of the last week")
	_, err = ask(d, experiments.Goal{UnitsPerDay: 1, Base: 0.1})
	wants(t, err, fault.InvalidArgument, "goal.effect", "0.000001 to 1")
	bad := d
	bad.Traffic = 2
	_, err = ask(bad, experiments.Goal{Effect: 0.05})
	wants(t, err, fault.InvalidArgument, "experiment.traffic", "at most 1")

	for i := range 1000 {
		var clicks []int
		if i%10 < 3 {
			clicks = []int{1}
		}
		b.search(fmt.Sprint("user-", i%500), "", nil, clicks...)
		b.pass(4 * 24 * time.Hour / 1000)
	}
	b.search("elsewhere", "", func(q *events.Query) { q.Attributes.KnowledgeBases = []string{"shop"} })
	n, err := ask(d, experiments.Goal{Effect: 0.05})
	if err != nil || n.UnitsSeen != 500 || n.SearchesSeen != 1000 || math.Abs(n.Goal.UnitsPerDay-125) > 0.5 || n.Goal.Base != 0.3 {
		t.Errorf("%+v, %v; want no error and n.UnitsSeen 500 and n.SearchesSeen 1000 and math.Abs(n.Goal.UnitsPerDay - 125) at most 0.5 and n.Goal.Base 0.3", n, err)
	}
	if want := float64(n.Units) / n.Goal.UnitsPerDay; math.Abs(n.Days-want) > 0.1 || n.Fits != (want <= 14) {
		t.Errorf("%+v", n)
	}
	both, err := ask(interleaved("x", byText, byVector), experiments.Goal{Effect: 0.05})
	if err != nil || math.Abs(both.Goal.UnitsPerDay-37.5) > 0.5 {
		t.Errorf("%+v, %v; want no error and math.Abs(both.Goal.UnitsPerDay - 37.5) at most 0.5", both, err)
	}
	without := live.New(live.Options{Keeper: b.keeper})
	plan := live.Plan{Experiment: d, Goal: experiments.Goal{Effect: 0.05, Base: 0.3, UnitsPerDay: 100}}
	if _, err := without.Needed(t.Context(), scope, plan); err != nil {
		t.Error(err)
	}
}

// TestSimulatedUsers: users who click by position (Craswell et al., WSDM 2008) find which of two presets is better, by
// searches through all that a search of a gateway takes.
func TestSimulatedUsers(t *testing.T) {
	b := newBench(t)
	b.create(interleaved("x", byText, byVector))
	// Relevant is what has the word often: text ranks that first.
	relevant := func(h *search.Hit) bool {
		return len(h.Content) > len("An answer about something. A refund. A refund. A refund. A refund. A refund.")
	}
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 300 {
		response := b.ask(refund(fmt.Sprint("user-", i)))
		for rank := range response.Hits {
			attraction := 0.05
			if relevant(&response.Hits[rank]) {
				attraction = 0.7
			}
			if random.Float64() < attraction/float64(rank+1) {
				b.log.click(response.QueryID, rank)
			}
		}
	}
	b.pass(time.Second)
	r := b.report()
	if r.Verdict.Outcome != experiments.Won || r.Verdict.Winner != "v1" {
		t.Errorf(`%+v, %+v; want r.Verdict.Outcome Won and r.Verdict.Winner "v1"`, r.Verdict, r.Preference)
	}
	if i := slices.IndexFunc(r.Variants, func(g experiments.Group) bool { return g.Units == 300 }); i < 0 {
		t.Errorf("variants %+v; want one of 300 units", r.Variants)
	}
}
