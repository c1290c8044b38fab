package engine

import "context"

// What an engine may do beyond the contract. A caller asks by a type assertion and
// has a way of its own where the answer is no:
//
//	DeferredScorer  raw scores that decide nothing, asked for with the page
//	Generations     numbers that change with the data: answers may be kept
//	Scanner         a knowledge base read whole, to compare or to copy it
//	Checker         the engines of one knowledge base compared with each other
//	Finder          one knowledge base read, instead of the list of all
//	ChunkCounter    the chunks of a tenant counted cheaply
//	Lexicon         the words of a text field, and chunks by what they begin with (words.go)
//	Verifier        what an engine stores, and searches, compared with what it should be
//	Troubled        what is wrong with an engine that still works (troubles.go)
//	Invalidator     keyword indexes dropped, to be built anew
//	Migrator        the shape of a knowledge base changed while it is in use (migration.go)
//	RecordKeeper    records beside the knowledge bases: what evaluations keep (records.go)
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

// Generations is an engine that can tell whether a knowledge base has changed since
// it was last asked, so that answers can be kept.
type Generations interface {
	// Generation names the state of a knowledge base. A search that begins after
	// the call sees that state or a later one. Where two calls give the same text,
	// no search between them could see a change that was acknowledged, whoever
	// made it. Empty: the engine cannot tell, for this knowledge base or now.
	Generation(ctx context.Context, kb *KnowledgeBase) (string, error)
}

// Scanner is an engine that can be read whole. Only such an engine can hold a
// knowledge base together with others.
type Scanner interface {
	// Scan gives chunks in the order of their ids (by bytes), hidden ones
	// included, with their vectors; a vector's length may have become 1.
	Scan(ctx context.Context, req ScanRequest) ([]Chunk, error)
}

// ScanRequest asks for a page of a knowledge base.
type ScanRequest struct {
	KB    KnowledgeBase
	After string   // continue after this id; empty: from the start
	IDs   []string // these chunks only; nil: all
	Limit int
}

// Checker compares what several engines hold of one knowledge base.
type Checker interface {
	// Check reports where the engines differ and, with repair, makes the others
	// like the reference.
	Check(ctx context.Context, kb KnowledgeBase, repair bool) (*DriftReport, error)
}

// Finder is an engine that reads one knowledge base sooner than the list of all.
type Finder interface {
	// KnowledgeBase gives a knowledge base as it is now, whoever made it; fault.NotFound
	// when absent.
	KnowledgeBase(ctx context.Context, ref Ref) (KnowledgeBase, error)
}

// ChunkCounter is an engine that counts the chunks of a tenant sooner than by describing its
// knowledge bases.
type ChunkCounter interface {
	// CountChunks counts the chunks that the tenant's knowledge bases hold, hidden ones
	// included; not those of attached indexes.
	CountChunks(ctx context.Context, tenant string) (int64, error)
}

// Verifier is an engine that can tell whether its data are sound: by checksums, or because
// what is searched can be made again of the chunk.
type Verifier interface {
	// Verify reads a knowledge base whole. With repair it mends what it can by itself; damaged
	// chunks have to be written again.
	Verify(ctx context.Context, kb KnowledgeBase, repair bool) (*Integrity, error)
}

// Invalidator is an engine whose keyword indexes are a cache of the chunks.
type Invalidator interface {
	// Invalidate drops every stored form of a knowledge base's keyword indexes, for
	// every gateway, so that the next search builds them anew; fault.NotFound when
	// there is no such knowledge base.
	Invalidate(ctx context.Context, ref Ref) error
}
