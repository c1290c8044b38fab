package storage

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Refit gives chunks the vectors that another schema needs: their own where those can
// stay, new ones where the model or the embedded text changes.
func (s *Store) Refit(
	ctx context.Context, from, to *engine.KnowledgeBase, chunks []*engine.Chunk,
) ([]*engine.Chunk, error) {
	refit := engine.NewRefit(from, to)
	if refit.Same() {
		return chunks, nil
	}
	fitted := make([]*engine.Chunk, len(chunks))
	for i, c := range chunks {
		bare := *c
		bare.Vectors = refit.Keep(c.Vectors)
		fitted[i] = &bare
	}
	if len(refit.Made) == 0 || len(chunks) == 0 {
		return fitted, nil
	}
	if s.embed == nil {
		return nil, fault.New(fault.Unsupported, "embedding model %q is not configured at this gateway", to.EmbeddingModel)
	}
	for _, field := range refit.Made {
		if err := s.embedField(ctx, to, field, fitted); err != nil {
			return nil, err
		}
	}
	return fitted, nil
}

// embedField sets the vectors of one field where there is a text.
func (s *Store) embedField(
	ctx context.Context, to *engine.KnowledgeBase, field engine.Field, chunks []*engine.Chunk,
) error {
	var texts []string
	var of []*engine.Chunk
	for _, c := range chunks {
		if text := c.EmbeddedText(field.Source); text != "" {
			texts, of = append(texts, text), append(of, c)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := s.embed(ctx, to.EmbeddingModel, texts)
	if err != nil {
		return err
	}
	if len(vectors) != len(texts) {
		return fault.New(fault.Unavailable, "the embedding service gave %d vectors for %d texts", len(vectors), len(texts))
	}
	for i, c := range of {
		c.Vectors[field.Name] = vectors[i]
	}
	return nil
}
