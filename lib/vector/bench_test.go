package vector

import (
	"math/rand/v2"
	"testing"
)

// The size of the benchmarks: a knowledge base of 100,000 small vectors.
const (
	benchRows = 100_000
	benchDim  = 384
)

// scan is one exact scan of 154 MB, far more than a cache holds.
type scan struct{ query, rows, out []float32 }

func newScan() scan {
	r := rand.New(rand.NewPCG(1, 2))
	return scan{
		query: draw(r, values["unit"], benchDim),
		rows:  draw(r, values["unit"], benchRows*benchDim),
		out:   make([]float32, benchRows),
	}
}

func (s scan) bytes() int64 { return int64(4 * len(s.rows)) }

func (s scan) dots() { Dots(s.query, s.rows, s.out) }

func (s scan) portable() { dotsPortable(s.query, s.rows, s.out) }

// plain is the loop that one writes first.
func (s scan) plain() {
	for i := range s.out {
		row := s.rows[i*benchDim : (i+1)*benchDim]
		var sum float32
		for k, x := range s.query {
			sum += x * row[k]
		}
		s.out[i] = sum
	}
}

func benchScan(b *testing.B, run func(scan)) {
	s := newScan()
	b.SetBytes(s.bytes())
	for b.Loop() {
		run(s)
	}
}

func BenchmarkDots(b *testing.B) { benchScan(b, scan.dots) }

func BenchmarkPortable(b *testing.B) { benchScan(b, scan.portable) }

func BenchmarkPlainGo(b *testing.B) { benchScan(b, scan.plain) }

// BenchmarkDot is one row at a time from the cache, as after a narrow filter.
func BenchmarkDot(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := draw(r, values["unit"], benchDim), draw(r, values["unit"], benchDim)
	b.SetBytes(4 * benchDim)
	for b.Loop() {
		Dot(x, y)
	}
}
