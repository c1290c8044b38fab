package postgres

import (
	"context"
	"sync"
	"time"
)

// rank runs the legs, each for its own best K: the keyword indexes in memory in parallel
// with the database.
func (q *search) rank(ctx context.Context) error {
	if err := q.collect(ctx); err != nil {
		return err
	}
	rows := q.union()
	if err := q.complete(ctx, rows); err != nil {
		return err
	}
	rows = q.union() // of the existing rows
	q.order()
	q.fill(ctx, rows)
	position := make(map[int64]int, len(rows))
	for i, row := range rows {
		position[row] = i
	}
	for i := range q.legs {
		for rank, s := range q.legs[i].ranked {
			o := &q.hits[position[s.row]].Observations[i]
			o.Rank, o.Raw = rank+1, s.score
		}
	}
	return nil
}

// collect finds every leg's best K.
func (q *search) collect(ctx context.Context) error {
	var texts sync.WaitGroup
	for i := range q.legs {
		if l := &q.legs[i]; l.Err == nil && l.isText() {
			texts.Go(func() { q.searchText(ctx, l) })
		}
	}
	err := q.searchVectors(ctx)
	texts.Wait()
	if err != nil {
		return err
	}
	for i := range q.legs {
		if l := &q.legs[i]; l.Err == nil && l.isText() {
			begun := time.Now()
			if err := q.settleText(ctx, l); err != nil {
				return err
			}
			l.Took += time.Since(begun)
		}
	}
	return nil
}

// union lists the rows of all legs' rankings.
func (q *search) union() []int64 {
	seen := map[int64]bool{}
	var rows []int64
	for i := range q.legs {
		for _, s := range q.legs[i].ranked {
			if !seen[s.row] {
				seen[s.row] = true
				rows = append(rows, s.row)
			}
		}
	}
	return rows
}
