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
	room := estimatePool.Get().(*[]estimate)
	defer estimatePool.Put(room)
	*room = slices.Grow((*room)[:0], len(rows))[:len(rows)]
	parts := partsOf(rows, parallelRows)
	found := make([]estimated, len(parts))
	taken := 0
	for i, part := range parts {
		found[i] = estimated{rows: (*room)[taken:taken], low: maxFloat, high: -maxFloat}
		taken += len(part)
	}
	eachPart(parts, func(part int, rows []uint32) {
		for block := range slices.Chunk(rows, blockRows) {
			if q.ctx.Err() != nil {
				return // the caller looks at it
			}
			found[part].add(estimates(block, found[part].rows[len(found[part].rows):]))
		}
	})
	return surviving(found, k)
}

// estimatePool holds room for estimates between searches.
var estimatePool = sync.Pool{New: func() any { return new([]estimate) }}

const maxFloat = math.MaxFloat32

// estimated is a part of the rows, and between what its worst cases lie.
type estimated struct {
	rows      []estimate
	low, high float32
}

// add takes in a block that stands behind the rows already.
func (e *estimated) add(block []estimate) {
	e.rows = e.rows[:len(e.rows)+len(block)]
	for i := range block {
		if x := block[i].least; x < e.low {
			e.low = x
		}
		if x := block[i].least; x > e.high {
			e.high = x
		}
	}
}

// surviving are the rows whose best case is not below the k-th best worst case.
func surviving(parts []estimated, k int) []uint32 {
	f := floorOf(parts, k)
	rows := make([]uint32, 0, 2*k)
	for _, part := range parts {
		for i := range part.rows {
			if e := &part.rows[i]; !f.isAbove(e.most) {
				rows = append(rows, e.row)
			}
		}
	}
	return rows
}

// floor is what k worst cases reach, in steps between the lowest and the highest of
// all: what lies on a lower step is lower. The zero floor is above nothing.
type floor struct{ low, scale, step float32 }

func (f floor) isAbove(score float32) bool { return (score-f.low)*f.scale < f.step }

// floorOf finds the highest such step by counting.
func floorOf(parts []estimated, k int) floor {
	const steps = 4096 // a power of two
	low, high := float32(maxFloat), float32(-maxFloat)
	for _, part := range parts {
		low, high = min(low, part.low), max(high, part.high)
	}
	scale := (steps - 1) / (high - low)
	if !(scale > 0 && scale <= maxFloat) {
		return floor{} // no rows, or all the same, or too far apart to compute with
	}
	var counts [steps]int32
	for _, part := range parts {
		for i := range part.rows {
			counts[int((part.rows[i].least-low)*scale)&(steps-1)]++
		}
	}
	step, reached := steps, 0
	for step > 0 && reached < k {
		step--
		reached += int(counts[step])
	}
	return floor{low, scale, float32(step)}
}
