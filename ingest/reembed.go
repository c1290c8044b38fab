package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Reembedding says which vectors of a knowledge base to make.
type Reembedding struct {
	KB  string
	All bool // also of chunks that have theirs
}

// toldErrors is how many chunks of a re-embedding are named that could not have their vectors.
const toldErrors = 20

// Reembed checks that vectors can be made, and gives the work: it makes those that chunks lack, or all,
// reports after each few how many chunks it looked at of how many there are, and may be begun again whenever
// it ended. A chunk that is changed or deleted meanwhile stays as it is then. Chunks whose text the model
// refuses are named by the joined error, the others are done. fault.Unsupported for a knowledge base without
// vectors or a gateway without a model, fault.Conflict for vectors of another model.
func (p *Pipeline) Reembed(ctx context.Context, scope access.Scope, what Reembedding) (
	work func(ctx context.Context, report func(done, total int)) error, err error,
) {
	t, err := p.writable(ctx, scope, what.KB)
	if err != nil {
		return nil, err
	}
	if _, err := t.scanner(); err != nil {
		return nil, err
	}
	if t.kb.Dimensions == 0 {
		return nil, fault.New(fault.Unsupported, "knowledge base %q is for keyword search only: it has no vectors", t.kb.ID)
	}
	embedder := p.embedderOf(&t.kb)
	if embedder == nil {
		return nil, fault.New(fault.Unsupported, "this gateway has no embedding model (embedding.url)")
	}
	if err := catalog.CheckModel(&t.kb, embedder.Model()); err != nil {
		return nil, err
	}
	there, err := t.engine.Describe(ctx, t.kb)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, report func(done, total int)) error {
		return p.reembed(ctx, &t, what.All, func(done int) { report(done, max(done, there.Chunks)) })
	}, nil
}

func (p *Pipeline) reembed(ctx context.Context, t *target, all bool, report func(done int)) error {
	done := 0
	var failed []error
	report(0)
	err := t.eachPage(ctx, "", func(chunks []engine.Chunk) (bool, error) {
		for part := range slices.Chunk(chunks, tellEvery) {
			refused, err := p.reembedSome(ctx, t, all, part)
			if err != nil {
				return false, err
			}
			failed = append(failed, refused[:min(len(refused), toldErrors-len(failed))]...)
			done += len(part)
			report(done)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return errors.Join(failed...)
}

// reembedSome embeds chunks again and writes them; it returns one error per chunk.
func (p *Pipeline) reembedSome(ctx context.Context, t *target, all bool, chunks []engine.Chunk) ([]error, error) {
	b := &batch{}
	for i := range chunks {
		c := chunks[i]
		vectors := map[string][]float32{}
		for field, v := range c.Vectors {
			if !all || !embeddedHere(&t.kb, &c, field) {
				vectors[field] = v
			}
		}
		if c.Vectors = vectors; len(missingVectors(&t.kb, &c)) > 0 {
			b.add(c, 0)
		}
	}
	errs, outage := p.embedMissing(ctx, &t.kb, b)
	if outage != nil {
		return nil, outage
	}
	var failed []error
	for i := range b.pending {
		if errs[i] != nil {
			failed = append(failed, ofChunk(&b.pending[i].chunk, errs[i]))
		}
	}
	b.fail(errs)
	if len(b.pending) == 0 {
		return failed, nil
	}
	refused, err := t.writeVectors(ctx, b.chunks())
	return append(failed, refused...), err
}

// embeddedHere reports whether the vector of a field is embedded from the chunk's text.
func embeddedHere(kb *engine.KnowledgeBase, c *engine.Chunk, field string) bool {
	return slices.ContainsFunc(kb.Fields(), func(f engine.Field) bool {
		return f.Name == field && f.Source != "" && embeddable(c, f.Source)
	})
}

// writeVectors stores new vectors of chunks: of those that were changed since they were read whoever changed
// them made the vectors.
func (t *target) writeVectors(ctx context.Context, made []engine.Chunk) (failed []error, err error) {
	ids := make([]string, len(made))
	byID := make(map[string]*engine.Chunk, len(made))
	for i := range made {
		ids[i], byID[made[i].ID] = made[i].ID, &made[i]
	}
	outcomes, err := t.engine.ChangeChunks(ctx, engine.ChangeRequest{
		KB: t.kb, IDs: ids, Edit: func(c *engine.Chunk) (engine.Verdict, error) {
			if !sameTexts(&t.kb, c, byID[c.ID]) {
				return engine.Keep, nil
			}
			c.Vectors = byID[c.ID].Vectors
			return engine.Put, nil
		},
	})
	for _, o := range outcomes {
		if o.Err != nil {
			failed = append(failed, ofChunk(byID[o.ID], o.Err))
		}
	}
	return failed, err
}

// sameTexts reports whether two chunks embed the same.
func sameTexts(kb *engine.KnowledgeBase, x, y *engine.Chunk) bool {
	return !slices.ContainsFunc(kb.Fields(), func(f engine.Field) bool {
		return f.Source != "" && x.EmbeddedText(f.Source) != y.EmbeddedText(f.Source)
	})
}

// ofChunk says of which chunk an error is.
func ofChunk(c *engine.Chunk, err error) error { return engine.OfChunk(c, err) }
