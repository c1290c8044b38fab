package experiments

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
)

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

func TestIntervals(t *testing.T) {
	t.Parallel()
	near(t, "the quantile of 0.975", quantile(0.975), 1.959964, 1e-6)
	low, high := wilson(0.1, 100, quantile(0.975)) // of 10 in 100
	near(t, "Wilson's lower end", low, 0.0552, 1e-4)
	near(t, "Wilson's upper end", high, 0.1744, 1e-4)

	// One search a unit: the variance of a mean, 10/3 over 4.
	s := sums{}
	for _, x := range []float64{1, 2, 4, 5} {
		s.add(x, 1)
	}
	near(t, "the mean", s.ratio(), 3, 0)
	near(t, "its variance", s.variance(), 10.0/3/4, 1e-12)

	none := sums{}
	if low, high := none.interval(true); low != 0 || high != 1 || !math.IsInf(none.variance(), 1) {
		t.Errorf("nothing is known: %g to %g, variance %g", low, high, none.variance())
	}
	for range 100 {
		none.add(0, 1)
	}
	if low, high := none.interval(true); low != 0 || math.Abs(high-0.037) > 0.001 {
		t.Errorf("none of 100: %g to %g; want low 0 and math.Abs(high - 0.037) at most 0.001", low, high)
	}
}

// TestIntervalsOfClusters: searches of one user are alike, and the intervals of rates and means know it.
func TestIntervalsOfClusters(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	const trials = 2000
	covered, naive := [2]int{}, 0
	for range trials {
		var rate, mean sums
		for range 200 {
			readiness, of, searches := random.Float64(), 0.0, 1+float64(random.IntN(9))
			for range int(searches) {
				if random.Float64() < readiness {
					of++
				}
			}
			rate.add(of, searches)
			mean.add(100*of, searches)
		}
		if low, high := rate.interval(true); low <= 0.5 && 0.5 <= high {
			covered[0]++
		}
		if low, high := mean.interval(false); low <= 50 && 50 <= high {
			covered[1]++
		}
		if low, high := wilson(rate.ratio(), rate.y, quantile(0.975)); low <= 0.5 && 0.5 <= high {
			naive++
		}
	}
	for _, count := range covered {
		near(t, "the coverage", float64(count)/trials, 0.95, 0.012)
	}
	if naive > trials*85/100 {
		t.Errorf("intervals that take searches for independent hold for %d of %d; the test shows nothing", naive, trials)
	}
}

// TestEstimate holds p to the formula, and the interval to p.
func TestEstimate(t *testing.T) {
	t.Parallel()
	e := estimate{value: 0.3, variance: 0.01, prior: 0.04}
	// Λ = sqrt(0.01/0.05) exp(0.04 * 0.09 / (2 * 0.01 * 0.05)) = 0.4472 * exp(3.6)
	near(t, "p", e.p(), 1/(math.Sqrt(0.2)*math.Exp(3.6)), 1e-12)
	for _, level := range []float64{0.05, 0.001} {
		edge := estimate{value: e.half(level), variance: e.variance, prior: e.prior}
		near(t, "p at the end of the interval", edge.p(), level, 1e-9)
	}
	if unknown := (&estimate{value: 1, variance: math.Inf(1)}); unknown.p() != 1 || !math.IsInf(unknown.half(0.05), 1) {
		t.Error("what has no variance shows something")
	}
}

// TestLookingAfterEachUnit: a test that is looked at always refuses what is true in one of twenty runs at most, where one
// that is made for a single look does in more than every third.
func TestLookingAfterEachUnit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	const runs, units = 600 / slower, 3000
	means, signs, ratios, once := 0, 0, 0, 0
	for range runs {
		var a, b sums
		var wins, losses float64
		var mean, sign, ratio, naive bool
		for i := range units {
			a.add(random.ExpFloat64(), 1)
			b.add(random.ExpFloat64(), 1)
			if random.Uint64()&1 == 0 {
				wins++
			} else {
				losses++
			}
			e := a.minus(&b)
			mean = mean || i >= minUnits && e.p() <= level
			naive = naive || i >= minUnits && math.Abs(e.value) > quantile(1-level/2)*math.Sqrt(e.variance)
			sign = sign || signTest(wins, losses) <= level
			ratio = ratio || multinomialP([]float64{wins, losses}, []float64{0.5, 0.5}, sampleRatioPrior) <= level
		}
		for _, c := range []struct {
			refused bool
			count   *int
		}{{mean, &means}, {sign, &signs}, {ratio, &ratios}, {naive, &once}} {
			if c.refused {
				*c.count++
			}
		}
	}
	t.Logf("of %d runs: means %d, signs %d, sample ratios %d, a single look's test %d", runs, means, signs, ratios, once)
	if most := runs * 6 / 100; means > most || signs > most || ratios > most || once < runs/3 {
		t.Errorf("of %d runs: means %d, signs %d, sample ratios %d, a single look's test %d", runs, means, signs, ratios, once)
	}
}

func TestMultinomial(t *testing.T) {
	t.Parallel()
	f := func(want, concentration float64, counts, shares []float64) {
		t.Helper()
		near(t, "p", multinomialP(counts, shares, concentration), want, 1e-9)
	}
	f(1, 1000, []float64{0, 0}, []float64{0.5, 0.5})
	f(1, 1000, []float64{1, 0}, []float64{0.5, 0.5})
	// Two of the same: (a/c)((a+1)/(c+1)) over a quarter, with a = 5, c = 10.
	f(0.25/(0.5*6/11), 10, []float64{2, 0}, []float64{0.5, 0.5})
	f(1, 1000, []float64{1000, 2000, 7000}, []float64{0.1, 0.2, 0.7})
	if p := multinomialP([]float64{50_800, 49_200}, []float64{0.5, 0.5}, sampleRatioPrior); p > sampleRatioLevel {
		t.Errorf("50.8 %% of 100000: p %g; want p at most sampleRatioLevel", p)
	}
}

func TestSigns(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]float64{{0, 10}, {70, 30}, {1000, 900}, {3, 3}, {20_000, 0}} {
		low, high := signInterval(c[0], c[1], level)
		share := c[0] / (c[0] + c[1])
		if !(0 <= low && low <= share && share <= high && high <= 1) {
			t.Errorf("%v: %g to %g", c, low, high)
		}
		if isOut := low > 0.5 || high < 0.5; isOut != (signTest(c[0], c[1]) <= level) {
			t.Errorf("%v: %g to %g, p %g", c, low, high, signTest(c[0], c[1]))
		}
	}
	if low, high := signInterval(0, 0, level); low != 0 || high != 1 {
		t.Errorf("nothing is known: %g to %g", low, high)
	}
}

func TestNeeded(t *testing.T) {
	t.Parallel()
	e := halves()
	n, err := e.Needed(Goal{Base: 0.1, Effect: 0.01, UnitsPerDay: 5000})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "units for one look", float64(n.Once), 28256, 10) // 2 (1.96 + 0.8416)² 2 0.09 / 0.01²
	if n.Units < n.Once || n.Units > 3*n.Once {
		t.Errorf("%d units for any look, %d for one", n.Units, n.Once)
	}
	near(t, "days", n.Days, float64(n.Units)/5000, 0.001)
	if n.Fits != (n.Days <= 14) {
		t.Errorf("%+v", n)
	}
	three := shares("three", 0.4, 0.3, 0.3)
	if more, err := three.Needed(Goal{Base: 0.1, Effect: 0.01, UnitsPerDay: 5000}); err != nil || more.Units <= n.Units {
		t.Errorf("%+v, %v: three variants take no more than two", more, err)
	}
	if both, err := interleaved().Needed(Goal{Effect: 0.05, UnitsPerDay: 5000}); err != nil || both.Once != 785 {
		t.Errorf("%+v, %v, want 785 = 2.8016² 0.25 / 0.05²", both, err)
	}
	f := func(e *Experiment, g Goal, field, says string) {
		t.Helper()
		_, err := e.Needed(g)
		var at *fault.Error
		if !errors.As(err, &at) || at.Field != field || !strings.Contains(at.Detail, says) {
			t.Errorf("%v, want a fault of %s that says %q", err, field, says)
		}
	}
	latency := halves()
	latency.Metric = Latency
	f(e, Goal{}, "units_per_day", "more than 0")
	f(e, Goal{UnitsPerDay: 1, Power: 1}, "power", "0.99")
	f(e, Goal{UnitsPerDay: 1, Base: 1}, "base", "less than 1")
	f(e, Goal{UnitsPerDay: 1, Base: 0.5}, "effect", "0.000001 to 1")
	f(e, Goal{UnitsPerDay: 1, Base: 0.5, Effect: nan()}, "effect", "NaN")
	f(latency, Goal{UnitsPerDay: 1, Effect: 5}, "deviation", "no rate")
	f(latency, Goal{UnitsPerDay: 1, Effect: 5, Deviation: -1}, "deviation", "> 0")
	f(interleaved(), Goal{UnitsPerDay: 1, Effect: 0.6}, "effect", "to 0.5")
	if long, err := e.Needed(Goal{UnitsPerDay: 1, Base: 0.5, Effect: 1e-6, Power: 0.99}); err != nil || long.Fits {
		t.Errorf("%+v, %v; want no error and not long.Fits", long, err)
	}
}

// TestNeededIsEnough runs experiments of as many units as are said to be needed.
func TestNeededIsEnough(t *testing.T) {
	t.Parallel()
	const base, effect, runs = 0.3, 0.05, 400
	n, err := halves().Needed(Goal{Base: base + effect/2, Effect: effect, UnitsPerDay: 1000})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 3))
	found := 0
	for range runs {
		var a, b sums
		for range n.Units / 2 {
			a.add(float64(int(base+random.Float64())), 1)
			b.add(float64(int(base+effect+random.Float64())), 1)
		}
		e := b.minus(&a)
		if e.p() <= level {
			found++
		}
	}
	t.Logf("%d units, %d for one look: found in %d of %d runs", n.Units, n.Once, found, runs)
	near(t, "the power", float64(found)/runs, 0.8, 0.06)
}
