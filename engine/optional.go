package engine

import "context"

// What an engine may do beyond the contract. A caller asks by a type assertion and
// has a way of its own where the answer is no:
//
//	DeferredScorer  raw scores that decide nothing, asked for with the page
//	Generations     numbers that change with the data: answers may be kept
//	Scanner         a knowledge base read whole, to compare or to copy it
//	Checker         the engines of one knowledge base compared with each other
//	Invalidator     keyword indexes dropped, to be built anew
//	Migrator        the shape of a knowledge base changed while it is in use
//
// Two members of a Request are hints that an engine may ignore: Prefetch and
// DeferScores. Both save a search on Elasticsearch a request.

// DeferredScorer is an engine that needs a request of its own for the raw scores
// of hits that a leg did not return. Where no ranking depends on them
// (Request.DeferScores) they are read together with the chunks that are shown.
type DeferredScorer interface {
	// ScoreChunks is Chunks, with the raw score of every leg beside each chunk,
	// [chunks][legs]float64; NaN where it is unknown.
	ScoreChunks(ctx context.Context, req ChunksRequest, legs []Leg) ([]Chunk, [][]float64, error)
}
