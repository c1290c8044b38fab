package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/fault"
)

// keyword is the keyword index of a text field for one search.
type keyword struct {
	snapshot *bm25.Snapshot
	err      error // why it is unavailable
}

// keywordIndexes returns the indexes of text fields at the generation of a state, as far as
// they are ready before ctx ends; moved says that one of them is already newer.
func (e *Engine) keywordIndexes(
	ctx context.Context, b *base, s *state, fields []string,
) (all map[string]keyword, moved bool) {
	all = make(map[string]keyword, len(fields))
	for _, field := range fields {
		snapshot, err := e.keywords.At(ctx, b.index(e, field, s.epoch), s.generation)
		var newer *tiered.MovedError
		moved = moved || errors.As(err, &newer)
		all[field] = keyword{snapshot, b.keywordFault(err)}
	}
	return all, moved
}

// keywordFault explains to the caller why a keyword index is unavailable; nil for nil.
func (b *base) keywordFault(err error) error {
	var moved *tiered.MovedError
	if errors.As(err, &moved) { // continuous writes until the caller's deadline
		return fault.Wrap(fault.Unavailable, err, "the keyword index of knowledge base %q", b.kb.ID)
	}
	return faultOf(err, "the keyword index of knowledge base %q", b.kb.ID)
}

// keywordOnlyWait is the wait for a keyword index without alternative: keyword search, a
// filter with phrases, a write with Refresh.
const keywordOnlyWait = 10 * time.Second

// keywordWait is the longest wait of a search for keyword indexes.
func (e *Engine) keywordWait(alone bool) time.Duration {
	if alone {
		return max(keywordOnlyWait, e.options.KeywordWait)
	}
	return e.options.KeywordWait
}

// refresh updates the keyword indexes after a write, so that the next search does not wait.
// It never fails: the write is committed, and that search tries again.
func (e *Engine) refresh(ctx context.Context, b *base) {
	ctx, stop := context.WithTimeout(ctx, keywordOnlyWait)
	defer stop()
	for again := true; again && ctx.Err() == nil; {
		s, err := b.state(ctx, e.pool)
		if err != nil {
			return
		}
		_, again = e.keywordIndexes(ctx, b, s, b.texts)
	}
}
