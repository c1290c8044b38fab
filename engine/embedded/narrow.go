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

// contenders are the rows, ascending, that may be among the best k. No score is
// needed of the others: k rows are better for certain.
func (q *search) contenders(k int, rows []uint32, estimates estimator) []uint32 {
	all := estimatePool.Get().(*[]estimate)
	defer estimatePool.Put(all)
	*all = slices.Grow((*all)[:0], len(rows))[:len(rows)]
	parts := partsOf(rows, parallelRows)
	found := make([][]estimate, len(parts))
	begin := 0
	for i, part := range parts {
		found[i] = (*all)[begin : begin : begin+len(part)]
		begin += len(part)
	}
	eachPart(parts, func(part int, rows []uint32) {
		for block := range slices.Chunk(rows, blockRows) {
			if q.ctx.Err() != nil {
				return
			}
			taken := len(found[part])
			found[part] = found[part][:taken+len(estimates(block, found[part][taken:taken]))]
		}
	})
	return surviving(found, k)
}

// estimatePool holds room for estimates between searches.
var estimatePool = sync.Pool{New: func() any { return new([]estimate) }}

// surviving are the rows whose best case is not below the k-th best worst case.
func surviving(parts [][]estimate, k int) []uint32 {
	l := ladderOf(parts)
	floor := l.floor(parts, k)
	rows := make([]uint32, 0, 2*k)
	for _, part := range parts {
		for i := range part {
			if floor == 0 || l.step(part[i].most) >= floor {
				rows = append(rows, part[i].row)
			}
		}
	}
	return rows
}

// ladder divides the range of the worst cases into steps: a score on a lower step
// is lower. So the k-th best is found by counting, to a step.
type ladder struct{ low, scale float32 }

const steps = 4096 // a power of two

func ladderOf(parts [][]estimate) ladder {
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, part := range parts {
		for i := range part {
			if x := part[i].least; x < low {
				low = x
			}
			if x := part[i].least; x > high {
				high = x
			}
		}
	}
	return ladder{low, (steps - 1) / (high - low)}
}

// step of a score that is not below the range.
func (l ladder) step(score float32) int {
	x := (score - l.low) * l.scale
	if x >= steps-1 {
		return steps - 1
	}
	return int(x)
}

// floor is the highest step that k worst cases reach; 0 when that rules out none.
func (l ladder) floor(parts [][]estimate, k int) int {
	if !(l.scale > 0 && l.scale <= math.MaxFloat32) {
		return 0 // no rows, or all the same, or too far apart to compute with
	}
	var counts [steps]int32
	for _, part := range parts {
		for i := range part {
			counts[l.step(part[i].least)&(steps-1)]++
		}
	}
	floor, reached := steps, 0
	for floor > 0 && reached < k {
		floor--
		reached += int(counts[floor])
	}
	return floor
}
