package benchmarks

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// contestant is one of several ways to do the same thing, the i-th of a list.
type contestant struct {
	name string
	run  func(i int) error
}

// times are what a contestant took.
type times []time.Duration

// percentile gives the p-th percentile, p in 0..100.
func (t times) percentile(p int) time.Duration {
	sorted := slices.Sorted(slices.Values(t))
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}

// less is how much longer each took than the one of others of the same number.
func (t times) less(others times) times {
	longer := make(times, len(t))
	for i := range t {
		longer[i] = t[i] - others[i]
	}
	return longer
}

// yardstick is a fixed piece of work, about a tenth of a millisecond long. What
// it takes more than at its best is what else the machine does.
const yardstick = "yardstick"

var yardstickSink atomic.Uint64

func work() {
	sum := uint64(1)
	for range 100_000 {
		sum ^= sum << 7
		sum ^= sum >> 9
	}
	yardstickSink.Store(sum)
}

// noise tells how many times longer than at its best the yardstick took.
func noise(took map[string]times) []figure {
	best := float64(slices.Min(took[yardstick]))
	return []figure{
		{"noise-p50", float64(took[yardstick].percentile(50)) / best},
		{"noise-p99", float64(took[yardstick].percentile(99)) / best},
	}
}

// inTurn lets the contestants do each of n things, one contestant right after
// the other and in random order, so that what else the machine does hits all
// alike. The yardstick takes part.
func inTurn(b *testing.B, n int, contestants ...contestant) map[string]times {
	b.Helper()
	random := rand.New(rand.NewPCG(1, uint64(n)))
	contestants = append(contestants, contestant{yardstick, func(int) error { work(); return nil }})
	took := map[string]times{}
	for i := range n {
		for _, c := range random.Perm(len(contestants)) {
			start := time.Now()
			if err := contestants[c].run(i); err != nil {
				b.Fatalf("%s %d: %v", contestants[c].name, i, err)
			}
			took[contestants[c].name] = append(took[contestants[c].name], time.Since(start))
		}
	}
	return took
}

// rates gives how often a second `clients` at once are served by each
// contestant, per round; in a round each has one slice of time.
func rates(b *testing.B, clients, rounds int, slice time.Duration, contestants ...contestant) map[string][]float64 {
	b.Helper()
	random := rand.New(rand.NewPCG(2, 2))
	perSecond := map[string][]float64{}
	for range rounds {
		for _, c := range random.Perm(len(contestants)) {
			rate, err := rate(clients, slice, contestants[c].run)
			if err != nil {
				b.Fatalf("%s: %v", contestants[c].name, err)
			}
			perSecond[contestants[c].name] = append(perSecond[contestants[c].name], rate)
		}
	}
	return perSecond
}

func rate(clients int, slice time.Duration, run func(i int) error) (float64, error) {
	var next, done atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	start := time.Now()
	for range clients {
		group.Go(func() {
			for time.Since(start) < slice && failed.Load() == nil {
				if err := run(int(next.Add(1) - 1)); err != nil {
					failed.Store(&err)
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(start).Seconds(), nil
}

// ratios divides round by round.
func ratios(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] / b[i]
	}
	return out
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// figure is one number of a benchmark.
type figure struct {
	unit  string
	value float64
}

// show reports figures instead of the time of the whole benchmark.
func show(b *testing.B, figures ...figure) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	for _, f := range figures {
		b.ReportMetric(f.value, f.unit)
	}
}
