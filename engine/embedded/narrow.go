package embedded

import (
	"math"
	"slices"
	"sync"
)

// estimator writes between which limits the scores of at most blockRows ascending
// rows lie; -Inf for a row that takes no part. It runs on several processors.
type estimator func(rows []uint32, least, most []float32)

// estimates are limits of the scores of rows, in the order of these: the worst cases
// as falling makes numbers of them.
type estimates struct {
	worst []uint32
	most  []float32
}

// narrowRows is from how many rows on it is worth estimating them.
const narrowRows = 1024

// narrows reports whether rows are estimated first: when most of them can then be
// left alone, and lie close enough for that to cost a fraction of their scores.
func (q *search) narrows(k int, rows []uint32) bool {
	if len(rows) < q.narrowRows || k > len(rows)/4 {
		return false
	}
	l := q.snapshot.layout()
	return l.index(rows[len(rows)-1])-l.index(rows[0]) < 4*len(rows)
}

// contenders are those of the rows, which ascend, that may be among the best k. No
// score is needed of the others: k rows are better for certain. The rows are worked
// on in parts of at least so many.
func (q *search) contenders(k int, rows []uint32, least int, estimate estimator) []uint32 {
	all := estimatePool.Get().(*estimates)
	defer estimatePool.Put(all)
	all.resize(len(rows))
	parts := partsOf(rows, least)
	eachPart(parts, func(part int, rows []uint32) {
		from := 0
		for _, before := range parts[:part] {
			from += len(before)
		}
		room := make([]float32, min(len(rows), blockRows))
		for block := range slices.Chunk(rows, blockRows) {
			if q.ctx.Err() != nil {
				return // the caller looks at it
			}
			least := room[:len(block)]
			estimate(block, least, all.most[from:][:len(block)])
			all.fall(from, least)
			from += len(block)
		}
	})
	return all.surviving(rows, k)
}

// resize makes room for n rows, with anything in it.
func (e *estimates) resize(n int) {
	e.worst = slices.Grow(e.worst[:0], n)[:n]
	e.most = slices.Grow(e.most[:0], n)[:n]
}

// fall takes in the worst cases of the rows from one on.
func (e *estimates) fall(from int, least []float32) {
	worst := e.worst[from:][:len(least)]
	for i, x := range least {
		if x != x { // it is not known
			x = float32(math.Inf(-1))
		}
		worst[i] = falling(x)
	}
}

// estimatePool holds room for estimates between searches.
var estimatePool = sync.Pool{New: func() any { return new(estimates) }}

// surviving are those of the rows whose best case is not below the k-th best worst
// case, and few more.
func (e *estimates) surviving(rows []uint32, k int) []uint32 {
	floor := floorOf(e.worst, k)
	out := make([]uint32, 0, 2*k)
	for i, most := range e.most {
		if !(most < floor) { // NaN may be anything
			out = append(out, rows[i])
		}
	}
	return out
}

// floorOf is what the worst cases of k rows reach, and not much lower than the k-th
// best of them; of none it is +Inf, and with fewer rows -Inf. It counts digit by digit,
// of all but the last bits, as a sort from the highest digit on would do.
func floorOf(worst []uint32, k int) float32 {
	if k <= 0 {
		return float32(math.Inf(1))
	}
	var counts [1 << floorDigit]int32
	prefix, rank := uint32(0), k
	for shift := 32 - floorDigit; shift >= 0; shift -= floorDigit {
		clear(counts[:])
		countDigit(&counts, worst, prefix, shift)
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

// countDigit counts the digit above shift of the numbers that begin with prefix.
func countDigit(counts *[1 << floorDigit]int32, numbers []uint32, prefix uint32, shift int) {
	for _, x := range numbers {
		if digit := uint64(x)>>shift - uint64(prefix)<<floorDigit; digit < 1<<floorDigit {
			counts[digit]++
		}
	}
}
