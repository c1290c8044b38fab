package embedded

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// Words implements engine.Lexicon.
func (e *Engine) Words(ctx context.Context, req *engine.WordsRequest) ([]engine.Word, error) {
	s, text, accept, err := e.lexicon(ctx, &req.KB, req.Field, &req.Filter)
	if err != nil {
		return nil, err
	}
	found := text.Words(ctx, &bm25.WordsQuery{
		Prefix: req.Prefix, Keep: req.Keep(), Words: req.Words, Accept: accept, Limit: req.Limit,
		Samples: req.Samples,
	})
	words := make([]engine.Word, len(found))
	for i, w := range found {
		words[i] = engine.Word{Text: w.Text, Chunks: w.Chunks}
		for _, row := range w.Keys {
			words[i].In = append(words[i].In, s.records.at(row).id)
		}
	}
	return words, sqlite.Fault(ctx.Err(), "reading words")
}

// Openings implements engine.Lexicon.
func (e *Engine) Openings(ctx context.Context, req *engine.OpeningsRequest) ([]string, error) {
	s, text, accept, err := e.lexicon(ctx, &req.KB, req.Field, &req.Filter)
	if err != nil {
		return nil, err
	}
	rows := text.Openings(ctx, req.Words, req.Within, engine.OpeningsExamined, accept)
	rows = engine.Spread(rows, req.Limit, req.PerDocument, func(row uint32) string { return s.records.at(row).documentID })
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = s.records.at(row).id
	}
	return ids, sqlite.Fault(ctx.Err(), "reading words")
}

// lexicon returns a text index and the rows of it that may be seen.
func (e *Engine) lexicon(
	ctx context.Context, kb *engine.KnowledgeBase, field string, filter *engine.Filter,
) (*snapshot, *bm25.Snapshot, func(uint32) bool, error) {
	b, s, err := e.snapshot(ctx, kb)
	if err != nil {
		return nil, nil, nil, err
	}
	i := slices.Index(b.texts, field)
	if i < 0 {
		return nil, nil, nil, fault.Invalid("field", field, engine.OneOf("a text field", b.texts))
	}
	f := filterer{snapshot: s, texts: b.texts}
	selected, err := f.run(ctx, filter)
	if err != nil {
		return nil, nil, nil, err
	}
	return s, s.texts[i], selected.accept(), nil
}
