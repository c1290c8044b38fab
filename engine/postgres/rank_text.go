package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/bm25"
)

// searchText asks the keyword index for one hit more than K, to see whether the K-th ties
// with the next. If the filter is not known as rows it asks for more, as some will not
// pass.
func (q *search) searchText(ctx context.Context, l *leg) {
	begun := time.Now()
	l.asked = l.K + 1
	if q.rows == nil && !q.unfiltered() {
		l.asked = 4*l.K + 16
	}
	q.askText(ctx, l)
	l.Took = time.Since(begun)
}

// index returns the index of the leg's field, with its boosted parts.
func (q *search) index(l *leg) bm25.Searcher {
	var parts []bm25.Part
	for _, boost := range l.Boosts {
		parts = append(parts, bm25.Part{Snapshot: q.keywords[boost.Part].snapshot, Boost: boost.By})
	}
	return bm25.Boosted(q.keywords[l.Field].snapshot, parts)
}

func (q *search) askText(ctx context.Context, l *leg) {
	index := q.index(l)
	var accept func(uint32) bool
	if q.accept != nil {
		accept = q.accept.Contains
	}
	l.asked = min(l.asked, index.Docs()+1)
	l.first = index.Search(ctx, l.Text, l.asked, accept)
}

// settleText selects a text leg's best K among the hits of the keyword index. Only the
// database knows which of them pass the filter, and the ids that break ties with the K-th.
func (q *search) settleText(ctx context.Context, l *leg) error {
	certain := q.accept != nil || q.unfiltered()
	if n := len(l.first); certain && (n <= l.K || l.K > 0 && l.first[l.K].Score < l.first[l.K-1].Score) {
		for _, h := range l.first[:min(n, l.K)] {
			l.ranked = append(l.ranked, scored{int64(h.Key), float64(h.Score)})
		}
		return nil
	}
	for {
		passed, err := q.passing(ctx, l)
		if err != nil {
			return err
		}
		all := len(l.first) < l.asked
		enough := len(passed) >= l.K && (l.K == 0 || passed[l.K-1].score > float64(l.first[len(l.first)-1].Score))
		if all || enough {
			l.ranked = passed[:min(len(passed), l.K)]
			return nil
		}
		l.asked *= 4
		q.askText(ctx, l)
	}
}

// passing returns the keyword hits that pass the filter, by score and then by id.
func (q *search) passing(ctx context.Context, l *leg) ([]scored, error) {
	rows := make([]int64, len(l.first))
	for i, h := range l.first {
		rows[i] = int64(h.Key)
	}
	w := q.where.clone()
	answer, err := q.conn.Query(ctx, fmt.Sprintf("SELECT row, id FROM %s WHERE row = ANY(%s) AND %s",
		q.base.table.name, w.bind(rows), w), w.args...)
	if err != nil {
		return nil, err
	}
	ids := make(map[int64]string, len(rows))
	var row int64
	var id string
	if _, err := pgx.ForEachRow(answer, []any{&row, &id}, func() error {
		ids[row] = id
		return nil
	}); err != nil {
		return nil, err
	}
	var passed []scored
	for _, h := range l.first {
		if _, passes := ids[int64(h.Key)]; passes {
			passed = append(passed, scored{int64(h.Key), float64(h.Score)})
		}
	}
	sortScored(passed, func(row int64) string { return ids[row] })
	return passed, nil
}

// byID compares two rows' ids as bytes.
func byID(id func(int64) string, a, b int64) int { return strings.Compare(id(a), id(b)) }
