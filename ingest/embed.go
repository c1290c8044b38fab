package ingest

import (
	"context"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// missing is a vector to be made.
type missing struct {
	pending int // the index of its chunk
	field   string
	text    string
}

// embed makes the missing vectors of a batch. A chunk whose vector cannot be made fails and
// is not written: without it only keywords would find the chunk, and nothing would ever
// correct that.
func (p *Pipeline) embed(ctx context.Context, kb *engine.KnowledgeBase, b *batch) {
	errs, outage := p.embedMissing(ctx, kb, b)
	if len(b.pending) == len(errs) {
		b.outage = outage
	}
	b.fail(errs)
}

// embedMissing sets the missing vectors and returns the errors by index in pending. outage
// is set if the service failed and not because of a text.
func (p *Pipeline) embedMissing(
	ctx context.Context, kb *engine.KnowledgeBase, b *batch,
) (errs map[int]error, outage error) {
	embedder := p.embedderOf(kb)
	if embedder == nil || kb.Dimensions == 0 {
		return nil, nil
	}
	all := p.missing(kb, b)
	if len(all) == 0 {
		return nil, nil
	}
	e := batchEmbedder{embedder: embedder, kb: kb, batch: b, errs: map[int]error{}}
	if err := catalog.CheckModel(kb, embedder.Model()); err != nil {
		e.fail(all, err)
		return e.errs, nil
	}
	outage = e.embed(ctx, all)
	return e.errs, outage
}

// embedderOf is that of the knowledge base's model: a further one, or the usual one.
func (p *Pipeline) embedderOf(kb *engine.KnowledgeBase) Embedder {
	if further, ok := p.options.Embedders[kb.EmbeddingModel]; ok {
		return further
	}
	return p.embedder
}

func (p *Pipeline) missing(kb *engine.KnowledgeBase, b *batch) []missing {
	var all []missing
	for i := range b.pending {
		chunk := &b.pending[i].chunk
		for _, f := range missingVectors(kb, chunk) {
			text := clip(chunk.EmbeddedText(f.Source), p.options.MaxEmbed)
			all = append(all, missing{pending: i, field: f.Name, text: text})
		}
	}
	return all
}

// batchEmbedder makes the vectors of one batch.
type batchEmbedder struct {
	embedder Embedder
	kb       *engine.KnowledgeBase
	batch    *batch
	errs     map[int]error
}

// embed makes all vectors in one call. If the service refuses a text, it halves the batch to
// find that text, so that it fails alone.
func (e *batchEmbedder) embed(ctx context.Context, all []missing) (outage error) {
	vectors, err := e.embedder.Passages(ctx, textsOf(all))
	if err == nil && len(vectors) != len(all) {
		err = fault.New(fault.Unavailable, "the embedding service gave %d vectors for %d texts", len(vectors), len(all))
	}
	if err == nil {
		for i, m := range all {
			e.set(m, vectors[i])
		}
		return nil
	}
	if kind := fault.KindOf(err); kind != fault.InvalidArgument && kind != fault.TooLarge {
		e.fail(all, err)
		return err
	}
	if len(all) == 1 {
		e.fail(all, err)
		return nil
	}
	half := len(all) / 2
	if outage := e.embed(ctx, all[:half]); outage != nil {
		e.fail(all[half:], outage)
		return outage
	}
	return e.embed(ctx, all[half:])
}

func (e *batchEmbedder) set(m missing, vector []float32) {
	if len(vector) == e.kb.Dimensions {
		e.batch.pending[m.pending].chunk.Vectors[m.field] = vector
		return
	}
	err := fault.New(fault.Conflict, "the embedding model gives %d dimensions and knowledge base %q has %d",
		len(vector), e.kb.ID, e.kb.Dimensions)
	err.Field = m.field
	e.errs[m.pending] = err
}

func (e *batchEmbedder) fail(all []missing, err error) {
	for _, m := range all {
		e.errs[m.pending] = err
	}
}

func textsOf(all []missing) []string {
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = m.text
	}
	return texts
}

// clip cuts a text off after at most that many bytes, and after a whole rune.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
