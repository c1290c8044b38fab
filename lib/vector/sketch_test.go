package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// shapes are ways to draw the components of a vector that rounding treats differently.
var shapes = map[string]func(r *rand.Rand, i int) float64{
	"even":       func(r *rand.Rand, _ int) float64 { return r.NormFloat64() },
	"one number": func(*rand.Rand, int) float64 { return 1 },
	"one axis":   func(_ *rand.Rand, i int) float64 { return math.Pow(1e-3, float64(i)) },
	"an outlier": func(r *rand.Rand, i int) float64 {
		if i == 3 {
			return 20
		}
		return r.NormFloat64()
	},
	"of all sizes": func(r *rand.Rand, _ int) float64 { return math.Exp2(40*r.NormFloat64()) * r.NormFloat64() },
	"half empty":   func(r *rand.Rand, _ int) float64 { return float64(r.IntN(2)) * r.NormFloat64() },
	"halves":       func(r *rand.Rand, i int) float64 { return float64(127-i%2*253) + float64(i%3)/2 },
}

func drawUnit(t *rapid.T, dim int) []float32 {
	kinds := make([]string, 0, len(shapes))
	for kind := range shapes {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	shape := shapes[rapid.SampledFrom(kinds).Draw(t, "shape")]
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(shape(r, i))
	}
	if unit := Unit(v); unit != nil {
		return unit
	}
	v[0] = 1
	for i := range v[1:] {
		v[1+i] = 0
	}
	return v
}

// drawCentre gives none, that of a single vector, or one near the middle of two.
func drawCentre(t *rapid.T, dim int) []float32 {
	centre := make([]float32, dim)
	parts := rapid.IntRange(0, 2).Draw(t, "parts of the centre")
	for range parts {
		for i, x := range drawUnit(t, dim) {
			centre[i] += x / float32(parts)
		}
	}
	return centre
}

// What Dots gives is never beyond the limits, and both kernels give the same ones.
func TestLimitsHoldTheDot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim, n := rapid.IntRange(1, 100).Draw(t, "dim"), rapid.IntRange(0, 19).Draw(t, "n")
		if rapid.IntRange(0, 19).Draw(t, "long") == 0 {
			dim = 4096
		}
		sketch, rows := NewSketch(drawCentre(t, dim), n), make([][]float32, n)
		for i := range rows {
			if rapid.IntRange(0, 9).Draw(t, "missing") > 0 {
				rows[i] = drawUnit(t, dim)
				sketch.Set(i, rows[i])
			}
		}
		unit := drawUnit(t, dim)
		if n > 0 && rows[0] != nil && rapid.Bool().Draw(t, "same") {
			unit = rows[0]
		} else if towards := Unit(sketch.centre); towards != nil && rapid.Bool().Draw(t, "towards the centre") {
			unit = towards
		}
		query := NewQuery(unit)
		first := rapid.IntRange(0, n).Draw(t, "first")
		least, most := make([]float32, n-first), make([]float32, n-first)
		sketch.Limits(query, first, least, most)
		for i, row := range rows[first:] {
			dot := Dot(unit, row)
			within := least[i] <= dot && dot <= most[i]
			dot = max(-1, min(1, dot))
			within = within && least[i] <= dot && dot <= most[i]
			if row == nil && least[i] == least[i] || row != nil && !within {
				t.Fatalf("row %d: %g is not between %g and %g", first+i, dot, least[i], most[i])
			}
		}
	})
}

// Embeddings' components are like these: the limits lie close together.
func TestLimitsAreNarrow(t *testing.T) {
	const dim, n = 384, 200
	r := rand.New(rand.NewPCG(1, 2))
	gaussian := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return Unit(v)
	}
	least, most := make([]float32, n), make([]float32, n)
	f := func(centre []float32, around float32, width float32) {
		t.Helper()
		near := func() []float32 {
			v := gaussian()
			for i := range v {
				v[i] += around * centre[i]
			}
			return Unit(v)
		}
		sketch := NewSketch(centre, n)
		for i := range n {
			sketch.Set(i, near())
		}
		sketch.Limits(NewQuery(near()), 0, least, most)
		for i := range n {
			if most[i]-least[i] > width {
				t.Errorf("row %d lies between %g and %g", i, least[i], most[i])
			}
		}
	}
	f(make([]float32, dim), 0, 0.03)
	f(gaussian(), 2, 0.01)
}

// Every kernel sums products exactly, also the largest that there are.
func TestDotsInt8(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			stride, n := block*rapid.IntRange(0, 9).Draw(t, "blocks"), rapid.IntRange(0, 19).Draw(t, "n")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			query, rows := make([]int16, stride), make([]int8, n*stride)
			for i := range query {
				query[i] = []int16{int16(r.Uint32()), math.MaxInt16, -math.MaxInt16}[r.IntN(3)]
			}
			for i := range rows {
				rows[i] = []int8{int8(r.Uint32()), math.MaxInt8, -math.MaxInt8}[r.IntN(3)]
			}
			out := make([]int32, n)
			dotsInt8(query, rows, nil, out)
			for i := range out {
				var want int32
				for k, x := range query {
					want += int32(x) * int32(rows[i*stride+k])
				}
				if out[i] != want {
					t.Fatalf("row %d: %d, want %d", i, out[i], want)
				}
			}
		})
	})
}

func TestLimitsAllocateNothing(t *testing.T) {
	sketch, query := NewSketch(make([]float32, 33), 5), NewQuery(Unit(slices.Repeat([]float32{1}, 33)))
	least, most := make([]float32, 5), make([]float32, 5)
	if n := testing.AllocsPerRun(10, func() { sketch.Limits(query, 0, least, most) }); n != 0 {
		t.Errorf("%g allocations; want n 0", n)
	}
}

// BenchmarkLimits is over as many rows as BenchmarkDots; its bytes are the
// sketch's, a quarter.
func BenchmarkLimits(b *testing.B) {
	s := newScan()
	sketch := NewSketch(make([]float32, benchDim), benchRows)
	for i := range benchRows {
		sketch.Set(i, Unit(s.rows[i*benchDim:][:benchDim]))
	}
	query := NewQuery(Unit(s.query))
	least, most := make([]float32, benchRows), make([]float32, benchRows)
	b.SetBytes(sketch.Bytes())
	for b.Loop() {
		sketch.Limits(query, 0, least, most)
	}
}

func BenchmarkSketchSet(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	unit := Unit(draw(r, values["unit"], benchDim))
	sketch := NewSketch(unit, 1)
	for b.Loop() {
		sketch.Set(0, unit)
	}
}
