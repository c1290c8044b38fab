package clicks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestByHand: four searches of one question.
//
//	a B c      B is clicked last: a, B examined
//	A b C      A is clicked, C last: all examined
//	A b c      A is last
//	a b c      no click: nothing is learnt
//
//	a: examined 3, clicked 2, last 1: attractiveness 2/3, satisfaction 1/2, relevance 1/3
//	b: examined 2, clicked 1, last 1: 1/2, 1, 1/2
//	c: examined 1, clicked 1, last 1: 1, 1, 1
func TestByHand(t *testing.T) {
	var m Model
	hits := []string{"a", "b", "c"}
	for _, clicked := range [][]int{{1}, {2, 0}, {0, 7, -1}, {}} {
		m.Add("q", hits, clicked)
	}
	m.Add("another", hits, []int{2})
	for hit, want := range map[string][3]float64{"a": {2. / 3, .5, 1. / 3}, "b": {.5, 1, .5}, "c": {1, 1, 1}} {
		c := m.Of("q")[hit]
		got := [3]float64{c.Attractiveness(), c.Satisfaction(), c.Relevance()}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%s: %v, want %v", hit, got, want)
			}
		}
	}
	if (Counts{}).Relevance() != 0 {
		t.Error("something is known of a hit that nobody read")
	}
}

// TestUsersOfTheModel behave as it says, on answers in a bad order: the model finds the good one, which counting clicks
// does not.
func TestUsersOfTheModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	type hit struct{ attractive, satisfying float64 }
	of := map[string]hit{}
	var shown []string
	for i := range 10 { // the worst first; all are as attractive as they are satisfying
		id, good := fmt.Sprint("hit", i), .1+.08*float64(i)
		of[id] = hit{good, good}
		shown = append(shown, id)
	}
	var m Model
	clicks := map[string]int{}
	for range 30_000 {
		// Mostly the same order, so that few read the last ones; a little of others, as no ranking stands still.
		order := slices.Clone(shown)
		if random.IntN(4) == 0 {
			random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		var clicked []int
		for place, id := range order {
			if random.Float64() >= of[id].attractive {
				continue
			}
			clicked = append(clicked, place)
			clicks[id]++
			if random.Float64() < of[id].satisfying {
				break
			}
		}
		m.Add("q", order, clicked)
	}
	byModel, byClicks := slices.Clone(shown), slices.Clone(shown)
	slices.SortFunc(byModel, func(a, b string) int {
		if m.Of("q")[a].Relevance() < m.Of("q")[b].Relevance() {
			return -1
		}
		return 1
	})
	slices.SortFunc(byClicks, func(a, b string) int { return clicks[a] - clicks[b] })
	if !slices.Equal(byModel, shown) {
		t.Errorf("from the worst to the best: %v", byModel)
	}
	if slices.Equal(byClicks, shown) {
		t.Error("counting clicks would do: the users of this test show nothing")
	}
	for _, id := range shown { // that users read on after their last click is not seen, so all is a little too much
		want := of[id].attractive * of[id].satisfying
		if got := m.Of("q")[id].Relevance(); math.Abs(got-want) > .15 {
			t.Errorf("%s has relevance %.3f, want %.3f", id, got, want)
		}
	}
}
