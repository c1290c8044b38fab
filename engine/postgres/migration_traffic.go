package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// withShape is withBase for requests that depend on the shape. One of a later
// generation than this engine knows makes it look again; while a migration compares
// both shapes, the new one is asked for by its generation.
func (e *Engine) withShape(ctx context.Context, kb *engine.KnowledgeBase, do func(*base) error) error {
	if found, ok := e.shadows.Load(kb.Ref); ok {
		if b, ok := found.(*base); ok && b.kb.Generation == kb.Generation {
			return do(b)
		}
	}
	if b, err := e.base(ctx, kb.Ref); err == nil && b.kb.Generation < kb.Generation {
		e.forget(b)
	}
	return e.withBase(ctx, kb.Ref, do)
}

// current is a knowledge base in the shape that it has now.
func (e *Engine) current(ctx context.Context, b *base) (*base, error) {
	var same bool
	err := e.pool.QueryRow(ctx, `SELECT number = $3 AND COALESCE((definition ->> 'generation')::BIGINT, 0) = $4
		AND COALESCE(definition ->> 'vector_index', '') = $5 FROM knowledge_bases WHERE tenant = $1 AND id = $2`,
		b.kb.Tenant, b.kb.ID, b.table.number, b.kb.Generation, b.kb.VectorIndex).Scan(&same)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, faultOf(err, "looking at knowledge base %q", b.kb.ID)
	}
	if !same {
		e.forget(b)
	}
	return e.base(ctx, b.kb.Ref)
}

// suited gives chunks that were made for another shape the vectors of this one.
func (e *Engine) suited(ctx context.Context, b *base, req *engine.WriteRequest) ([]engine.Chunk, error) {
	refit := engine.NewRefit(&req.KB, &b.kb)
	if req.KB.Generation == b.kb.Generation || refit.Same() {
		return req.Chunks, nil
	}
	chunks := make([]engine.Chunk, len(req.Chunks))
	for i := range chunks {
		chunks[i] = req.Chunks[i]
		chunks[i].Vectors = refit.Keep(chunks[i].Vectors)
	}
	return chunks, e.embed(ctx, &b.kb, refit.Made, chunks)
}

// stale says that vectors were made for another shape than the table's.
func stale(kb *engine.KnowledgeBase, b *base) error {
	if kb.Generation == b.kb.Generation || kb.EmbeddingModel == b.kb.EmbeddingModel && kb.Dimensions == b.kb.Dimensions {
		return nil
	}
	return fault.New(fault.Unavailable, "knowledge base %q has changed its embedding model a moment ago; ask again",
		b.kb.ID)
}

// embed sets these vectors of the chunks that have a text for them.
func (e *Engine) embed(
	ctx context.Context, kb *engine.KnowledgeBase, fields []engine.Field, chunks []engine.Chunk,
) error {
	if len(fields) == 0 {
		return nil
	}
	if e.options.Embed == nil || kb.EmbeddingModel == "" {
		return fault.New(fault.Unsupported,
			"knowledge base %q needs vectors of embedding model %q, which this gateway does not have", kb.ID, kb.EmbeddingModel)
	}
	for _, field := range fields {
		if err := e.embedField(ctx, kb, field, chunks); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) embedField(
	ctx context.Context, kb *engine.KnowledgeBase, field engine.Field, chunks []engine.Chunk,
) error {
	var texts []string
	var of []int
	for i := range chunks {
		if text := chunks[i].EmbeddedText(field.Source); text != "" {
			texts, of = append(texts, text), append(of, i)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := e.options.Embed(ctx, kb.EmbeddingModel, texts)
	if err != nil {
		return err
	}
	if len(vectors) != len(texts) {
		return fault.New(fault.Unavailable, "the embedding service gave %d vectors for %d texts", len(vectors), len(texts))
	}
	for i, vector := range vectors {
		chunks[of[i]].Vectors[field.Name] = vector
	}
	return nil
}
