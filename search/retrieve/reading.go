package retrieve

import (
	"context"
	"math"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
)

// VectorField is the first vector field, empty if there is none.
func (t *target) VectorField() string {
	if fields := t.KB.FieldsOf(scoring.Vector); len(fields) > 0 {
		return fields[0]
	}
	return ""
}

// ReadChunks is the plain reader.
func (t *target) ReadChunks(ctx context.Context, ids []string) ([]engine.Chunk, error) {
	return engines.Ask(ctx, t.Subject, engines.CallChunks, t.Engine.Chunks, engine.ChunksRequest{KB: t.KB, IDs: ids})
}

// ParallelReads bounds how many requests for the chunks around hits run at a time.
const ParallelReads = 4

// neighbourPages bounds how many pages of a document are read for the neighbours of one hit:
// chunks that may not be shown can stand between them.
const (
	neighbourPages = 8
	neighbourPage  = 256
)

// Around reads chunks of a document of a subject that the search may show, by their ordinals, at
// most one for each.
func Around(ctx context.Context, r *ask.Asked, of int, page engine.DocumentChunksRequest) ([]engine.Chunk, error) {
	subject := &r.Subjects[of]
	wanted := page.To - page.From + 1
	page.KB, page.From, page.Limit = subject.KB, max(0, page.From), wanted
	var shown []engine.Chunk
	for range neighbourPages {
		read, err := engines.Ask(ctx, subject, engines.CallDocumentChunks, subject.Engine.DocumentChunks, page)
		if err != nil {
			return nil, err
		}
		for i := range read {
			if r.MayShow(of, &read[i]) {
				shown = append(shown, read[i])
			}
		}
		if len(read) < page.Limit || len(shown) >= wanted || subject.KB.Attach != nil {
			break
		}
		page.After, page.Limit = read[len(read)-1].ID, neighbourPage
	}
	return shown[:min(len(shown), wanted)], nil
}

// deferredScores are the raw scores to be read with the page.
type deferredScores struct {
	legs []engine.Leg
	of   []int                // the place in the plan of each leg
	raw  map[string][]float64 // the scores read, by the chunk's id
}

// defersScores reports whether the raw scores of hits that a leg did not return may be read
// with the page: they explain a hit and do not affect the ranking.
func (p *prepared) defersScores(sent []int) bool {
	needed := len(p.LegThresholds().Legs) > 0 || p.Plan.Threshold.ByRelevance() || p.Plan.Fusion.Method != scoring.RRF
	return p.DeferredScorer() != nil && p.demand.DeferScores && len(sent) > 1 && !needed
}

// unread are the scores of the legs that did not fail: the others are not asked again.
func (rt *Answered) unread(legs []engine.Leg, sent []int) deferredScores {
	d := deferredScores{raw: map[string][]float64{}}
	for i, at := range sent {
		if rt.Legs[at].err == nil {
			d.legs, d.of = append(d.legs, legs[i]), append(d.of, at)
		}
	}
	return d
}

// ReadPage reads the chunks of a page, and the deferred scores; it makes no request
// if all of them came with the hits.
func (rt *Answered) ReadPage(ctx context.Context, ids []string) ([]engine.Chunk, error) {
	if len(rt.Deferred.legs) == 0 {
		if chunks := rt.prefetched(ids); len(chunks) == len(ids) {
			return chunks, nil
		}
		return rt.ReadChunks(ctx, ids)
	}
	req := engine.ChunksRequest{KB: rt.KB, IDs: ids}
	var raw [][]float64
	chunks, err := engines.Ask(ctx, rt.Subject, engines.CallScoreChunks,
		func(ctx context.Context, req engine.ChunksRequest) (chunks []engine.Chunk, err error) {
			chunks, raw, err = rt.DeferredScorer().ScoreChunks(ctx, req, rt.Deferred.legs)
			return chunks, err
		}, req)
	if err != nil {
		return nil, err
	}
	for i := range chunks {
		rt.Deferred.raw[chunks[i].ID] = raw[i]
	}
	return chunks, nil
}

// prefetched gives the chunks that came with the hits; nil if one is missing.
func (rt *Answered) prefetched(ids []string) []engine.Chunk {
	if len(rt.chunks) < len(ids) {
		return nil
	}
	all := make([]engine.Chunk, 0, len(ids))
	for _, id := range ids {
		for i := range rt.chunks {
			if rt.chunks[i].ID == id {
				all = append(all, rt.chunks[i])
				break
			}
		}
	}
	return all
}

// FillIn adds the deferred scores of a chunk to its explanation.
func (d *deferredScores) FillIn(id string, legs []scoring.Contribution) {
	raw := d.raw[id]
	for i := range raw {
		l := &legs[d.of[i]]
		if l.Raw == nil && !math.IsNaN(raw[i]) {
			l.Raw = &raw[i]
		}
	}
}
