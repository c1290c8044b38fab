package scoring

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// fewRanks is up to how many candidates of a joint ranking have their ranks counted
// out, as a page shows few of a thousand; for more, all candidates are sorted.
const fewRanks = 64

// rank is the candidate's in a leg that has it.
func (w *window) rank(candidate, leg int) int {
	o := &w.row(candidate)[leg]
	if o.Rank == Unranked {
		w.rankThese([]int{candidate})
	}
	return o.Rank
}

// best is the best rank that a single leg gave the candidate, MaxInt for none.
func (w *window) best(candidate int) int {
	best := math.MaxInt
	for leg, o := range w.row(candidate) {
		if o.returned() {
			best = min(best, w.rank(candidate, leg))
		}
	}
	return best
}

// rankThese finds the ranks of candidates in all legs, and of all candidates once that
// is less work.
func (w *window) rankThese(candidates []int) {
	w.ranked += len(candidates)
	if w.ranked > fewRanks {
		w.rankAll()
		return
	}
	for leg := range w.legs {
		w.countRanks(leg, candidates)
	}
}

// rankAll gives every candidate of a joint ranking its rank in each leg. Those that a signal
// cannot tell apart share the best of their ranks: an id says nothing for a chunk.
func (w *window) rankAll() {
	for leg := range w.legs {
		rank, last := 0, math.NaN()
		for place, candidate := range w.ordered(leg, indexes(len(w.candidates))) {
			raw := w.row(candidate)[leg].Raw
			if w.legs[leg].Kind != Signal || raw != last {
				rank, last = place+1, raw
			}
			w.setRank(candidate, leg, rank)
		}
	}
}

func (w *window) setRank(candidate, leg, rank int) {
	if o := &w.row(candidate)[leg]; o.Rank == Unranked {
		o.Rank = rank
	}
}

// countRanks counts how many candidates are ahead of each of some, which nearly all
// are behind: one pass instead of sorting them.
func (w *window) countRanks(leg int, some []int) {
	some = w.ordered(leg, slices.Clone(some))
	if len(some) == 0 {
		return
	}
	raws := make([]float64, len(some))
	for i, candidate := range some {
		raws[i] = w.row(candidate)[leg].Raw
	}
	between := make([]int, len(some)+1) // at i: how many are ahead of the i-th, and of none before it
	for c := range w.candidates {
		raw, place := w.row(c)[leg].Raw, len(raws)
		for place > 0 && raw > raws[place-1] {
			place--
		}
		for w.legs[leg].Kind != Signal && place > 0 && raw == raws[place-1] && w.id(c) < w.id(some[place-1]) {
			place--
		}
		between[place]++
	}
	rank := 1
	for i, candidate := range some {
		rank += between[i]
		w.setRank(candidate, leg, rank)
	}
}

// ordered keeps the candidates that a leg has and puts them in its order.
func (w *window) ordered(leg int, candidates []int) []int {
	candidates = slices.DeleteFunc(candidates, func(c int) bool { return !w.row(c)[leg].returned() })
	slices.SortFunc(candidates, func(a, b int) int {
		return cmp.Or(cmp.Compare(w.row(b)[leg].Raw, w.row(a)[leg].Raw), strings.Compare(w.id(a), w.id(b)))
	})
	return candidates
}

// indexes gives 0 to n - 1.
func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
