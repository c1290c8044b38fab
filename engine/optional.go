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

// DeferredScorer is an engine that needs a separate request for the raw scores of hits that
// a leg did not return. If no ranking depends on them (Request.DeferScores) they are read
// together with the chunks of the page.
type DeferredScorer interface {
	// ScoreChunks is Chunks plus the raw scores of every leg, [chunks][legs]float64; NaN if
	// unknown.
	ScoreChunks(ctx context.Context, req ChunksRequest, legs []Leg) ([]Chunk, [][]float64, error)
}

// Generations is an engine that can detect changes of a knowledge base, so that answers can
// be cached.
type Generations interface {
	// Generation names the state of a knowledge base. A search that begins after the call
	// sees that state or a later one. If two calls return the same text, no search between
	// them could see an acknowledged change, whoever made it. Empty: unknown, for this
	// knowledge base or at present.
	Generation(ctx context.Context, kb *KnowledgeBase) (string, error)
}

// Scanner is an engine whose knowledge bases can be read completely, which mirroring
// requires.
type Scanner interface {
	// Scan returns chunks in byte order of their ids, hidden ones included, with their
	// vectors, possibly normalised to length 1.
	Scan(ctx context.Context, req ScanRequest) ([]Chunk, error)
}

// ScanRequest asks for a page of a knowledge base.
type ScanRequest struct {
	KB    KnowledgeBase
	After string   // continue after this id; empty: from the start
	IDs   []string // these chunks only; nil: all
	Limit int
}

// Checker compares the copies of one knowledge base on several engines.
type Checker interface {
	// Check reports where engines differ and, with repair, makes the others equal to the
	// reference.
	Check(ctx context.Context, kb KnowledgeBase, repair bool) (*DriftReport, error)
}

// Finder is an engine that reads one knowledge base faster than the list of all.
type Finder interface {
	// KnowledgeBase returns the current state of a knowledge base; fault.NotFound if
	// absent.
	KnowledgeBase(ctx context.Context, ref Ref) (KnowledgeBase, error)
}

// ChunkCounter is an engine that counts the chunks of a tenant faster than by describing its knowledge bases.
type ChunkCounter interface {
	// CountChunks counts the chunks of the tenant's knowledge bases, hidden ones included,
	// attached indexes excluded.
	CountChunks(ctx context.Context, tenant string) (int64, error)
}

// Verifier is an engine that can verify its data: by checksums, or by deriving the indexed
// fields from the chunks again.
type Verifier interface {
	// Verify reads a whole knowledge base. With repair it fixes derived data; damaged chunks have to be
	// written again.
	Verify(ctx context.Context, kb KnowledgeBase, repair bool) (*Integrity, error)
}

// Invalidator is an engine whose keyword indexes are a cache of the chunks.
type Invalidator interface {
	// Invalidate drops all stored forms of a knowledge base's keyword indexes, for every
	// gateway, so that the next search rebuilds them; fault.NotFound if there is no such
	// knowledge base.
	Invalidate(ctx context.Context, ref Ref) error
}
