package embedded

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/lib/sqlite"
	"github.com/hybridge-search/hybridge/textquery"
)

// selection is the rows that a search may return. rows must not be changed.
type selection struct {
	rows *roaring.Bitmap
	all  bool // every live row
}

// list gives the rows in ascending order.
func (s *selection) list(snap *snapshot) []uint32 {
	if s.rows == snap.visible {
		return snap.rows()
	}
	return s.rows.ToArray()
}

// accept is for bm25's Search; nil accepts every row of the index.
func (s *selection) accept() func(row uint32) bool {
	if s.all {
		return nil
	}
	return s.rows.Contains
}

// filterer evaluates a filter on a snapshot; texts name its text indexes.
type filterer struct {
	snapshot *snapshot
	texts    []string
}

func (f *filterer) run(ctx context.Context, wanted *engine.Filter) (selection, error) {
	s := f.snapshot
	if wanted.IDs == nil && wanted.Owner == "" &&
		len(wanted.Conditions)+len(wanted.Required)+len(wanted.Excluded)+len(wanted.Except) == 0 {
		return selection{rows: s.visible, all: s.visible.GetCardinality() == s.live.GetCardinality()}, nil
	}
	rows := s.visible.Clone()
	if wanted.IDs != nil {
		rows.And(s.withIDs(wanted.IDs))
	}
	if len(wanted.Except) > 0 {
		rows.AndNot(s.withIDs(wanted.Except))
	}
	if wanted.Owner != "" {
		owner := filter.Condition{Field: fieldOwner, In: []filter.Value{{V: wanted.Owner}}}
		rows.And(s.holding(&owner))
	}
	for i := range wanted.Conditions {
		if ctx.Err() != nil {
			break
		}
		restrict(rows, s.holding(&wanted.Conditions[i]), wanted.Conditions[i].Not)
	}
	if err := f.phrases(ctx, wanted, rows); err != nil {
		return selection{}, err
	}
	// After a cancellation, rows may contain too many.
	return selection{rows: rows}, sqlite.Fault(ctx.Err(), "filtering")
}

// restrict keeps the rows in the set, or with not the others.
func restrict(rows, set *roaring.Bitmap, not bool) {
	if not {
		rows.AndNot(set)
		return
	}
	rows.And(set)
}

func (f *filterer) phrases(ctx context.Context, wanted *engine.Filter, rows *roaring.Bitmap) error {
	fields := wanted.Fields
	if len(fields) == 0 {
		fields = f.texts
	}
	var indexes []int
	for _, name := range fields {
		i := slices.Index(f.texts, name)
		if i < 0 && len(wanted.Required)+len(wanted.Excluded) > 0 {
			return fault.Invalid("filter.fields", name, engine.OneOf("a text field", f.texts))
		}
		indexes = append(indexes, i)
	}
	for _, p := range wanted.Required {
		rows.And(f.containing(ctx, p, indexes))
	}
	for _, p := range wanted.Excluded {
		rows.AndNot(f.containing(ctx, p, indexes))
	}
	return nil
}

// containing gives the rows with the phrase in any of the text indexes.
func (f *filterer) containing(ctx context.Context, p textquery.Phrase, indexes []int) *roaring.Bitmap {
	out := roaring.New()
	for _, i := range indexes {
		out.Or(f.snapshot.texts[i].Match(ctx, p))
	}
	return out
}

func (s *snapshot) withIDs(ids []string) *roaring.Bitmap {
	out := roaring.New()
	for _, id := range ids {
		if row, found := s.row(id); found {
			out.Add(row)
		}
	}
	return out
}

// holding gives the rows for which the condition holds, ignoring its Not; rows deleted
// since may be among them. It agrees with filter.Condition.Matches.
func (s *snapshot) holding(c *filter.Condition) *roaring.Bitmap {
	out := roaring.New()
	for _, all := range c.AnyOf {
		rows := s.live.Clone()
		for i := range all {
			restrict(rows, s.holding(&all[i]), all[i].Not)
		}
		out.Or(rows)
	}
	if c.AnyOf != nil {
		return out
	}
	for _, seg := range s.segments {
		col := seg.columns[c.Field]
		switch {
		case c.Exists != nil && !*c.Exists:
			out.Or(seg.rows)
			if col != nil {
				out.AndNot(col.exists)
			}
		case col == nil:
		case c.Exists != nil:
			out.Or(col.exists)
		case c.Range != nil:
			col.addRange(c.Range, out)
		case c.Part != nil:
			col.addHolding(c.Part, out)
		default:
			for _, value := range c.In {
				col.addEqual(value, out)
			}
		}
	}
	return out
}
