package embedded

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
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
