package postgres

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/textquery"
)

// textIndex is what a text leg searches.
type textIndex interface {
	Docs() int
	Search(ctx context.Context, q *textquery.Query, k int, accept func(key uint32) bool) []bm25.Hit
	Scores(ctx context.Context, q *textquery.Query, keys []uint32) []float32
}

func (l *leg) bindBoosts(b *base) error {
	for _, boost := range l.Boosts {
		if !slices.Contains(b.texts, boost.Part) || l.Field != engine.FieldText {
			return fault.Invalid(l.Name+".boosts", boost.Part, engine.OneOf("a part that is indexed by itself", b.kb.Parts()))
		}
	}
	return nil
}

// index is that of the leg's field, with those of its parts where they are boosted.
func (q *search) index(l *leg) textIndex {
	if len(l.Boosts) == 0 {
		return q.keywords[l.Field].snapshot
	}
	combined := &bm25.Combined{Whole: q.keywords[l.Field].snapshot}
	for _, boost := range l.Boosts {
		combined.Parts = append(combined.Parts, bm25.Part{Snapshot: q.keywords[boost.Part].snapshot, Boost: boost.By})
	}
	return combined
}
