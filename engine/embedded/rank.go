package embedded

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/scoring"
)

// rank runs the legs in parallel, each for its own best K.
func (q *search) rank() {
	var group sync.WaitGroup
	for i := range q.legs {
		l := &q.legs[i]
		if l.Err != nil {
			continue
		}
		group.Go(func() {
			begun := time.Now()
			if l.isText() {
				l.ranked = q.rankText(l)
			} else {
				l.ranked = q.rankVector(l)
			}
			l.Took = time.Since(begun)
		})
	}
	group.Wait()
	q.merge()
}

// rankText asks for one hit more than K: when it ties with the K-th, ids decide
// which of all the ties stay.
func (q *search) rankText(l *leg) []scored {
	best := newTop(l.K, l.index.Docs(), &q.snapshot.records)
	hits := l.index.Search(q.ctx, l.Text, min(l.K, l.index.Docs())+1, q.selected.accept())
	if l.K > 0 && len(hits) > l.K && hits[l.K].Score == hits[l.K-1].Score {
		l.index.ScoreAll(q.ctx, l.Text, func(row uint32, score float32) {
			if score >= hits[l.K].Score && q.selected.rows.Contains(row) {
				best.offer(row, float64(score))
			}
		})
		return best.sorted()
	}
	for _, h := range hits {
		best.offer(h.Key, float64(h.Score))
	}
	return best.sorted()
}

func (q *search) rankVector(l *leg) []scored {
	if l.unit == nil {
		return nil
	}
	field := &q.snapshot.vectors[l.field]
	rows := q.selected.list(q.snapshot)
	if q.narrows(l.K, rows) {
		rows = q.near(l, rows)
	}
	return q.best(l.K, rows, func(rows []uint32, block []scored) []scored {
		var room [blockRows]float32
		cosines := room[:len(rows)]
		field.cosines(rows, l.unit, cosines)
		for i, c := range cosines {
			if c == c { // not NaN
				block = append(block, scored{rows[i], float64(c)})
			}
		}
		return block
	})
}

// near returns the rows that may have one of the K highest cosines.
func (q *search) near(l *leg, rows []uint32) []uint32 {
	least, most := q.snapshot.borrow(), q.snapshot.borrow()
	defer least.release()
	defer most.release()
	return q.contenders(l.K, rows, parallelRows, func(rows []uint32, lows, highs []float32) {
		q.snapshot.vectors[l.field].limits(rows, l.query, least, most)
		copy(lows, least.of(rows, lows))
		copy(highs, most.of(rows, highs))
		for i, c := range lows {
			if c != c { // a row without a vector
				highs[i] = float32(math.Inf(-1))
			}
		}
	})
}

// best gives the k of the rows with the highest scores.
func (q *search) best(k int, rows []uint32, score scorer) []scored {
	parts := divided(rows, min(runtime.GOMAXPROCS(0), len(rows)/parallelRows))
	tops := make([]*top, len(parts))
	for i := range tops {
		tops[i] = newTop(k, len(rows), &q.snapshot.records)
	}
	eachPart(parts, func(part int, rows []uint32) {
		block := make([]scored, 0, blockRows)
		for rows := range slices.Chunk(rows, blockRows) {
			if q.ctx.Err() != nil {
				return // the caller looks at it
			}
			for _, s := range score(rows, block) {
				tops[part].offer(s.row, s.score)
			}
		}
	})
	for _, t := range tops[1:] {
		for _, s := range t.kept {
			tops[0].offer(s.row, s.score)
		}
	}
	return tops[0].sorted()
}

// scorer appends the rows that take part, with their scores, to an empty block; rows
// ascend, at most blockRows. It runs on several processors.
type scorer func(rows []uint32, block []scored) []scored

// merge turns the rankings of all legs into hits and completes their observations.
func (q *search) merge() {
	position := map[uint32]int{}
	var rows []uint32
	for i := range q.legs {
		for _, s := range q.legs[i].ranked {
			if _, known := position[s.row]; !known {
				position[s.row] = len(rows)
				rows = append(rows, s.row)
			}
		}
	}
	q.fill(rows, q.rawScores)
	for i := range q.legs {
		for rank, s := range q.legs[i].ranked {
			q.hits[position[s.row]].Observations[i] = scoring.Observation{Rank: rank + 1, Raw: s.score}
		}
	}
}
