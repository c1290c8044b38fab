package retrieve

import (
	"context"
	"math"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/engines"
)

// deferredScores are the raw scores that a search left to be read with the page.
type deferredScores struct {
	legs []engine.Leg
	of   []int                // the place in the plan of each leg
	raw  map[string][]float64 // what was read, by the chunk's id
}

// deferScores leaves the raw scores of hits that a leg did not return to be read with
// the page, where they explain a hit and decide nothing.
func (rt *Retrieval) deferScores(req *engine.Request, sent []int) {
	_, can := rt.Engine.(engine.DeferredScorer)
	decides := len(rt.LegThresholds().Legs) > 0 || rt.Plan.Threshold.ByRelevance()
	if !can || !rt.demand.DeferScores || len(sent) < 2 || rt.Plan.Fusion.Method != scoring.RRF || decides {
		return
	}
	req.DeferScores = true
	rt.Deferred = deferredScores{legs: req.Legs, of: sent}
}

// ReadPage reads the chunks of a page, and the scores that were deferred; it asks
// for nothing when all of them came with the hits.
func (rt *Retrieval) ReadPage(ctx context.Context, ids []string) ([]engine.Chunk, error) {
	rt.Deferred.dropFailed(rt.Legs)
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
			chunks, raw, err = rt.Engine.(engine.DeferredScorer).ScoreChunks(ctx, req, rt.Deferred.legs)
			return chunks, err
		}, req)
	if err != nil {
		return nil, err
	}
	if rt.Deferred.raw == nil {
		rt.Deferred.raw = make(map[string][]float64, len(chunks))
	}
	for i := range chunks {
		rt.Deferred.raw[chunks[i].ID] = raw[i]
	}
	return chunks, nil
}

// prefetched are those of the chunks that came with the hits.
func (rt *Retrieval) prefetched(ids []string) []engine.Chunk {
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

// dropFailed leaves out the legs that failed: they are not asked again.
func (d *deferredScores) dropFailed(legs []leg) {
	running := deferredScores{raw: d.raw}
	for i, of := range d.of {
		if legs[of].err == nil {
			running.legs, running.of = append(running.legs, d.legs[i]), append(running.of, of)
		}
	}
	*d = running
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
