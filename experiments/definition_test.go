package experiments

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
)

var start = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// halves is an experiment of two variants of the same share, with all traffic, for two weeks.
func halves() *Experiment {
	return &Experiment{
		ID: "halves", Traffic: 1, Unit: ByUser, Mode: Split, Start: start, End: start.AddDate(0, 0, 14),
		Variants: []Variant{
			{Name: "control", Share: 0.5, Request: json.RawMessage(`{"preset":"text"}`)},
			{Name: "treatment", Share: 0.5, Request: json.RawMessage(`{"preset":"balanced"}`)},
		},
	}
}

// shares is an experiment of variants with these shares.
func shares(id string, of ...float64) *Experiment {
	e := halves()
	e.ID, e.Variants = id, nil
	for i, share := range of {
		e.Variants = append(e.Variants, Variant{Name: string(rune('a' + i)), Share: share})
	}
	return e
}

func interleaved() *Experiment {
	e := halves()
	e.ID, e.Mode = "interleaved", Interleave
	return e
}

func pointer(x float64) *float64 { return &x }

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, e := range []*Experiment{halves(), interleaved(), shares("thirds", 0.333333, 0.333333, 0.333333)} {
		if err := e.Check(); err != nil {
			t.Errorf("%s: %v", e.ID, err)
		}
	}
	f := func(change func(e *Experiment), field, says string) {
		t.Helper()
		e := halves()
		change(e)
		err := e.Check()
		var at *fault.Error
		if !errors.As(err, &at) || at.Kind != fault.InvalidArgument || at.Field != field || !strings.Contains(at.Detail, says) {
			t.Errorf("%v, want a fault of %s that says %q", err, field, says)
		}
	}
	f(func(e *Experiment) { e.ID = "" }, "id", "1 to 64")
	f(func(e *Experiment) { e.ID = "a\x1fb" }, "id", "1 to 64")
	f(func(e *Experiment) { e.Name = strings.Repeat("n", 257) }, "name", "256 bytes")
	f(func(e *Experiment) { e.Name = "\xff" }, "name", "UTF-8")
	f(func(e *Experiment) { e.Traffic = 0 }, "traffic", "more than 0")
	f(func(e *Experiment) { e.Traffic = nan() }, "traffic", "NaN")
	f(func(e *Experiment) { e.Unit = "tenant" }, "unit", "user or session")
	f(func(e *Experiment) { e.Mode = "" }, "mode", "split or interleave")
	f(func(e *Experiment) { e.Start = time.Time{} }, "start", "RFC 3339")
	f(func(e *Experiment) { e.End = e.Start }, "end", "later than start")
	f(func(e *Experiment) { e.End = e.Start.Add(-time.Hour) }, "end", "2026-11-30T23:00:00Z")
	f(func(e *Experiment) { e.Metric = "clicks" }, "metric", "click_through, click_mrr")
	f(func(e *Experiment) { e.Mode, e.Metric = Interleave, ClickMRR }, "metric", "left out")
	f(func(e *Experiment) { e.Variants = e.Variants[:1] }, "variants", "2 to 8")
	f(func(e *Experiment) { e.Variants = make([]Variant, 9) }, "variants", "a list of 9")
	f(func(e *Experiment) { *e = *shares("x", .4, .3, .3); e.Mode = Interleave }, "variants", "a list of 2 where")
	f(func(e *Experiment) { *e = *shares("x", .4, .6); e.Mode = Interleave }, "variants[0].share", "0.5")
	f(func(e *Experiment) { e.Variants[1].Share = 0.4 }, "variants", "add up to 0.9; they")
	f(func(e *Experiment) { e.Variants[1].Share = 0 }, "variants[1].share", "more than 0")
	f(func(e *Experiment) { e.Variants[1].Name = "control" }, "variants[1].name", "another name")
	f(func(e *Experiment) { e.Variants[0].Name = "No spaces" }, "variants[0].name", "1 to 64")
	f(func(e *Experiment) { e.Variants[0].Request = json.RawMessage(`[1]`) }, "variants[0].request", "a JSON object")
	f(func(e *Experiment) { e.Variants[0].Request = json.RawMessage(`null`) }, "variants[0].request", "a JSON object")
	f(func(e *Experiment) { e.Variants[0].Request = make([]byte, 70_000) }, "variants[0].request", "70000 bytes")
	rail := func(g GuardRail, field, says string) {
		t.Helper()
		f(func(e *Experiment) { e.GuardRails = []GuardRail{g} }, "guard_rails[0]."+field, says)
	}
	rail(GuardRail{Metric: "p95", AtMost: pointer(1)}, "metric", "latency_ms")
	rail(GuardRail{Metric: Latency}, "at_most", "needs at_most or increase")
	rail(GuardRail{Metric: Latency, AtMost: pointer(1), Increase: pointer(1)}, "at_most", "and not both")
	rail(GuardRail{Metric: Latency, AtMost: pointer(-1)}, "at_most", "finite")
	rail(GuardRail{Metric: Latency, Increase: pointer(nan())}, "increase", "finite")
	f(func(e *Experiment) { e.GuardRails = make([]GuardRail, 17) }, "guard_rails", "at most 16")
	f(func(e *Experiment) {
		e.Mode, e.GuardRails = Interleave, []GuardRail{{Metric: Latency, Increase: pointer(1)}}
	}, "guard_rails[0].increase", "left out")
}

func TestDefinitionIsJSON(t *testing.T) {
	t.Parallel()
	e := halves()
	e.GuardRails = []GuardRail{{Metric: ErrorRate, AtMost: pointer(0)}}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":"halves","variants":[{"name":"control","share":0.5,"request":{"preset":"text"}},` +
		`{"name":"treatment","share":0.5,"request":{"preset":"balanced"}}],"traffic":1,"unit":"user",` +
		`"start":"2026-12-01T00:00:00Z","end":"2026-12-15T00:00:00Z","mode":"split",` +
		`"guard_rails":[{"metric":"error_rate","at_most":0}]}`
	if string(text) != want {
		t.Errorf("%s\nwant %s", brief.Of(text), want)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	e := halves()
	if e.Runs(start.Add(-1)) || !e.Runs(start) || !e.Runs(e.End.Add(-1)) || e.Runs(e.End) {
		t.Error("an experiment runs from its start on, until before its end")
	}
}
