package scoring

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// fewRanks is for how many candidates their ranks in a joint ranking are counted out.
// A page shows few of a thousand; those of all are sorted.
const fewRanks = 64

// rank is the candidate's in a leg that has it.
func (l *ledger) rank(candidate, leg int) int {
	at := candidate*len(l.legs) + leg
	if rank := l.observations[at].Rank; rank != Unranked {
		return rank
	}
	if len(l.ranks) == 0 || l.ranks[at] == 0 {
		l.rankThese([]int{candidate})
	}
	return int(l.ranks[at])
}

// best is the best rank that a single leg gave the candidate, MaxInt for none.
func (l *ledger) best(candidate int) int {
	best := math.MaxInt
	for leg, o := range l.row(candidate) {
		if o.returned() {
			best = min(best, l.rank(candidate, leg))
		}
	}
	return best
}

// rankThese finds the ranks of candidates in all legs, and of all candidates once that
// is less work.
func (l *ledger) rankThese(candidates []int) {
	if len(l.ranks) == 0 {
		l.ranks = resize(l.ranks, len(l.observations))
		clear(l.ranks)
	}
	l.ranked += len(candidates)
	for leg := range l.legs {
		if l.ranked > fewRanks {
			l.rankAll(leg)
		} else {
			l.countRanks(leg, candidates)
		}
	}
}

// rankAll sorts the candidates that a leg has.
func (l *ledger) rankAll(leg int) {
	for rank, candidate := range l.ordered(leg, indexes(l.candidates)) {
		l.ranks[candidate*len(l.legs)+leg] = int32(rank) + 1
	}
}

// countRanks counts who is in front of some of the candidates that a leg has. Of the
// others nearly all are behind the last of these.
func (l *ledger) countRanks(leg int, some []int) {
	some = l.ordered(leg, slices.Clone(some))
	if len(some) == 0 {
		return
	}
	between := make([]int32, len(some)+1) // in front of this one, and not of the one before it
	raws := make([]float64, len(some))
	for i, candidate := range some {
		raws[i] = l.row(candidate)[leg].Raw
	}
	for i, n := leg, len(l.legs); i < len(l.observations); i += n {
		raw, place := l.observations[i].Raw, len(raws)
		for place > 0 && raw > raws[place-1] {
			place--
		}
		for place > 0 && raw == raws[place-1] && l.id(i/n) < l.id(some[place-1]) {
			place--
		}
		between[place]++
	}
	rank := int32(1)
	for i, candidate := range some {
		rank += between[i]
		l.ranks[candidate*len(l.legs)+leg] = rank
	}
}

// ordered keeps the candidates that a leg has and puts them in its order.
func (l *ledger) ordered(leg int, candidates []int) []int {
	candidates = slices.DeleteFunc(candidates, func(c int) bool { return !l.row(c)[leg].returned() })
	slices.SortFunc(candidates, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.row(b)[leg].Raw, l.row(a)[leg].Raw), strings.Compare(l.id(a), l.id(b)))
	})
	return candidates
}

// indexes are those of n candidates.
func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// fillRanks gives each observation its rank, for schemes that live on ranks.
func (l *ledger) fillRanks() {
	l.rankThese(indexes(l.candidates))
	for i := range l.observations {
		if o := &l.observations[i]; o.Rank == Unranked {
			o.Rank = int(l.ranks[i])
		}
	}
}
