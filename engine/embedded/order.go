package embedded

import (
	"math"
	"slices"
	"sync"
)

// placed packs a score and the number of what has it, to be sorted: the score,
// falling, in the upper half.
func placed(score float32, number int) uint64 {
	return uint64(falling(score))<<32 | uint64(number)
}

// falling maps a score to a number that is the smaller the higher the score is.
func falling(score float32) uint32 {
	bits := math.Float32bits(score + 0) // of -0, those of 0
	if bits>>31 == 0 {
		return ^bits &^ (1 << 31)
	}
	return bits
}

// rising is the opposite of falling.
func rising(order uint32) float32 {
	if order>>31 == 0 {
		order = ^order &^ (1 << 31)
	}
	return math.Float32frombits(order)
}

// orders holds room to sort in, between searches.
var orders = sync.Pool{New: func() any { return new([]uint64) }}

// borrowOrder gives room for n numbers, of any values, that goes back to orders.
func borrowOrder(n int) *[]uint64 {
	room := orders.Get().(*[]uint64)
	*room = slices.Grow((*room)[:0], n)[:n]
	return room
}

// sortFalling sorts by score, and the numbers of each score by compare.
func sortFalling(order []uint64, compare func(a, b int) int) {
	sortUpper(order)
	for from, to := 0, 1; from < len(order); from, to = to, to+1 {
		for to < len(order) && order[to]>>32 == order[from]>>32 {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(order[from:to], func(a, b uint64) int { return compare(int(uint32(a)), int(uint32(b))) })
		}
	}
}

// sortUpper sorts by the upper halves, a byte after the other from the lowest on: a
// sort by comparison takes several times as long for a thousand.
func sortUpper(order []uint64) {
	room := borrowOrder(len(order))
	defer orders.Put(room)
	from, to := order, *room
	for shift := 32; shift < 64; shift += 8 {
		var ends [257]int
		for _, x := range from {
			ends[int(byte(x>>shift))+1]++
		}
		for i := range 255 {
			ends[i+1] += ends[i]
		}
		for _, x := range from {
			place := &ends[byte(x>>shift)]
			to[*place] = x
			*place++
		}
		from, to = to, from
	}
}
