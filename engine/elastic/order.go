package elastic

import (
	"math"
	"slices"
	"strings"
)

// scored is the place of a hit and a score of it.
type scored struct {
	at    int
	score float64
}

// order puts the best score first, then the lower id.
func (u *union) order(hits []scored) {
	byScore := func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		default:
			return strings.Compare(u.hits[a.at].ID, u.hits[b.at].ID)
		}
	}
	if len(hits) < radixFrom || slices.IsSortedFunc(hits, byScore) {
		slices.SortFunc(hits, byScore)
		return
	}
	sortByScore(hits)
	for start := 0; start < len(hits); {
		end := start + 1
		for end < len(hits) && hits[end].score == hits[start].score {
			end++
		}
		slices.SortFunc(hits[start:end], byScore)
		start = end
	}
}

// radixFrom is how many hits are sorted faster digit by digit than by comparing.
const radixFrom = 128

// sortByScore sorts by score alone, the best first: a radix sort by the bytes of
// the scores, of which most are the same for all or 0, as scores are float32 there.
func sortByScore(hits []scored) {
	var counts [8][256]int
	for i := range hits {
		key := descending(hits[i].score)
		for digit := range counts {
			counts[digit][byte(key>>(8*digit))]++
		}
	}
	from, to := hits, make([]scored, len(hits))
	for digit := range counts {
		count := &counts[digit]
		if count[byte(descending(hits[0].score)>>(8*digit))] == len(hits) {
			continue // nothing to tell apart
		}
		next := 0
		for i, n := range count {
			count[i], next = next, next+n
		}
		for _, h := range from {
			place := &count[byte(descending(h.score)>>(8*digit))]
			to[*place] = h
			*place++
		}
		from, to = to, from
	}
	if &from[0] != &hits[0] {
		copy(hits, from)
	}
}

// descending is a number that is the lower the higher the score is. +0 and -0 are
// the same.
func descending(score float64) uint64 {
	bits := math.Float64bits(score + 0)
	if bits>>63 == 1 {
		return bits
	}
	return ^bits &^ (1 << 63)
}

// rank numbers from 1 the hits that a leg returned.
func (u *union) rank(leg int, returned []scored) {
	u.order(returned)
	for i, s := range returned {
		u.hits[s.at].Observations[leg].Rank = i + 1
	}
}
