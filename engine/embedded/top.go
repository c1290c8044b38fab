package embedded

import (
	"math"
	"slices"
	"strings"
)

// scored is a row with its score.
type scored struct {
	row   uint32
	score float64
}

// top keeps the best k rows, by score and then by chunk id. It collects more than k
// and cuts when it is full, so most rows cost one comparison with the floor.
type top struct {
	k       int
	records *records
	kept    []scored
	floor   float64 // k of the rows kept are at least as good
}

// leastRoom prevents frequent cuts for a small k.
const leastRoom = 64

func newTop(k, most int, r *records) *top {
	k = max(0, min(k, most))
	t := &top{k: k, records: r, floor: math.Inf(-1)}
	t.kept = make([]scored, 0, 2*k+leastRoom)
	if k == 0 {
		t.floor = math.NaN() // nothing qualifies
	}
	return t
}

// offer adds a row if it may belong to the best k so far.
func (t *top) offer(row uint32, score float64) {
	if !(score >= t.floor) {
		return
	}
	if len(t.kept) == cap(t.kept) {
		t.cut()
	}
	t.kept = append(t.kept, scored{row, score})
}

// cut sorts the rows and leaves the best k.
func (t *top) cut() {
	slices.SortFunc(t.kept, t.compare)
	if len(t.kept) > t.k {
		t.kept = t.kept[:t.k]
		t.floor = t.kept[t.k-1].score
	}
}

// compare puts the better row first; scores are never NaN.
func (t *top) compare(a, b scored) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	default:
		return strings.Compare(t.records.at(a.row).id, t.records.at(b.row).id)
	}
}

// sorted gives the best k rows, best first.
func (t *top) sorted() []scored {
	t.cut()
	return t.kept
}

// estimator writes bounds of the scores of at most blockRows ascending rows; -Inf for
// a row that takes no part. It is called from several goroutines at once.
type estimator func(rows []uint32, least, most []float32)

// narrowRows is the number of rows from which estimating pays off.
const narrowRows = 1024

// narrows reports whether to estimate rows first: when most of them can then be
// skipped, and they lie close enough together for estimating to cost a fraction of
// scoring.
func (q *search) narrows(k int, rows []uint32) bool {
	if len(rows) < q.narrowRows || k > len(rows)/4 {
		return false
	}
	l := q.snapshot.layout()
	return l.index(rows[len(rows)-1])-l.index(rows[0]) < 4*len(rows)
}

// contenders returns the rows that may be among the best k: for the others k rows are
// certainly better. rows ascend; work is divided into parts of at least so many rows.
func (q *search) contenders(k int, rows []uint32, least int, estimate estimator) []uint32 {
	worst, best := borrowList(len(rows)), borrowList(len(rows))
	defer lists.Put(worst)
	defer lists.Put(best)
	parts := partsOf(rows, least)
	eachPart(parts, func(part int, rows []uint32) {
		from := 0
		for _, before := range parts[:part] {
			from += len(before)
		}
		for block := range slices.Chunk(rows, blockRows) {
			if q.ctx.Err() != nil {
				return // the caller checks ctx
			}
			to := from + len(block)
			estimate(block, (*worst)[from:to], (*best)[from:to])
			from = to
		}
	})
	return surviving(rows, *worst, *best, k)
}

// surviving keeps the rows whose best case reaches the k-th best worst case, and a few
// more.
func surviving(rows []uint32, worst, best []float32, k int) []uint32 {
	floor := floorOf(worst, k)
	out := make([]uint32, 0, 2*k)
	for i, most := range best {
		if !(most < floor) { // NaN is unbounded
			out = append(out, rows[i])
		}
	}
	return out
}

// floorOf is a close lower bound of the k-th best of the worst cases: +Inf for k = 0, -Inf
// with fewer than k rows. It counts digit by digit from the highest on, as a radix sort
// would, and ignores the last bits.
func floorOf(worst []float32, k int) float32 {
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

// floorDigit is the number of bits counted at a time.
const floorDigit = 12

// countDigit counts the digit above shift among the scores that, mapped by falling,
// begin with prefix.
func countDigit(counts *[1 << floorDigit]int32, scores []float32, prefix uint32, shift int) {
	for _, x := range scores {
		if digit := uint64(falling(x))>>shift - uint64(prefix)<<floorDigit; digit < 1<<floorDigit {
			counts[digit]++
		}
	}
}

// falling maps a score to an integer that decreases with the score; NaN counts as the
// lowest score.
func falling(score float32) uint32 {
	if score != score {
		return math.MaxUint32
	}
	bits := math.Float32bits(score + 0)   // turns -0 into 0
	negative := uint32(int32(bits) >> 31) // all bits or none
	return bits ^ (math.MaxInt32 &^ negative)
}

// rising is the inverse of falling.
func rising(order uint32) float32 {
	if order>>31 == 0 {
		order = ^order &^ (1 << 31)
	}
	return math.Float32frombits(order)
}
