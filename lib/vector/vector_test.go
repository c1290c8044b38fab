package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// eachKernel runs the test with every kernel in assembly that this processor has, and
// with the portable one.
func eachKernel(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for _, kernel := range []struct {
		name              string
		accelerated, wide bool
	}{{"wide", true, true}, {"assembly", true, false}, {"portable", false, false}} {
		if kernel.accelerated && !accelerated || kernel.wide && !wide {
			continue
		}
		t.Run(kernel.name, func(t *testing.T) {
			defer func(a, w bool) { accelerated, wide = a, w }(accelerated, wide)
			accelerated, wide = kernel.accelerated, kernel.wide
			test(t)
		})
	}
}

// dotByDefinition is the package comment's definition, word for word.
func dotByDefinition(a, b []float32) float32 {
	var sums [16]float32
	for i := range a {
		sums[i%16] += float32(a[i] * b[i])
	}
	for _, half := range []int{8, 4, 2, 1} {
		for k := range half {
			sums[k] += sums[k+half]
		}
	}
	return sums[0]
}

// sameBits takes all NaNs as one: which of two is passed on differs by processor.
func sameBits(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// values are ways to draw a number.
var values = map[string]func(*rand.Rand) float32{
	"unit":     func(r *rand.Rand) float32 { return 2*r.Float32() - 1 },
	"any bits": func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32()) },
	"denormal": func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32N(1 << 23)) },
	"huge":     func(r *rand.Rand) float32 { return (2*r.Float32() - 1) * 1e18 },
	"special": func(r *rand.Rand) float32 {
		special := []float32{
			0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, -math.MaxFloat32, 0x1p-126,
			math.SmallestNonzeroFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
		}
		return special[r.IntN(len(special))]
	},
}

func draw(r *rand.Rand, value func(*rand.Rand) float32, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = value(r)
	}
	return out
}

func drawKind(t *rapid.T) func(*rand.Rand) float32 {
	kinds := make([]string, 0, len(values))
	for kind := range values {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return values[rapid.SampledFrom(kinds).Draw(t, "values")]
}

// Every kernel gives the bits of the definition, in a page of any number of rows
// that begins anywhere, and touches nothing beyond its results.
func TestDotsFollowsItsDefinitionToTheBit(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			dim, n := rapid.IntRange(1, 100).Draw(t, "dim"), rapid.IntRange(0, 19).Draw(t, "n")
			shift, beyond := rapid.IntRange(0, 9).Draw(t, "shift"), rapid.IntRange(0, 3).Draw(t, "beyond")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			kind := drawKind(t)
			query, rows := draw(r, kind, shift+dim)[shift:], draw(r, kind, shift+n*dim)[shift:]
			out := slices.Repeat([]float32{7}, n+beyond)

			if got := Dots(query, rows, out); got != n {
				t.Fatalf("%d rows done, want %d", got, n)
			}
			scattered := make([][]float32, n)
			for i, at := range r.Perm(n) {
				scattered[at] = rows[i*dim : (i+1)*dim]
			}
			of := make([]float32, n+beyond)
			if got := DotsOf(query, scattered, of); got != n {
				t.Fatalf("%d scattered rows done, want %d", got, n)
			}
			for i := range n {
				row := rows[i*dim : (i+1)*dim]
				want := dotByDefinition(query, row)
				if got := Dot(query, row); !sameBits(out[i], want) || !sameBits(got, want) {
					t.Fatalf("row %d: Dots %g, Dot %g, want %g", i, out[i], got, want)
				}
				if want := dotByDefinition(query, scattered[i]); !sameBits(of[i], want) {
					t.Fatalf("row %d: DotsOf %g, want %g", i, of[i], want)
				}
			}
			if slices.ContainsFunc(out[n:], func(x float32) bool { return x != 7 }) {
				t.Fatalf("wrote beyond the rows: %v", out[n:])
			}
		})
	})
}

// More rows than one call of a kernel takes, also when a single row is more.
func TestDotsOfManyAndOfLongRows(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		f := func(n, dim int) {
			t.Helper()
			r := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
			query, row := draw(r, values["unit"], dim), draw(r, values["unit"], dim)
			out := make([]float32, n)
			Dots(query, slices.Repeat(row, n), out)
			want := slices.Repeat([]float32{dotByDefinition(query, row)}, n)
			if !slices.Equal(out, want) {
				t.Errorf("%d rows of %d: equal rows have different results, or not %g", n, dim, want[0])
			}
		}
		f(stretch+5, 1)
		f(stretch/3+2, 3)
		f(1001, 384)
		f(171, 383)
		f(3, stretch-1)
		f(3, stretch+1)
	})
}

func TestDotsGoesByTheShorterSide(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		f := func(query, rows []float32, room int, want ...float32) {
			t.Helper()
			out := slices.Repeat([]float32{7}, room)
			n := Dots(query, rows, out)
			if !slices.Equal(out[:n], want) || slices.ContainsFunc(out[n:], func(x float32) bool { return x != 7 }) {
				t.Errorf("%v with %v and room for %d: %d rows, %v; want %v", query, rows, room, n, out, want)
			}
		}
		f(nil, nil, 0)
		f(nil, []float32{1}, 2)
		f([]float32{1}, nil, 2)
		f([]float32{2}, []float32{3}, 0)
		f([]float32{2}, []float32{3}, 1, 6)
		f([]float32{1, 2}, []float32{3}, 1)
		f([]float32{1, 2}, []float32{3, 4}, 1, 11)
		f([]float32{1, 2}, []float32{3, 4, 5, 6}, 1, 11)
		f([]float32{1, 2}, []float32{3, 4, 5, 6, 9}, 3, 11, 17)
	})
}

func TestDotOfDifferentLengths(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		f := func(a, b []float32, want float32) {
			t.Helper()
			if got := Dot(a, b); got != want {
				t.Errorf("%v · %v = %g, want %g", a, b, got, want)
			}
		}
		f(nil, nil, 0)
		f(nil, []float32{1}, 0)
		f([]float32{2}, nil, 0)
		f([]float32{2, 5}, []float32{3}, 6)
		f([]float32{2}, []float32{3, 5}, 6)
	})
}

// wantClose compares with float64: to 1e-5 of the sum of magnitudes, and half the
// smallest number for each product that float32 has to round to a denormal.
func wantClose(t rapid.TB, a, b []float32) {
	t.Helper()
	var want, magnitude float64
	for i := range a {
		product := float64(a[i]) * float64(b[i])
		want += product
		magnitude += math.Abs(product)
	}
	limit := 1e-5*magnitude + float64(len(a))*math.SmallestNonzeroFloat32/2
	got := float64(Dot(a, b))
	if !(math.Abs(got-want) <= limit) {
		t.Errorf("dim %d: %g, want %g within %g", len(a), got, want, limit)
	}
}

func TestDotIsCloseToFloat64(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			dim := rapid.IntRange(1, 2500).Draw(t, "dim")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			kind := values[rapid.SampledFrom([]string{"unit", "denormal", "huge"}).Draw(t, "values")]
			wantClose(t, draw(r, kind, dim), draw(r, kind, dim))
		})
	})
}

// Rounding errors of one sign, cancellation, and products below and near the ends
// of float32's range.
func TestDotOfDifficultValuesIsCloseToFloat64(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		f := func(a, b func(i int) float32) {
			t.Helper()
			for _, dim := range []int{1, 15, 16, 17, 384, 1024, 2500, 4096} {
				x, y := make([]float32, dim), make([]float32, dim)
				for i := range dim {
					x[i], y[i] = a(i), b(i)
				}
				wantClose(t, x, y)
			}
		}
		always := func(x float32) func(int) float32 { return func(int) float32 { return x } }
		f(always(0), always(1))
		f(always(0.1), always(0.1))
		f(always(1.0000001), always(0.3333333))
		f(always(0x1.fffffep0), always(0x1.555556p-1))
		f(func(i int) float32 { return []float32{1e18, 1, -1e18}[i%3] }, always(1e18))
		f(func(i int) float32 { return float32(math.Pow(2, float64(i%200-100))) }, always(-3))
		f(always(math.SmallestNonzeroFloat32), always(0.5))
		f(always(math.SmallestNonzeroFloat32), always(3))
		f(always(0x1p-75), always(0x1.8p-75))
		f(always(math.MaxFloat32/8192), always(1.9))
	})
}

// NaN and infinities come out as from a plain loop, from whole blocks and tails.
func TestDotPassesOnNaNAndInfinity(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	eachKernel(t, func(t *testing.T) {
		f := func(x, y, want float32) {
			t.Helper()
			for _, dim := range []int{1, 16, 21} {
				for at := range dim {
					a, b := slices.Repeat([]float32{1}, dim), slices.Repeat([]float32{-1}, dim)
					a[at], b[at] = x, y
					if got := Dot(a, b); !sameBits(got, want) {
						t.Errorf("%g times %g at %d of %d: %g, want %g", x, y, at, dim, got, want)
					}
				}
			}
		}
		f(nan, 1, nan)
		f(0, nan, nan)
		f(inf, 0, nan)
		f(inf, 2, inf)
		f(inf, -2, -inf)
		f(3e38, 3e38, inf)
		f(3e38, -3e38, -inf)
	})
}

func TestDotsAllocatesNothing(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		query, rows, out := make([]float32, 33), make([]float32, 33*5), make([]float32, 5)
		scattered := slices.Repeat([][]float32{rows}, 5)
		if n := testing.AllocsPerRun(10, func() { Dots(query, rows, out); Dot(query, rows); DotsOf(query, scattered, out) }); n != 0 {
			t.Errorf("%g allocations; want n 0", n)
		}
	})
}
