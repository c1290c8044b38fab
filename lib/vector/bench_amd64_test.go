//go:build !purego

package vector

import (
	"slices"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/skips"
)

func (s scan) readOnlySum() { sumAVX(s.rows, len(s.rows)/4) }

func BenchmarkReadOnlySum(b *testing.B) {
	requireAssembly(b)
	benchScan(b, scan.readOnlySum)
}

// BenchmarkShareOfReadSpeed takes turns between the read-only sum, Dots and the
// plain loop, and reports the median speed of each. A turn is a fortieth of the
// rows, a tenth of a millisecond or so, for what else runs on the machine to slow
// all alike; the three are far apart, for none to find in the cache what another
// has read.
func BenchmarkShareOfReadSpeed(b *testing.B) {
	requireAssembly(b)
	const turns = 40
	s := newScan()
	var sum, dots, plain []float64
	for b.Loop() {
		for turn := range turns {
			sum = append(sum, s.part(turn, turns).speed(scan.readOnlySum))
			dots = append(dots, s.part((turn+turns/3)%turns, turns).speed(scan.dots))
			plain = append(plain, s.part((turn+2*turns/3)%turns, turns).speed(scan.plain))
		}
	}
	b.ReportMetric(median(sum), "sum-GB/s")
	b.ReportMetric(median(dots), "dots-GB/s")
	b.ReportMetric(median(plain), "plain-GB/s")
	b.ReportMetric(100*median(dots)/median(sum), "%-of-sum")
}

// part is one of n equal parts of the rows.
func (s scan) part(i, n int) scan {
	rows := len(s.out) / n
	return scan{
		query: s.query,
		rows:  s.rows[i*rows*benchDim : (i+1)*rows*benchDim],
		out:   s.out[i*rows : (i+1)*rows],
	}
}

// speed of one scan in bytes per nanosecond, which are GB/s.
func (s scan) speed(run func(scan)) float64 {
	start := time.Now()
	run(s)
	return float64(s.bytes()) / float64(time.Since(start).Nanoseconds())
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

func requireAssembly(b *testing.B) {
	b.Helper()
	if !accelerated {
		skips.ByDesign(b, "this processor has no AVX")
	}
}

// The sum that speeds are measured by reads every element.
func TestSumAVXReadsEverything(t *testing.T) {
	if !accelerated {
		skips.ByDesign(t, "this processor has no AVX")
	}
	rows := slices.Repeat([]float32{1}, 4*16*5)
	for i := range rows {
		rows[i] = 2
		if got, want := sumAVX(rows, len(rows)/4), float32(len(rows)+1); got != want {
			t.Errorf("element %d: %g, want %g", i, got, want)
		}
		rows[i] = 1
	}
}
