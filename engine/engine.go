// Package engine is the contract between a search and the back ends that execute its legs:
// the interfaces that elasticsearch, postgres and embedded implement, and the values they
// exchange. Implementations never import each other; the suite in enginetest holds all of
// them to the same behaviour.
//
// Scales are converted at the engine's own edge: a text leg's raw score is
// Lucene's BM25 with the factor k1 + 1, a vector leg's is the raw cosine.
package engine

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/textquery"
)

// Engine executes the legs of searches and stores knowledge bases. It is safe
// for concurrent use. Every error is a *fault.Error.
type Engine interface {
	Searcher
	Store
	// Name is elasticsearch, postgres or embedded.
	Name() string
	Capabilities() Capabilities
	// Ping reports whether the engine can serve now.
	Ping(ctx context.Context) error
	// Close releases everything; no call may follow.
	Close() error
}

// Searcher executes legs.
type Searcher interface {
	// Search runs all legs of the request over one knowledge base. It fails only if every
	// leg failed; single failures are reported in Result.Legs. Chunks without a vector,
	// zero vectors and negative cosines never fail a request.
	Search(ctx context.Context, req *Request) (*Result, error)
	// Statistics returns the statistics that term weights and normalisers need. It is cheap
	// (cached by the engine if necessary).
	Statistics(ctx context.Context, req *StatisticsRequest) (*Statistics, error)
	// Centroids counts the chunks with a vector in the field and returns the mean vector of
	// each language, over the sample of vectors that Statistics uses; none without vectors.
	// It is as cheap.
	Centroids(ctx context.Context, req *CentroidsRequest) (*Centroids, error)
	// Chunks fetches chunks by id, without their vectors, in the order asked; ids that do
	// not exist (or are hidden and req.Hidden is false) are omitted.
	Chunks(ctx context.Context, req ChunksRequest) ([]Chunk, error)
}

// Store keeps knowledge bases, documents and chunks.
type Store interface {
	// CreateKnowledgeBase creates the storage; fault.Conflict if it exists.
	CreateKnowledgeBase(ctx context.Context, kb KnowledgeBase) error
	// KnowledgeBases lists all of them, of every tenant, by tenant and id.
	KnowledgeBases(ctx context.Context) ([]KnowledgeBase, error)
	// DeleteKnowledgeBase removes it with its contents; fault.NotFound if absent.
	DeleteKnowledgeBase(ctx context.Context, ref Ref) error
	// Describe counts the contents of a knowledge base.
	Describe(ctx context.Context, kb KnowledgeBase) (*Description, error)
	// Write adds chunks or replaces those of the same id, one outcome per chunk in the
	// order given. If an id occurs twice in one call the later chunk wins and both outcomes
	// say so. A search sees a chunk whole or not at all. A chunk fails if a stored chunk of
	// its id belongs to another document or may not be replaced; see WriteRequest.Admits.
	Write(ctx context.Context, req WriteRequest) ([]WriteOutcome, error)
	// ReplaceDocument writes the chunks and removes every other chunk of the document. On
	// engines with transactions a search never sees half of each. If a chunk may not be
	// written or removed (WriteRequest.Admit), nothing is changed and the error is a
	// *Refused.
	ReplaceDocument(ctx context.Context, documentID string, req WriteRequest) ([]WriteOutcome, error)
	// DeleteDocument removes a document's chunks and says how many there were.
	DeleteDocument(ctx context.Context, kb KnowledgeBase, documentID string) (int, error)
	// DeleteChunks removes chunks by id and says how many existed.
	DeleteChunks(ctx context.Context, kb KnowledgeBase, ids []string) (int, error)
	// SelectChunks returns the ids of the chunks that pass all conditions, in byte order:
	// fewer than the limit only at the end. It sees all writes acknowledged before the
	// first page was requested.
	SelectChunks(ctx context.Context, req SelectRequest) ([]string, error)
	// ChangeChunks applies an Edit to chunks, each atomically, so no concurrent write is
	// undone. One outcome per id, in the order given; an id that occurs twice is edited
	// twice.
	ChangeChunks(ctx context.Context, req ChangeRequest) ([]ChangeOutcome, error)
	// Documents lists documents by id, after the given id.
	Documents(ctx context.Context, kb KnowledgeBase, after string, limit int) ([]Document, error)
	// DocumentChunks lists a document's chunks by ordinal, then id, hidden
	// ones included, without vectors.
	DocumentChunks(ctx context.Context, req DocumentChunksRequest) ([]Chunk, error)
}

// Capabilities says what an engine can do, so that a plan it cannot run is
// refused with a reason before anything is sent.
type Capabilities struct {
	Analyzers []string // accepted values of KnowledgeBase.Analyzer
	// SearchAnalyzers lists the accepted values of KnowledgeBase.SearchAnalyzer, for knowledge bases whose
	// Analyzer is one of them too; empty: none.
	SearchAnalyzers []string
	Layouts         []string // accepted values of Attachment.Layout; empty: cannot attach
	Shared          bool     // many small knowledge bases may share one index
	MaxDims         int      // of a vector
	BM25            []string // accepted values of KnowledgeBase.BM25; empty: only the engine's own formula
	// VectorIndexes are the accepted values of KnowledgeBase.VectorIndex; empty:
	// its vectors are compared one by one.
	VectorIndexes []string
}

// Ref names a knowledge base.
type Ref struct {
	Tenant string `json:"tenant"`
	ID     string `json:"id"`
}

// Request is one search over one knowledge base. The engine adds the filters
// for the tenant, the knowledge base and available chunks itself.
type Request struct {
	KB     KnowledgeBase
	Legs   []Leg
	Filter Filter
	// Signals are returned with each hit and added by a Sum.
	Signals []Signal
	// Sum, when set, asks for one ranking by the weighted sum of all legs
	// instead of one ranking per leg.
	Sum *Sum
	// Facets names fields whose values each hit shall carry.
	Facets []string
	// DeferScores says that the ranking needs no raw scores of hits which a leg did not
	// return: a DeferredScorer leaves them unknown (NaN).
	DeferScores bool
	// Exact compares every vector that passes the filter, and with Sum every chunk, at any cost: the
	// reference for measuring recall.
	Exact bool
	// Prefetch is the number of top hits that the caller will show; 0: unknown. An engine
	// may return their chunks in Result.Chunks if that costs less than another request.
	Prefetch int
}

// Leg is one ranked retrieval over one field. Exactly one of Text and Vector
// is set; Vector is [dim]float32 of the knowledge base's dimension.
type Leg struct {
	Name   string
	Field  string
	K      int // maximum number of hits (ignored with Sum)
	Text   *textquery.Query
	Vector []float32
	// Boosts weight parts of a text leg's field that the knowledge base indexes separately: terms are scored
	// by BM25F, see bm25.Combined.
	Boosts []Boost
	// Required excludes, with Sum, chunks that this text leg does not match.
	Required bool
}

// Kind returns the kind of score the leg produces.
func (l *Leg) Kind() scoring.Kind {
	if l.Text != nil {
		return scoring.Text
	}
	return scoring.Vector
}

// Sum asks for the Candidates best chunks by
//
//	Σ Weights[i] · points[i]
//
// where a text leg's points are its raw score (or raw/(raw+Pivot) when Pivot
// > 0) and a vector leg's are cosine + 1; a chunk that a text leg does not
// match, or without a vector, gets 0 there (or Absent). With at least one vector
// leg every chunk that passes the filter takes part; without one, those that match.
// A request without legs asks for every chunk that passes the filter, by id.
type Sum struct {
	Candidates int
	Weights    []float64 // one per leg, >= 0
	Pivot      float64
	// Absent holds the points of a chunk without the leg's vector, one per leg, >= 0 (0 for
	// text legs); nil: all 0.
	Absent []float64
	// Signals holds the weights of the request's signals, >= 0: each adds weight · signal to a chunk that
	// takes part. Nil without signals.
	Signals []float64
}

// AbsentPoints returns the points for a missing vector of a leg.
func (s *Sum) AbsentPoints(leg int) float64 {
	if leg >= len(s.Absent) {
		return 0
	}
	return s.Absent[leg]
}

// Result is the union of what the legs returned. Without Sum each hit is in
// the best K of at least one leg; with Sum the hits are in the order of the sum.
type Result struct {
	Hits []Hit
	Legs []LegOutcome // one per leg of the request
	// Method says how the ranking was computed if that matters: "exact", "knn", "union"
	// (Sum over the union of each leg's candidates only).
	Method string
	// Chunks holds the prefetched chunks of some hits, in any order (Request.Prefetch).
	Chunks []Chunk
	// Damaged is the number of chunks skipped because their stored data is corrupt.
	Damaged int
}

// Hit is a chunk found. Observations are in the order of the legs: the rank in each leg
// that returned it (with Sum: scoring.Unranked, see scoring.Joint), and the raw score of
// every leg, also of legs that did not return it (except with DeferScores).
type Hit struct {
	scoring.Candidate
	DocumentID   string
	DocumentName string
	Facets       map[string][]string // values of the fields asked for
	Signals      []float64           // in the order of the request, in [0, 1]
}

// Join converts the raw scores of hits into observations of a joint ranking.
func Join(hits []Hit, legs []Leg) {
	for i := range legs {
		kind := legs[i].Kind()
		for h := range hits {
			o := &hits[h].Observations[i]
			*o = scoring.Joint(kind, o.Raw)
		}
	}
}

// LegOutcome is the outcome of one leg.
type LegOutcome struct {
	Took   time.Duration
	Method string // "bm25", "exact", "knn"
	Err    error  // the leg took no part
	// Incomplete says why the raw scores of hits that the leg did not return are
	// unknown (NaN); its own hits stand. Nil when they are known.
	Incomplete error
}

// StatisticsRequest asks for the statistics of a text field's terms (none without
// a field) and, with a vector, of the cosines between it and the whole knowledge
// base.
type StatisticsRequest struct {
	KB          KnowledgeBase
	Field       string
	Terms       []string
	VectorField string
	Vector      []float32 // nil: no cosine statistics
	// Exact takes the cosines of every vector, not of a sample, however long that takes.
	Exact bool
	// Alone says that no vector leg can answer instead, so it may wait longer for a text
	// index that is being built.
	Alone bool
}

// CentroidsRequest asks for the centroids of a vector field.
type CentroidsRequest struct {
	KB          KnowledgeBase
	VectorField string
}

// Statistics describes a knowledge base for one query.
type Statistics struct {
	Docs          int             // chunks with at least one token in the field
	AverageLength float64         // tokens of the field
	DF            []int           // document frequency per term asked
	Cosine        scoring.Moments // over a fixed random sample of the vectors
	Vectors       int             // chunks with a vector; 0 means Cosine is empty
	// TextErr says why the index of the text field is unavailable: its statistics are zero
	// and its legs take no part, the rest is valid. Nil if available.
	TextErr error
}

// Filter restricts all legs alike. Its zero value restricts nothing but to
// available chunks.
type Filter struct {
	Conditions []filter.Condition // all must hold
	IDs        []string           // nil: any chunk
	Except     []string           // ids of excluded chunks
	Owner      string             // empty: any owner; else chunks of this owner only
	// Required and Excluded are phrases (slop 0) over Fields.
	Required []textquery.Phrase
	Excluded []textquery.Phrase
	Fields   []string // text fields that Required and Excluded look into (any of them)
}

// ChunksRequest asks for chunks by id.
type ChunksRequest struct {
	KB     KnowledgeBase
	IDs    []string
	Hidden bool // also those with available: false
}

// DocumentChunksRequest asks for the chunks of a document whose ordinals lie
// in [From, To]; To < 0 means no upper bound.
type DocumentChunksRequest struct {
	KB         KnowledgeBase
	DocumentID string
	From, To   int
	After      string // continue after the chunk with this id; empty: from the start
	Limit      int
}

// WriteRequest carries validated chunks, with their vectors where they have any.
type WriteRequest struct {
	KB      KnowledgeBase
	Chunks  []Chunk
	Refresh bool // return only when a search sees them
	// Admit, if set, is called for each stored chunk that would be replaced or removed; the
	// chunk fails with the error it returns.
	Admit func(stored *Chunk) error
	// Copy mirrors another engine: chunks may replace those of another document.
	Copy bool
}

// WriteOutcome is the result for one chunk.
type WriteOutcome struct {
	ID     string
	Status Status
	Err    error // set when Status is Failed
	// Engines holds the outcome by engine if the knowledge base lives on several.
	Engines []OutcomeOn
}

// OutcomeOn is the result for a chunk on one of several engines.
type OutcomeOn struct {
	Engine string
	Status Status
	Err    error
}

// Status of a written chunk, as the API shows it.
type Status string

// Results of writing a chunk.
const (
	Created Status = "created"
	Updated Status = "updated"
	Failed  Status = "failed"
)

// Tokenizer prepares a text for indexing. It is safe for concurrent use.
type Tokenizer interface {
	// Terms returns the search tokens in order; positions are their ordinals.
	Terms(text string) []string
	// Fold normalises the text as its tokens are (case, width, simplified characters), for
	// a server that tokenizes itself.
	Fold(text string) string
	// Fingerprint changes whenever the same text would yield different tokens.
	Fingerprint() string
}
