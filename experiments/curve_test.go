package experiments

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// play has units search in any order, and gives the reports that looks at some times gave, and the curves.
func play(t *testing.T, e *Experiment, looks int) (reports []*Report, curves []Curve) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(len(e.Variants))))
	units, h := map[string]*Tally{}, NewHistory(e)
	report := func(at time.Time) *Report {
		tallies := make([]*Tally, 0, len(units))
		for _, unit := range slices.Sorted(maps.Keys(units)) {
			tallies = append(tallies, units[unit])
		}
		r := analyze(t, e, at, tallies)
		reports = append(reports, r)
		return r
	}
	at := e.Start
	for i := range looks {
		h.Look(at) // before the first search it adds nothing
		if i > 0 {
			report(at)
		}
		for range 120 {
			n := random.IntN(600)
			unit := units[fmt.Sprint(n)]
			if unit == nil {
				unit = &Tally{}
				if e.Mode == Split {
					unit.Variant = e.Variants[n%len(e.Variants)].Name
				}
				units[fmt.Sprint(n)] = unit
			}
			before := *unit
			seen := Impression{Hits: 10, Latency: random.Float64(), Teams: []Team{TeamA, TeamB, TeamB}}
			if random.IntN(10) < 2+4*(n%len(e.Variants)) {
				seen.Clicks = []int{1 + (n+1)%2}
			}
			unit.Add(&seen)
			h.Change(&before, unit)
		}
		at = at.Add(time.Hour)
	}
	last := report(at.AddDate(0, 0, 1)) // somebody looks a day after the end
	return reports, h.Curves(last, at)
}

// Each point says what the report of its time said, the last exactly that of the report with the curves.
func TestCurvesAreTheReportsOfTheirTimes(t *testing.T) {
	t.Parallel()
	reciprocal := halves()
	reciprocal.Metric = ClickMRR
	for _, e := range []*Experiment{halves(), reciprocal, shares("three", 0.4, 0.3, 0.3)} {
		reports, curves := play(t, e, 12)
		if want := len(e.Variants) * (len(e.Variants) - 1) / 2; len(curves) != want {
			t.Fatalf("%d curves, want %d", len(curves), want)
		}
		for c, curve := range curves {
			if len(curve.Points) != len(reports) || curve.Even != 0 || curve.Metric != e.metric() {
				t.Fatalf("%+v", curve)
			}
			var left *time.Time
			for i, p := range curve.Points {
				d := differencesOf(reports[i], e.metric())[c]
				want := Point{At: p.At, Units: p.Units, Value: d.Value, Low: d.Low, High: d.High}
				if i == len(reports)-1 && !reflect.DeepEqual(p, want) || !isNear(p, want) {
					t.Errorf("%s, point %d: %+v, want %+v", e.ID, i, p, want)
				}
				enough := reports[i].unitsOf(d.Variant) >= minUnits && reports[i].unitsOf(d.Against) >= minUnits
				if left == nil && enough && d.P <= level {
					left = &p.At
				}
			}
			if !reflect.DeepEqual(left, curve.LeftAt) {
				t.Errorf("%s: it left zero at %v, want %v", e.ID, curve.LeftAt, left)
			}
		}
	}
	reports, curves := play(t, interleaved(), 12)
	if len(curves) != 1 || len(curves[0].Points) != len(reports) || curves[0].Even != 0.5 || curves[0].LeftAt == nil {
		t.Fatalf("%+v", curves)
	}
	for i, p := range curves[0].Points {
		if r := reports[i].Preference; p.Value != r.Share || *p.Low != r.Low || *p.High != r.High {
			t.Errorf("point %d: %+v, want %+v", i, p, r)
		}
	}
	if curves := NewHistory(halves()).Curves(analyze(t, halves(), start), start); curves != nil {
		t.Errorf("of nobody: %+v; want no curves", curves)
	}
}

func differencesOf(r *Report, metric string) (all []Difference) {
	for _, d := range r.Differences {
		if d.Metric == metric {
			all = append(all, d)
		}
	}
	return all
}

// isNear reports whether two points are the same but for the rounding of sums.
func isNear(a, b Point) bool {
	of := func(p Point) [3]float64 {
		if p.Low == nil || p.High == nil {
			return [3]float64{p.Value, -1e9, 1e9}
		}
		return [3]float64{p.Value, *p.Low, *p.High}
	}
	for i, x := range of(a) {
		if y := of(b)[i]; x-y > 1e-9 || y-x > 1e-9 {
			return false
		}
	}
	return true
}
