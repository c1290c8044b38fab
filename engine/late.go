package engine

import "context"

// LateScorer is an engine that has to ask apart for the raw scores of hits that a
// leg did not return. Where no ranking depends on them (Request.LateScores) it is
// asked for them together with the few chunks that are shown.
type LateScorer interface {
	// ChunksScored is Chunks, with the raw score of every leg beside each chunk,
	// [chunks][legs]float64; NaN where it is unknown.
	ChunksScored(ctx context.Context, req ChunksRequest, legs []Leg) ([]Chunk, [][]float64, error)
}
