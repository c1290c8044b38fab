package search

import (
	"context"
	"math"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// deferredScores are the raw scores that a search left to be read with the page.
type deferredScores struct {
	legs []engine.Leg
	of   []int // the place in the plan of each leg
	// What was read and belongs to no hit yet, in the order of the page.
	chunks []engine.Chunk
	raw    [][]float64
}

// deferScores leaves the raw scores of hits that a leg did not return to be read with
// the page, where they explain a hit and decide nothing.
func (rt *retrieval) deferScores(req *engine.Request, sent []int) {
	_, can := rt.Engine.(engine.DeferredScorer)
	decides := len(rt.legThresholds().Legs) > 0 || rt.Plan.Threshold.byRelevance()
	if !can || !rt.mayDefer || len(sent) < 2 || rt.Plan.Fusion.Method != scoring.RRF || decides {
		return
	}
	req.DeferScores = true
	rt.deferred = deferredScores{legs: req.Legs, of: sent}
}

// readPage reads the chunks of a page, and the scores that were deferred; it asks
// for nothing when all of them came with the hits.
func (rt *retrieval) readPage(ctx context.Context, ids []string) ([]engine.Chunk, error) {
	rt.deferred.dropFailed(rt.legs)
	if len(rt.deferred.legs) == 0 {
		if chunks := rt.prefetched(ids); len(chunks) == len(ids) {
			return chunks, nil
		}
		return rt.readChunks(ctx, ids)
	}
	req := engine.ChunksRequest{KB: rt.KB, IDs: ids}
	chunks, raw, err := rt.Engine.(engine.DeferredScorer).ScoreChunks(ctx, req, rt.deferred.legs)
	if err != nil {
		return nil, err
	}
	rt.deferred.chunks, rt.deferred.raw = chunks, raw
	return chunks, nil
}

// prefetched are those of the chunks that came with the hits.
func (rt *retrieval) prefetched(ids []string) []engine.Chunk {
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
	var running deferredScores
	for i, of := range d.of {
		if legs[of].err == nil {
			running.legs, running.of = append(running.legs, d.legs[i]), append(running.of, of)
		}
	}
	*d = running
}

// fillIn adds the deferred scores of the next chunk of the page to its explanation.
func (d *deferredScores) fillIn(id string, legs []scoring.Contribution) {
	if len(d.chunks) == 0 || d.chunks[0].ID != id {
		return
	}
	raw := d.raw[0]
	d.chunks, d.raw = d.chunks[1:], d.raw[1:]
	for i := range raw {
		l := &legs[d.of[i]]
		if l.Raw == nil && !math.IsNaN(raw[i]) {
			l.Raw = &raw[i]
		}
	}
}
