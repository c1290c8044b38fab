package search

import (
	"context"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// late are the legs of a search whose raw scores are read with the page, and
// which of the planned legs each is.
type late struct {
	legs []engine.Leg
	of   []int
	// What was read and is in no hit yet, in the order of the page.
	chunks []engine.Chunk
	raw    [][]float64
}

// postpone leaves the raw scores of hits that a leg did not return for the page,
// where they explain a hit and decide nothing.
func (a *answer) postpone(req *engine.Request, sent []int) {
	plan := &a.target.plan
	_, can := a.target.engine.(engine.DeferredScorer)
	if !can || !a.target.shows || len(sent) < 2 || plan.Fusion.Method != scoring.RRF || len(a.legThresholds().Legs) > 0 {
		return
	}
	req.DeferScores = true
	a.late = late{legs: req.Legs, of: sent}
}

// read reads chunks of the i-th knowledge base to show them, and keeps what was
// left for later of their scores.
func (set *answerSet) read(ctx context.Context, i int, req engine.ChunksRequest) ([]engine.Chunk, error) {
	a := &set.answers[i]
	a.dropFailed()
	if len(a.late.legs) == 0 {
		if chunks := a.brought(req.IDs); len(chunks) == len(req.IDs) {
			return chunks, nil
		}
		return a.target.engine.Chunks(ctx, req)
	}
	chunks, raw, err := a.target.engine.(engine.DeferredScorer).ScoreChunks(ctx, req, a.late.legs)
	if err != nil {
		return nil, err
	}
	a.late.chunks, a.late.raw = chunks, raw
	return chunks, nil
}

// brought are those of the chunks that came with the hits.
func (a *answer) brought(ids []string) []engine.Chunk {
	if len(a.chunks) < len(ids) {
		return nil
	}
	inOrder := 0
	for inOrder < len(ids) && a.chunks[inOrder].ID == ids[inOrder] {
		inOrder++
	}
	if inOrder == len(ids) {
		return a.chunks[:inOrder]
	}
	all := make([]engine.Chunk, 0, len(ids))
	for _, id := range ids {
		if at := slices.IndexFunc(a.chunks, func(c engine.Chunk) bool { return c.ID == id }); at >= 0 {
			all = append(all, a.chunks[at])
		}
	}
	return all
}

// dropFailed: a leg that failed is not asked again.
func (a *answer) dropFailed() {
	if !slices.ContainsFunc(a.late.of, func(of int) bool { return a.legs[of].err != nil }) {
		return
	}
	var running late
	for i, of := range a.late.of {
		if a.legs[of].err == nil {
			running.legs, running.of = append(running.legs, a.late.legs[i]), append(running.of, of)
		}
	}
	a.late = running
}

// fillIn adds the raw scores that came with the page to those of its next chunk.
func (a *answer) fillIn(id string, legs []scoring.Contribution) {
	if len(a.late.chunks) == 0 || a.late.chunks[0].ID != id {
		return
	}
	raw := a.late.raw[0]
	a.late.chunks, a.late.raw = a.late.chunks[1:], a.late.raw[1:]
	for i := range raw {
		l := &legs[a.late.of[i]]
		if l.Raw == nil && !math.IsNaN(raw[i]) {
			l.Raw = &raw[i]
		}
	}
}
