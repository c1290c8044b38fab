package engine

import (
	"context"

	"github.com/hybridge-search/hybridge/fault"
)

// Embed embeds texts with a model, [len(texts)][dim]float32; nil: no model is configured.
type Embed func(ctx context.Context, model string, texts []string) ([][]float32, error)

// Refit returns copies of chunks with the vectors of another shape: existing vectors where possible, new ones
// where the model or the embedded text changes.
func (e Embed) Refit(ctx context.Context, from, to *KnowledgeBase, chunks []*Chunk) ([]*Chunk, error) {
	refit := NewRefit(from, to)
	if refit.Same() {
		return chunks, nil
	}
	fitted := make([]*Chunk, len(chunks))
	for i, c := range chunks {
		bare := *c
		bare.Vectors = refit.Keep(c.Vectors)
		fitted[i] = &bare
	}
	return fitted, e.Fill(ctx, to, refit.Made, fitted)
}

// RefitWritten adapts the chunks of a write for an outdated shape to this one.
func (e Embed) RefitWritten(ctx context.Context, req *WriteRequest, to *KnowledgeBase) ([]Chunk, error) {
	if NewRefit(&req.KB, to).Same() {
		return req.Chunks, nil
	}
	chunks := make([]*Chunk, len(req.Chunks))
	for i := range chunks {
		chunks[i] = &req.Chunks[i]
	}
	fitted, err := e.Refit(ctx, &req.KB, to, chunks)
	if err != nil {
		return nil, err
	}
	written := make([]Chunk, len(fitted))
	for i, c := range fitted {
		written[i] = *c
	}
	return written, nil
}

// Fill embeds these fields of the chunks that have a text for them. If the model refuses one, the error names its
// chunk.
func (e Embed) Fill(ctx context.Context, kb *KnowledgeBase, fields []Field, chunks []*Chunk) error {
	if len(fields) == 0 || len(chunks) == 0 {
		return nil
	}
	if e == nil || kb.EmbeddingModel == "" {
		return fault.New(fault.Unsupported,
			"knowledge base %q needs vectors of embedding model %q, which this gateway does not have", kb.ID, kb.EmbeddingModel)
	}
	for _, field := range fields {
		if err := e.fill(ctx, kb, field, chunks); err != nil {
			return err
		}
	}
	return nil
}

func (e Embed) fill(ctx context.Context, kb *KnowledgeBase, field Field, chunks []*Chunk) error {
	var texts []string
	var of []*Chunk
	for _, c := range chunks {
		if text := ClipText(c.EmbeddedText(field.Source), MaxEmbedded); text != "" {
			texts, of = append(texts, text), append(of, c)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	embedded := EmbedEach(ctx, texts, func(ctx context.Context, texts []string) ([][]float32, error) {
		return e(ctx, kb.EmbeddingModel, texts)
	})
	if embedded.Outage != nil {
		return embedded.Outage
	}
	for i, c := range of {
		err := embedded.Refused[i]
		if err == nil && kb.Dimensions > 0 && len(embedded.Vectors[i]) != kb.Dimensions {
			err = kb.WrongDimensions(len(embedded.Vectors[i]))
		}
		if err != nil {
			return OfChunk(c, err)
		}
		if c.Vectors == nil {
			c.Vectors = map[string][]float32{}
		}
		c.Vectors[field.Name] = embedded.Vectors[i]
	}
	return nil
}

// CheckCurrent refuses a question's vector of another model or dimension than the storage has.
func (kb *KnowledgeBase) CheckCurrent(stored *KnowledgeBase) error {
	if kb.EmbeddingModel == stored.EmbeddingModel && kb.Dimensions == stored.Dimensions {
		return nil
	}
	return fault.New(fault.Unavailable, "knowledge base %q has changed its embedding model a moment ago; ask again", kb.ID)
}
