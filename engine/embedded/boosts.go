package embedded

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
	ScoreAll(ctx context.Context, q *textquery.Query, each func(key uint32, score float32))
	Scores(ctx context.Context, q *textquery.Query, keys []uint32) []float32
}

// bindBoosts finds the indexes of the parts that are boosted.
func (l *leg) bindBoosts(b *base) error {
	for _, boost := range l.Boosts {
		at := slices.Index(b.texts, boost.Part)
		if at < 0 || l.Field != engine.FieldText {
			return fault.Invalid(l.Name+".boosts", boost.Part, engine.OneOf("a part that is indexed by itself", b.kb.Parts()))
		}
		l.parts = append(l.parts, at)
	}
	return nil
}

// index is that of the leg's field, with those of its parts where they are boosted.
func (l *leg) index(s *snapshot) textIndex {
	if len(l.parts) == 0 {
		return s.texts[l.field]
	}
	combined := &bm25.Combined{Whole: s.texts[l.field]}
	for i, at := range l.parts {
		combined.Parts = append(combined.Parts, bm25.Part{Snapshot: s.texts[at], Boost: l.Boosts[i].By})
	}
	return combined
}
