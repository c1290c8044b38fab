package embedded

import (
	"math"
	"slices"
	"sync"
)

// estimate is a row with limits of its score, which lie close together.
type estimate struct {
	row         uint32
	least, most float32
}

// estimator appends those of at most blockRows ascending rows that take part to an
// empty block. It runs on several processors.
type estimator func(rows []uint32, block []estimate) []estimate

// narrowRows is from how many rows on it is worth estimating them.
const narrowRows = 1024

// narrows reports whether rows are estimated first: when most of them can then be
// left alone, and lie close enough for that to cost a fraction of their scores.
func (q *search) narrows(k int, rows []uint32) bool {
	return len(rows) >= q.narrowRows && k <= len(rows)/4 &&
		int(rows[len(rows)-1]-rows[0]) < 4*len(rows)
}

// contenders are the rows of all parts, ascending, that may be among the best k. No
// score is needed of the others: k rows are better for certain.
func (q *search) contenders(k int, parts [][]uint32, estimates estimator) []uint32 {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	room := estimatePool.Get().(*[]estimate)
	defer estimatePool.Put(room)
	*room = slices.Grow((*room)[:0], size)[:size]
	found := make([][]estimate, len(parts))
	taken := 0
	for i, part := range parts {
		found[i] = (*room)[taken:taken]
		taken += len(part)
	}
	eachPart(parts, func(part int, rows []uint32) {
		all := found[part]
		for block := range slices.Chunk(rows, blockRows) {
			if q.ctx.Err() != nil {
				return // the caller looks at it
			}
			all = all[:len(all)+len(estimates(block, all[len(all):]))]
		}
		found[part] = all
	})
	return surviving(found, k)
}

// estimatePool holds room for estimates between searches.
var estimatePool = sync.Pool{New: func() any { return new([]estimate) }}

// surviving are the rows whose best case is not below the k-th best worst case, and
// few more.
func surviving(parts [][]estimate, k int) []uint32 {
	floor := floorOf(parts, k)
	rows := make([]uint32, 0, 2*k)
	for _, part := range parts {
		for i := range part {
			if e := &part[i]; !(e.most < floor) { // NaN may be anything
				rows = append(rows, e.row)
			}
		}
	}
	return rows
}

// floorOf is what the worst cases of k rows reach, and not much lower than the k-th
// best of them; of none it is +Inf, and with fewer rows -Inf. It counts digit by digit,
// of all but the last bits, as a sort from the highest digit on would do.
func floorOf(parts [][]estimate, k int) float32 {
	if k <= 0 {
		return float32(math.Inf(1))
	}
	var counts [1 << floorDigit]int32
	prefix, rank := uint32(0), k
	for shift := 32 - floorDigit; shift >= 0; shift -= floorDigit {
		clear(counts[:])
		for _, part := range parts {
			countDigit(&counts, part, prefix, shift)
		}
		at := 0
		for ; at < len(counts) && rank > int(counts[at]); at++ {
			rank -= int(counts[at])
		}
		if at == len(counts) {
			return float32(math.Inf(-1))
		}
		prefix = prefix<<floorDigit | uint32(at)
	}
	const rest = 32 % floorDigit
	return rising((prefix+1)<<rest - 1)
}

// floorDigit is how many bits are counted at a time.
const floorDigit = 12

// countDigit counts the digit above shift of the worst cases that begin with prefix.
func countDigit(counts *[1 << floorDigit]int32, part []estimate, prefix uint32, shift int) {
	for i := range part {
		if key := falling(worst(part[i].least)); uint64(key)>>(shift+floorDigit) == uint64(prefix) {
			counts[key>>shift&(1<<floorDigit-1)]++
		}
	}
}

// worst is the score, or the lowest for one that is not known.
func worst(score float32) float32 {
	if score != score {
		return float32(math.Inf(-1))
	}
	return score
}
