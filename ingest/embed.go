package ingest

import (
	"context"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
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
	errs = map[int]error{}
	fail := func(all []missing, err error) {
		for _, m := range all {
			errs[m.pending] = err
		}
	}
	if err := catalog.CheckModel(kb, embedder.Model()); err != nil {
		fail(all, err)
		return errs, nil
	}
	embedded := engine.EmbedEach(ctx, textsOf(all), embedder.Passages)
	for i, m := range all {
		switch vector := embedded.Vectors[i]; {
		case embedded.Refused[i] != nil:
			errs[m.pending] = embedded.Refused[i]
		case vector == nil && embedded.Outage != nil:
			errs[m.pending] = embedded.Outage
		case len(vector) != kb.Dimensions:
			errs[m.pending] = kb.WrongDimensions(len(vector))
		default:
			b.pending[m.pending].chunk.Vectors[m.field] = vector
		}
	}
	return errs, embedded.Outage
}

// embedderOf returns the embedder of the knowledge base's model: an additional one, or the default.
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

func textsOf(all []missing) []string {
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = m.text
	}
	return texts
}

// clip truncates a text to at most that many bytes, at a rune boundary.
func clip(text string, most int) string { return engine.ClipText(text, most) }
