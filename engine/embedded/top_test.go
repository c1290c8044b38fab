package embedded

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/lib/vector"
)

// TestTop wants what sorting everything and cutting at k gives.
func TestTop(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		scores := rapid.SliceOfN(rapid.IntRange(0, 5), -1, 400).Draw(r, "scores")
		k := rapid.IntRange(0, 40).Draw(r, "k")
		order := rapid.Permutation(indexes(len(scores))).Draw(r, "ids")
		entries := make([]entry, len(scores))
		var all []scored
		for row, score := range scores {
			entries[row] = entry{row: uint32(row), record: record{id: fmt.Sprintf("%04d", order[row])}}
			all = append(all, scored{uint32(row), float64(score)})
		}
		rec := records{}.with(entries)
		best := newTop(k, len(all), &rec)
		for _, s := range all {
			best.offer(s.row, s.score)
		}
		slices.SortFunc(all, func(a, b scored) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(order[a.row], order[b.row]))
		})
		if got, want := best.sorted(), all[:min(k, len(all))]; !slices.Equal(got, want) {
			r.Fatalf("got %v, want %v", got, want)
		}
	})
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestUnit(t *testing.T) {
	for _, v := range [][]float32{{3, 4}, {1e-30, 1e-30}, {3e38, 3e38, -3e38}, {-7}} {
		u := vector.Unit(v)
		length := 0.0
		for _, x := range u {
			length += float64(x) * float64(x)
		}
		if math.Abs(length-1) > 1e-6 {
			t.Errorf("the unit of %v is %v", v, u)
		}
	}
	for _, v := range [][]float32{nil, {}, {0, 0}, {float32(math.NaN()), 1}, {float32(math.Inf(1))}} {
		if u := vector.Unit(v); u != nil {
			t.Errorf("the unit of %v is %v, want none", v, u)
		}
	}
}

func TestFalling(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a, b := rapid.Float32().Draw(r, "a"), rapid.Float32().Draw(r, "b")
		if got, want := cmp.Compare(falling(a), falling(b)), cmp.Compare(b, a); got != want {
			r.Fatalf("%v and %v compare as %d, want %d", a, b, got, want)
		}
	})
	if zero := float32(0); falling(-zero) != falling(zero) || falling(float32(math.Copysign(0, -1))) != falling(zero) {
		t.Error("-0 and 0 differ")
	}
}
