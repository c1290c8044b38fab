package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Words implements engine.Lexicon.
func (e *Engine) Words(ctx context.Context, req *engine.WordsRequest) ([]engine.Word, error) {
	var words []engine.Word
	err := e.withLexicon(ctx, &req.KB, req.Field, &req.Filter, func(ctx context.Context, l *lexicon) error {
		found := l.index.Words(ctx, &bm25.WordsQuery{
			Prefix: req.Prefix, Keep: req.Keep(), Words: req.Words, Accept: l.accept, Limit: req.Limit,
			Samples: req.Samples,
		})
		var keys []uint32
		for i := range found {
			keys = append(keys, found[i].Keys...)
		}
		chunks, err := e.identify(ctx, l.base, keys)
		if err != nil {
			return err
		}
		words = make([]engine.Word, 0, len(found))
		for _, w := range found {
			word := engine.Word{Text: w.Text, Chunks: w.Chunks}
			for _, key := range w.Keys {
				if chunk, there := chunks[key]; there {
					word.In = append(word.In, chunk.id)
				}
			}
			if len(word.In) > 0 {
				words = append(words, word)
			}
		}
		return ctx.Err()
	})
	return words, err
}

// Openings implements engine.Lexicon.
func (e *Engine) Openings(ctx context.Context, req *engine.OpeningsRequest) ([]string, error) {
	var ids []string
	err := e.withLexicon(ctx, &req.KB, req.Field, &req.Filter, func(ctx context.Context, l *lexicon) error {
		keys := l.index.Openings(ctx, req.Words, req.Within, engine.OpeningsExamined, l.accept)
		chunks, err := e.identify(ctx, l.base, keys)
		if err != nil {
			return err
		}
		keys = slices.DeleteFunc(keys, func(key uint32) bool { _, there := chunks[key]; return !there })
		keys = engine.Spread(keys, req.Limit, req.PerDocument, func(key uint32) string { return chunks[key].document })
		ids = make([]string, len(keys))
		for i, key := range keys {
			ids[i] = chunks[key].id
		}
		return ctx.Err()
	})
	return ids, err
}

// lexicon is a keyword index with the rows that may be seen.
type lexicon struct {
	base   *base
	index  *bm25.Snapshot
	accept func(row uint32) bool // nil: all
}

func (e *Engine) withLexicon(
	ctx context.Context, kb *engine.KnowledgeBase, field string, filter *engine.Filter,
	do func(context.Context, *lexicon) error,
) error {
	return e.withShape(ctx, kb, func(b *base) error {
		return e.reading(ctx, func(ctx context.Context) error {
			l, err := e.lexicon(ctx, b, field, filter)
			if err == nil {
				err = do(ctx, l)
			}
			return wrapUnlessReplaced(err, "reading the words of knowledge base %q", b.kb.ID)
		})
	})
}

func (e *Engine) lexicon(ctx context.Context, b *base, field string, filter *engine.Filter) (*lexicon, error) {
	fields := []string{field}
	phrases := len(filter.Required)+len(filter.Excluded) > 0
	if phrases {
		fields = append(fields, phraseFieldsOf(b, filter)...)
	}
	for i, name := range fields {
		if !slices.Contains(b.texts, name) {
			return nil, fault.Invalid([]string{"field", "filter.fields"}[min(i, 1)], name, engine.OneOf("a text field", b.texts))
		}
	}
	s, indexes, err := e.indexesNow(ctx, b, fields)
	if err != nil {
		return nil, err
	}
	l := &lexicon{base: b, index: indexes[field].snapshot}
	if restrictsNothing(filter) && s.hidden == 0 {
		return l, nil
	}
	rows, err := e.passing.rows(ctx, e, b, s.generation, whereOf(filter))
	if err != nil {
		return nil, err
	}
	if phrases {
		rows = rows.Clone()
		in := make([]*bm25.Snapshot, 0, len(fields)-1)
		for _, name := range fields[1:] {
			in = append(in, indexes[name].snapshot)
		}
		for _, p := range filter.Required {
			rows.And(matching(ctx, p, in))
		}
		for _, p := range filter.Excluded {
			rows.AndNot(matching(ctx, p, in))
		}
	}
	l.accept = rows.Contains
	return l, ctx.Err()
}

func phraseFieldsOf(b *base, filter *engine.Filter) []string {
	if len(filter.Fields) == 0 {
		return b.texts
	}
	return filter.Fields
}

// indexesNow returns the current keyword indexes.
func (e *Engine) indexesNow(ctx context.Context, b *base, fields []string) (*state, map[string]keyword, error) {
	waiting, stop := context.WithTimeout(ctx, e.keywordWait(false))
	defer stop()
	for {
		s, err := b.state(ctx, e.pool)
		if err != nil {
			return nil, nil, err
		}
		indexes, moved := e.keywordIndexes(waiting, b, s, fields)
		if moved && waiting.Err() == nil {
			continue
		}
		for _, index := range indexes {
			if index.err != nil {
				return nil, nil, index.err
			}
		}
		return s, indexes, nil
	}
}

// identity is a row's chunk id and document id.
type identity struct{ id, document string }

// identify returns the rows that still exist.
func (e *Engine) identify(ctx context.Context, b *base, keys []uint32) (map[uint32]identity, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	answer, err := e.pool.Query(ctx, "SELECT row, id, document_id FROM "+b.table.name+
		" WHERE row = ANY($1) AND available", rowsOf(keys))
	if err != nil {
		return nil, err
	}
	all := make(map[uint32]identity, len(keys))
	var row int64
	var one identity
	_, err = pgx.ForEachRow(answer, []any{&row, &one.id, &one.document}, func() error {
		all[uint32(row)] = one //nolint:gosec // a row number, bounded where it is given out
		return nil
	})
	return all, err
}

// passingCache caches the rows that pass a filter until the knowledge base changes: typing
// needs the same rows for each letter.
type passingCache struct {
	mu  sync.Mutex
	all map[passingKey]*roaring.Bitmap
}

type passingKey struct {
	number     int64
	generation int64
	where      string // with its arguments
}

// maxPassing bounds the memory: a set of a million rows takes 130 kB.
const maxPassing = 64

// rows must not be changed.
func (c *passingCache) rows(
	ctx context.Context, e *Engine, b *base, generation int64, w *where,
) (*roaring.Bitmap, error) {
	args, err := json.Marshal(w.args)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the arguments of a filter")
	}
	key := passingKey{b.table.number, generation, b.table.name + w.String() + string(args)}
	c.mu.Lock()
	known := c.all[key]
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	answer, err := e.pool.Query(ctx, fmt.Sprintf("SELECT row FROM %s WHERE %s", b.table.name, w), w.args...)
	if err != nil {
		return nil, err
	}
	rows := roaring.New()
	var row int64
	if _, err := pgx.ForEachRow(answer, []any{&row}, func() error {
		rows.Add(uint32(row)) //nolint:gosec // a row number, bounded where it is given out
		return nil
	}); err != nil {
		return nil, err
	}
	rows.RunOptimize()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || len(c.all) >= maxPassing {
		c.all = map[passingKey]*roaring.Bitmap{}
	}
	c.all[key] = rows
	return rows, nil
}
