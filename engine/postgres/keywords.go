package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/fault"
)

// keyword is the keyword index of a text field as a search got it.
type keyword struct {
	snapshot *bm25.Snapshot
	err      error // why there is none
}

// keywordIndexes gives the indexes of text fields at the generation of a state, as far
// as they are there before ctx ends; moved says that one of them is newer already.
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

// keywordFault says in the caller's terms why there is no keyword index; nil for nil.
func (b *base) keywordFault(err error) error {
	var moved *tiered.MovedError
	if errors.As(err, &moved) { // writes went on for as long as the caller could wait
		return fault.Wrap(fault.Unavailable, err, "the keyword index of knowledge base %q", b.kb.ID)
	}
	return faultOf(err, "the keyword index of knowledge base %q", b.kb.ID)
}

// patience is how long those wait for a keyword index whom nothing else can answer: words
// alone, a filter with phrases, a writer who asked for what it wrote to be found.
const patience = 10 * time.Second

// keywordWait is how long a search waits for keyword indexes.
func (e *Engine) keywordWait(alone bool) time.Duration {
	if alone {
		return max(patience, e.options.KeywordWait)
	}
	return e.options.KeywordWait
}

// refresh brings the keyword indexes up to what was written, so that a search which
// follows does not wait. It fails nobody: the write is committed, and what could not be
// made ready here is asked for again by that search.
func (e *Engine) refresh(ctx context.Context, b *base) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for again := true; again && ctx.Err() == nil; {
		s, err := b.state(ctx, e.pool)
		if err != nil {
			return
		}
		_, again = e.keywordIndexes(ctx, b, s, b.texts)
	}
}
