//go:build !purego

package vector

import (
	"slices"
	"testing"
	"time"
)

func (s scan) readOnlySum() { sumAVX(s.rows, len(s.rows)/4) }

func BenchmarkReadOnlySum(b *testing.B) {
	requireAssembly(b)
	benchScan(b, scan.readOnlySum)
}

// BenchmarkShareOfReadSpeed takes turns between Dots, the read-only sum of the same
// bytes and the plain loop, and reports the median speed of each: what else runs on
// the machine slows all alike.
func BenchmarkShareOfReadSpeed(b *testing.B) {
	requireAssembly(b)
	s := newScan()
	var dots, sum, plain []float64
	for b.Loop() {
		sum = append(sum, s.speed(scan.readOnlySum))
		dots = append(dots, s.speed(scan.dots))
		plain = append(plain, s.speed(scan.plain))
	}
	b.ReportMetric(median(sum), "sum-GB/s")
	b.ReportMetric(median(dots), "dots-GB/s")
	b.ReportMetric(median(plain), "plain-GB/s")
	b.ReportMetric(100*median(dots)/median(sum), "%-of-sum")
	b.ReportMetric(0, "ns/op") // the time of a round says nothing
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
		b.Skip("this processor has no AVX")
	}
}

// The sum that speeds are measured by reads every element.
func TestSumAVXReadsEverything(t *testing.T) {
	if !accelerated {
		t.Skip("this processor has no AVX")
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
