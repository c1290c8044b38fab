package smile

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/internal/brief"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// TestEveryNumberIsKept: vectors bit by bit, whole numbers whole.
func TestEveryNumberIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vector := rapid.SliceOf(rapid.OneOf(rapid.Float32(), rapid.Float32Range(-1, 1))).Draw(t, "vector")
		n := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-100, 100)).Draw(t, "n")
		f := rapid.OneOf(rapid.Float64(), rapid.Just(9.3e18), rapid.Just(-1e20), rapid.Just(1e21)).Draw(t, "f")
		text, err := AppendVector([]byte(Start+string([]byte{Array})), vector)
		if err != nil {
			t.Fatal(err)
		}
		r := New(string(append(AppendNumber(AppendInteger(text, n), f), ArrayEnd)))
		r.Array()
		r.More()
		var got []float32
		for r.Array(); r.More(); {
			got = append(got, r.Number())
		}
		r.More()
		whole := r.Value()
		r.More()
		number, notNumber := strconv.ParseFloat(r.Value(), 64)
		if r.More() || r.End() != nil || !slices.Equal(got, vector) || whole != strconv.FormatInt(n, 10) ||
			notNumber != nil || number != f {
			t.Errorf("%g, %d, %g are read as %g, %s, %g", vector, n, f, got, whole, number)
		}
	})
}

func TestVectorsOfNumbersAlone(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if text, err := AppendVector(nil, []float32{1, float32(x)}); err == nil {
			t.Errorf("%g is written as %q; want an error", x, brief.Of(text))
		}
	}
}

func TestTextsOfAnyLength(t *testing.T) {
	for n := range 150 {
		for _, text := range []string{strings.Repeat("x", n), strings.Repeat("x", n) + "退", strings.Repeat("é", n)} {
			written := AppendText(AppendName([]byte(Start+string([]byte{Object})), text), text)
			r := New(string(append(written, ObjectEnd)))
			r.Object()
			r.More()
			if name, value := r.Name(), r.Text(); name != text || value != text || r.More() || r.End() != nil {
				t.Errorf("%q is read as %q: %q", text, name, value)
			}
		}
	}
}
