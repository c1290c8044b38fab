package elastic

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// TestOrder compares with sorting by score and id, for few hits and many, scores
// that only a float64 tells apart and scores that are equal.
func TestOrder(t *testing.T) {
	scores := rapid.OneOf(
		rapid.Float64Range(-1, 1), rapid.Float64Range(0, 40),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 0.5, 0.5 + 1e-12, -0.5, -0.5 - 1e-12, 7, 1e30}),
	)
	rapid.Check(t, func(t *rapid.T) {
		u := &union{room: new(room)}
		var want []engine.Hit
		var places []uint64
		for at, score := range rapid.SliceOfN(scores, 0, 2*radixFrom).Draw(t, "scores") {
			hit := engine.Hit{Candidate: scoring.Candidate{
				ID: fmt.Sprint(at * 7919 % 1000), Observations: []scoring.Observation{{Raw: score}},
			}}
			u.hits, want = append(u.hits, hit), append(want, hit)
			places = append(places, placed(score, at))
		}
		slices.SortFunc(want, func(a, b engine.Hit) int {
			if x, y := a.Observations[0].Raw, b.Observations[0].Raw; x != y {
				return map[bool]int{true: -1, false: 1}[x > y]
			}
			return strings.Compare(a.ID, b.ID)
		})
		u.order(places, func(at int) float64 { return u.hits[at].Observations[0].Raw })
		var got []engine.Hit
		for _, place := range places {
			got = append(got, u.hits[uint32(place)])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
