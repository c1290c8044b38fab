package elastic

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// placed is the place of a hit and, in the upper half, a number that is the lower
// the higher its score is, as far as a float32 tells. +0 and -0 are the same.
func placed(score float64, at int) uint64 {
	bits := math.Float32bits(float32(score) + 0)
	if bits>>31 == 0 {
		bits = ^bits &^ (1 << 31)
	}
	return uint64(bits)<<32 | uint64(at)
}

// order puts the best score first, then the lower id.
func (u *union) order(hits []uint64, score func(at int) float64) {
	sortUpper(hits, u.room.sorted)
	for start := 0; start < len(hits); {
		end := start + 1
		for end < len(hits) && hits[end]>>32 == hits[start]>>32 {
			end++
		}
		if end-start > 1 {
			slices.SortFunc(hits[start:end], func(a, b uint64) int {
				x, y := int(uint32(a)), int(uint32(b))
				return cmp.Or(cmp.Compare(score(y), score(x)), strings.Compare(u.hits[x].ID, u.hits[y].ID))
			})
		}
		start = end
	}
}

// radixFrom is how many hits are sorted faster byte by byte than by comparing.
const radixFrom = 128

// sortUpper sorts by the upper halves; to may have room for it.
func sortUpper(hits, to []uint64) {
	if len(hits) < radixFrom {
		slices.Sort(hits)
		return
	}
	var counts [4][256]int32
	for _, h := range hits {
		for digit := range counts {
			counts[digit][byte(h>>(32+8*digit))]++
		}
	}
	from := hits
	to = slices.Grow(to[:0], len(hits))[:len(hits)]
	for digit := range counts {
		count, shift := &counts[digit], 32+8*digit
		if int(count[byte(hits[0]>>shift)]) == len(hits) {
			continue // nothing to tell apart
		}
		next := int32(0)
		for i, n := range count {
			count[i], next = next, next+n
		}
		for _, h := range from {
			place := &count[byte(h>>shift)]
			to[*place] = h
			*place++
		}
		from, to = to, from
	}
	if &from[0] != &hits[0] {
		copy(hits, from)
	}
}

// rank numbers from 1 the hits that a leg returned.
func (u *union) rank(leg int, returned []uint64) {
	u.order(returned, func(at int) float64 { return u.hits[at].Observations[leg].Raw })
	for i, hit := range returned {
		u.hits[uint32(hit)].Observations[leg].Rank = i + 1
	}
}
