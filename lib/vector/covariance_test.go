package vector_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hybridge-search/hybridge/lib/vector"
)

// TestCovarianceTellsWhatTheRowsTell compares with the dot products themselves, of rows
// that lie close together, as those of a model do.
func TestCovarianceTellsWhatTheRowsTell(t *testing.T) {
	for _, shape := range []struct{ n, dim int }{{1, 1}, {2, 3}, {7, 16}, {40, 17}, {500, 100}, {500, 384}, {3, 40}} {
		rng := rand.New(rand.NewPCG(uint64(shape.n), uint64(shape.dim)))
		rows := make([]float32, 0, shape.n*shape.dim)
		for range shape.n {
			rows = append(rows, crowded(rng, shape.dim)...)
		}
		of := vector.NewCovariance(rows, shape.dim)
		q := crowded(rng, shape.dim)
		mean, variance := of.Moments(q)
		wantMean, wantVariance := momentsOf(q, rows)
		if math.Abs(mean-wantMean) > 1e-5 || math.Abs(variance-wantVariance) > 1e-5*wantVariance+1e-9 {
			t.Errorf("%v: mean %v and variance %v, of the rows %v and %v", shape, mean, variance, wantMean, wantVariance)
		}
	}
}

func crowded(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(0.7 + 0.3*rng.NormFloat64())
	}
	return vector.Unit(v)
}

func momentsOf(q, rows []float32) (mean, variance float64) {
	n := len(rows) / len(q)
	products := make([]float64, n)
	for i := range products {
		for j, x := range q {
			products[i] += float64(x) * float64(rows[i*len(q)+j])
		}
		mean += products[i] / float64(n)
	}
	for _, p := range products {
		variance += (p - mean) * (p - mean) / float64(n)
	}
	return mean, variance
}

func BenchmarkCovariance(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, dim = 500, 384
	rows := make([]float32, 0, n*dim)
	for range n {
		rows = append(rows, crowded(rng, dim)...)
	}
	q, products := crowded(rng, dim), make([]float32, n)
	of := vector.NewCovariance(rows, dim)
	for _, cold := range []bool{false, true} {
		b.Run(fmt.Sprintf("rows/cold=%v", cold), func(b *testing.B) {
			each(b, cold, func() { vector.Dots(q, rows, products) })
		})
		b.Run(fmt.Sprintf("covariance/cold=%v", cold), func(b *testing.B) {
			each(b, cold, func() { of.Moments(q) })
		})
	}
	b.Run("making", func(b *testing.B) { each(b, false, func() { vector.NewCovariance(rows, dim) }) })
}

// each times f, with what it reads in no cache if cold.
func each(b *testing.B, cold bool, f func()) {
	other := make([]byte, 64<<20)
	for b.Loop() {
		if cold {
			b.StopTimer()
			for i := range other {
				other[i]++
			}
			b.StartTimer()
		}
		f()
	}
}
