package postgres

import (
	"context"
	"errors"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/bm25/tiered"
)

// keyword is the keyword index of a text field as a search got it.
type keyword struct {
	snapshot *bm25.Snapshot
	err      error // why there is none
}

// keywordIndexes gives the indexes of text fields at the generation of a state;
// moved says that one of them is newer already.
func (e *Engine) keywordIndexes(
	ctx context.Context, b *base, s *state, fields []string,
) (all map[string]keyword, moved bool) {
	all = make(map[string]keyword, len(fields))
	for _, field := range fields {
		snapshot, err := e.keywords.At(ctx, b.index(e, field, s.epoch), s.generation)
		var newer *tiered.MovedError
		moved = moved || errors.As(err, &newer)
		all[field] = keyword{snapshot, faultOf(err, "the keyword index of knowledge base %q", b.kb.ID)}
	}
	return all, moved
}
