package experiments

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/golden"
)

// tallies are units of a variant that search twice: some click the first hit of one search, some wait longer.
func tallies(variant string, units, clicking int, latency float64) (all []*Tally) {
	for i := range units {
		t := &Tally{Variant: variant}
		first := Impression{Hits: 10, Latency: latency + float64(i%7)}
		if i < clicking {
			first.Clicks = []int{1}
		}
		t.Add(&first)
		t.Add(&Impression{Hits: 10, Latency: latency + float64(i%5)})
		all = append(all, t)
	}
	return all
}

func analyze(t *testing.T, e *Experiment, at time.Time, all ...[]*Tally) *Report {
	t.Helper()
	report, err := Analyze(e, slices.Values(slices.Concat(all...)), at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(report); err != nil { // as of an infinite number
		t.Fatal(err)
	}
	return report
}

func TestTally(t *testing.T) {
	t.Parallel()
	got, third := Tally{}, 3.0
	third = 1 / third // as it is computed
	for _, i := range []Impression{
		{Hits: 10, Latency: 10, Clicks: []int{4, 2, 4}, Teams: []Team{TeamA, TeamA, TeamB, TeamB}},
		{Hits: 10, Latency: 10, Clicks: []int{3}, Teams: []Team{TeamA, TeamA, TeamB}},
		{Hits: 3, Latency: 10, Clicks: []int{0, 4, -1}}, // not shown
		{Latency: 10},
		{Latency: 10, Refused: true},
		{Latency: 10, Failed: true},
	} {
		got.Add(&i)
	}
	want := Tally{
		Searches: 6, Answered: 3, Clicked: 2, Zero: 1, Refused: 1, Failed: 1,
		ReciprocalRanks: 0.5 + third, Latencies: 60, ForB: 1, // one each is a tie
	}
	if got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	f := func(r *Report, outcome Outcome, winner, reason string) {
		t.Helper()
		if v := r.Verdict; v.Outcome != outcome || v.Winner != winner || !strings.Contains(v.Reason, reason) {
			t.Errorf("%+v, want %s %s: %s", v, outcome, winner, reason)
		}
	}
	e := halves()
	f(analyze(t, e, start), Open, "", "a variant has 0 users or sessions and needs 100")
	f(analyze(t, e, start, tallies("control", 90, 0, 1), tallies("treatment", 90, 80, 1)), Open, "", "has 90")
	f(analyze(t, e, start, tallies("control", 500, 200, 1), tallies("treatment", 500, 205, 1)),
		Open, "", "no difference seen yet among 1000")
	f(analyze(t, e, e.End, tallies("control", 500, 200, 1), tallies("treatment", 500, 205, 1)),
		Open, "", "no difference was seen among 1000 users or sessions until the end")
	f(analyze(t, e, start, tallies("control", 500, 200, 1), tallies("treatment", 500, 300, 1)),
		Won, "treatment", "better than every other variant in click_through")
	f(analyze(t, e, start, tallies("control", 500, 300, 1), tallies("treatment", 500, 200, 1)), Won, "control", "")
	f(analyze(t, e, start, tallies("control", 5000, 300, 1), tallies("treatment", 4000, 200, 1)),
		Invalid, "", "something loses some of them")

	quick := halves()
	quick.Metric = Latency // less is better
	f(analyze(t, quick, start, tallies("control", 500, 300, 5), tallies("treatment", 500, 200, 4)), Won, "treatment", "")

	three := shares("three", 0.4, 0.3, 0.3)
	f(analyze(t, three, start, tallies("a", 800, 300, 1), tallies("b", 600, 400, 1), tallies("c", 600, 405, 1)),
		Open, "", "") // both are better than the first, neither than the other
	f(analyze(t, three, start, tallies("a", 800, 300, 1), tallies("b", 600, 300, 1), tallies("c", 600, 500, 1)), Won, "c", "")
}

func TestGuardRails(t *testing.T) {
	t.Parallel()
	f := func(e *Experiment, g GuardRail, reason string, all ...[]*Tally) {
		t.Helper()
		e.GuardRails = []GuardRail{g}
		v := analyze(t, e, start, all...).Verdict
		if isStopped := v.Outcome == Stopped; isStopped != (reason != "") || !strings.Contains(v.Reason, reason) {
			t.Errorf("%+v: %+v, want %q", g, v, reason)
		}
	}
	control, slow := tallies("control", 500, 200, 100), tallies("treatment", 500, 200, 130)
	f(halves(), GuardRail{Metric: Latency, Increase: pointer(20)},
		"guard rail latency_ms: treatment is 30 above control; at most 20 are accepted", control, slow)
	f(halves(), GuardRail{Metric: Latency, Increase: pointer(30)}, "", control, slow)
	f(halves(), GuardRail{Metric: Latency, AtMost: pointer(120)}, "that of treatment is 132.5; at most 120", control, slow)
	f(halves(), GuardRail{Metric: Latency, AtMost: pointer(133)}, "", control, slow)
	f(halves(), GuardRail{Metric: ErrorRate, AtMost: pointer(0)}, "", control, slow)

	failing := func(units int) (all []*Tally) {
		for range units {
			all = append(all, &Tally{Variant: "treatment", Searches: 1, Failed: 1})
		}
		return all
	}
	f(halves(), GuardRail{Metric: ErrorRate, AtMost: pointer(0.1)}, "that of treatment is 1;", tallies("control", 120, 9, 9), failing(120))
	f(halves(), GuardRail{Metric: ErrorRate, AtMost: pointer(0.1)}, "", tallies("control", 80, 9, 9), failing(80)) // too few

	f(interleaved(), GuardRail{Metric: Latency, AtMost: pointer(90)}, "guard rail latency_ms is at 102.5", tallies("", 500, 200, 100))
}

func TestPreference(t *testing.T) {
	t.Parallel()
	units := func(forA, forB, ties int) (all []*Tally) {
		for i := range forA + forB + ties {
			t := &Tally{Searches: 3}
			switch {
			case i < forA:
				t.ForA = 1
			case i < forA+forB:
				t.ForA, t.ForB = 1, 2
			default:
				t.ForA, t.ForB = 1, 1
			}
			all = append(all, t)
		}
		return all
	}
	e := interleaved()
	r := analyze(t, e, start, units(60, 140, 300))
	if p := r.Preference; p.Wins != 60 || p.Losses != 140 || p.Ties != 300 || p.Share != 0.3 || p.High >= 0.5 || p.P > 0.001 {
		t.Errorf("%+v; want p.Wins 60 and p.Losses 140 and p.Ties 300 and p.Share 0.3 and p.High below 0.5 and p.P at most 0.001", p)
	}
	if v := r.Verdict; v.Outcome != Won || v.Winner != "treatment" || !strings.HasPrefix(v.Reason, "a share of 0.700") {
		t.Errorf(`%+v; want v.Outcome Won and v.Winner "treatment" and one that begins with "a share of 0.700"`, v)
	}
	if v := analyze(t, e, start, units(90, 110, 300)).Verdict; v.Outcome != Open {
		t.Errorf("%+v; want v.Outcome Open", v)
	}
	if v := analyze(t, e, start).Verdict; v.Outcome != Open {
		t.Errorf("%+v; want v.Outcome Open", v)
	}
}

func TestUnknownVariant(t *testing.T) {
	t.Parallel()
	if _, err := Analyze(halves(), slices.Values(tallies("other", 1, 0, 1)), start); !fault.Is(err, fault.Corrupt) {
		t.Errorf("%v; want an error of kind Corrupt", err)
	}
}

// TestReport holds the JSON of reports to what it is.
func TestReport(t *testing.T) {
	t.Parallel()
	e := halves()
	e.GuardRails = []GuardRail{{Metric: Latency, Increase: pointer(20)}, {Metric: ErrorRate, AtMost: pointer(0.01)}}
	r := analyze(t, e, start.AddDate(0, 0, 1), tallies("control", 500, 200, 100), tallies("treatment", 500, 290, 110))
	golden.JSON(t, "report.split.json", rounded(t, r))
	golden.JSON(t, "report.interleave.json", rounded(t, analyze(t, interleaved(), start, tallies("", 500, 200, 100))))
}

// rounded is a report as JSON has it, with six decimals.
func rounded(t *testing.T, r *Report) any {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return round(value)
}

func round(value any) any {
	switch v := value.(type) {
	case float64:
		return math.Round(v*1e6) / 1e6
	case []any:
		for i := range v {
			v[i] = round(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = round(v[name])
		}
	}
	return value
}

func BenchmarkAnalyze(b *testing.B) {
	e := halves()
	all := slices.Concat(tallies("control", 50_000, 20_000, 100), tallies("treatment", 50_000, 20_500, 100))
	for b.Loop() {
		if _, err := Analyze(e, slices.Values(all), start); err != nil {
			b.Fatal(err)
		}
	}
}
