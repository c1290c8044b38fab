package postgres

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// defaultSample is the number of chunks compared field by field.
const defaultSample = 200

// cosineTolerance is a difference of cosines beyond the rounding of half precision.
const cosineTolerance = 0.001

// check compares a fixed random sample of chunks. Chunks written since the last catch-up
// are excluded: counts are compared under the lock of the switch.
func (s *step) check(ctx context.Context) error {
	equal := "made.body = source.body AND made.metadata = source.metadata AND made.id = source.id" +
		" AND made.document_id = source.document_id AND made.available = source.available"
	from, to := &s.old.table, &s.new.table
	for _, v := range engine.NewRefit(&s.old.kb, &s.new.kb).Kept {
		equal += fmt.Sprintf(" AND (made.%[1]s IS NULL) = (source.%[1]s IS NULL) AND COALESCE(%[2]s <=> %[3]s, 0) < %[4]v",
			v, from.read("source."+v), to.read("made."+v), cosineTolerance)
	}
	var generation, row int64
	if _, err := fmt.Sscanf(cmp.Or(s.m.Cursor, "0/0"), "%d/%d", &generation, &row); err != nil {
		return fault.Wrap(fault.Corrupt, err, "the cursor %q of a migration", s.m.Cursor)
	}
	n := cmp.Or(s.m.Plan.Options.Sample, defaultSample)
	var compared, differing int
	err := s.pool.QueryRow(ctx, fmt.Sprintf(`SELECT COUNT(*), COUNT(*) FILTER (WHERE made.row IS NULL OR NOT (%s))
		FROM (SELECT * FROM %s WHERE (generation, row) <= ($1, $2) ORDER BY lot LIMIT $3) AS source
		LEFT JOIN %s AS made USING (row)`, equal, from.name, to.name), generation, row, n).Scan(&compared, &differing)
	if err != nil {
		return err
	}
	if differing > 0 {
		return s.m.Miss("samples", "%d of %d chunks differ", differing, compared)
	}
	s.m.Pass("samples", "%d chunks are alike", compared)
	return nil
}
