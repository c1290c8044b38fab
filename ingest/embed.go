package ingest

import (
	"context"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// want is a vector to be made: of which pending chunk, for which field.
type want struct {
	pending int
	field   string
	text    string
}

// embed gives the batch's chunks the vectors they lack. A chunk whose vector
// cannot be made fails rather than being written without: it would be found by
// keywords only, and nothing would ever mend it.
func (p *Pipeline) embed(ctx context.Context, kb *engine.KnowledgeBase, b *batch) {
	errs, down := p.makeMissing(ctx, kb, b)
	if len(b.pending) == len(errs) {
		b.down = down
	}
	b.fail(errs)
}

// makeMissing sets vectors and gives the errors by position among the pending
// chunks; down is set when the service failed for another reason than a text.
func (p *Pipeline) makeMissing(
	ctx context.Context, kb *engine.KnowledgeBase, b *batch,
) (errs map[int]error, down error) {
	if p.embedder == nil || kb.Dimensions == 0 {
		return nil, nil
	}
	wants := p.wants(kb, b)
	if len(wants) == 0 {
		return nil, nil
	}
	m := maker{embedder: p.embedder, kb: kb, batch: b, errs: map[int]error{}}
	if err := catalog.CheckModel(kb, p.embedder.Model()); err != nil {
		m.fail(wants, err)
		return m.errs, nil
	}
	down = m.make(ctx, wants)
	return m.errs, down
}

func (p *Pipeline) wants(kb *engine.KnowledgeBase, b *batch) []want {
	var wants []want
	for i := range b.pending {
		chunk := &b.pending[i].chunk
		for _, f := range missingVectors(kb, chunk) {
			text := clip(chunk.FieldText(f.Source), p.options.MaxEmbed)
			wants = append(wants, want{pending: i, field: f.Name, text: text})
		}
	}
	return wants
}

// maker makes the vectors of one batch.
type maker struct {
	embedder Embedder
	kb       *engine.KnowledgeBase
	batch    *batch
	errs     map[int]error
}

// make embeds all texts in one call. A text that the service refuses is found
// by halving, so that it fails alone.
func (m *maker) make(ctx context.Context, wants []want) (down error) {
	vectors, err := m.embedder.Passages(ctx, textsOf(wants))
	if err == nil && len(vectors) != len(wants) {
		err = fault.New(fault.Unavailable, "the embedding service gave %d vectors for %d texts", len(vectors), len(wants))
	}
	if err == nil {
		for i, w := range wants {
			m.set(w, vectors[i])
		}
		return nil
	}
	if kind := fault.KindOf(err); kind != fault.InvalidArgument && kind != fault.TooLarge {
		m.fail(wants, err)
		return err
	}
	if len(wants) == 1 {
		m.fail(wants, err)
		return nil
	}
	half := len(wants) / 2
	if down := m.make(ctx, wants[:half]); down != nil {
		m.fail(wants[half:], down)
		return down
	}
	return m.make(ctx, wants[half:])
}

func (m *maker) set(w want, vector []float32) {
	if len(vector) == m.kb.Dimensions {
		m.batch.pending[w.pending].chunk.Vectors[w.field] = vector
		return
	}
	err := fault.New(fault.Conflict, "the embedding model gives %d dimensions and knowledge base %q has %d",
		len(vector), m.kb.ID, m.kb.Dimensions)
	err.Field = w.field
	m.errs[w.pending] = err
}

func (m *maker) fail(wants []want, err error) {
	for _, w := range wants {
		m.errs[w.pending] = err
	}
}

func textsOf(wants []want) []string {
	texts := make([]string, len(wants))
	for i, w := range wants {
		texts[i] = w.text
	}
	return texts
}

// clip cuts at a rune.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
