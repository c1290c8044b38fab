// Package engine is the contract between a search and what executes its legs:
// the Engine and Store that elasticsearch, postgres and embedded implement, and
// the values they exchange. Implementations never import each other; the suite
// in enginetest holds all of them to the same behaviour.
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
	// Ping answers whether the engine can serve at this moment.
	Ping(ctx context.Context) error
	// Close releases everything; no call may follow.
	Close() error
}

// Searcher executes legs.
type Searcher interface {
	// Search runs all legs of the request over one knowledge base. It fails
	// only when no leg could be run; a leg that failed alone is reported in
	// Result.Legs. Chunks without a vector, zero vectors and negative cosines
	// never fail a request.
	Search(ctx context.Context, req *Request) (*Result, error)
	// Statistics tells what weighting and normalising need to know of the
	// knowledge base; it is cheap (cached by the engine where it must be).
	Statistics(ctx context.Context, req *StatisticsRequest) (*Statistics, error)
	// Centroids counts the chunks with a vector in the field and gives the mean vector of
	// each language that they are in, within the sample that Statistics takes the cosines
	// of; none where there are no vectors. It is as cheap.
	Centroids(ctx context.Context, req *CentroidsRequest) (*Centroids, error)
	// Chunks fetches chunks by id, without their vectors, in the order asked;
	// ids that do not exist (or are hidden and req.Hidden is false) are left out.
	Chunks(ctx context.Context, req ChunksRequest) ([]Chunk, error)
}

// Store keeps knowledge bases, documents and chunks.
type Store interface {
	// CreateKnowledgeBase makes the storage; fault.Conflict when it exists.
	CreateKnowledgeBase(ctx context.Context, kb KnowledgeBase) error
	// KnowledgeBases lists all of them, of every tenant, by tenant and id.
	KnowledgeBases(ctx context.Context) ([]KnowledgeBase, error)
	// DeleteKnowledgeBase removes it with all it holds; fault.NotFound when absent.
	DeleteKnowledgeBase(ctx context.Context, ref Ref) error
	// Describe counts what the knowledge base holds.
	Describe(ctx context.Context, kb KnowledgeBase) (*Description, error)
	// Write adds chunks or replaces those of the same id, one outcome per chunk
	// in the order given. When an id stands twice in one call the later one
	// wins and both outcomes say so. A search sees a chunk whole or not at all.
	// A chunk fails if a stored chunk of its id belongs to another document or may
	// not be replaced; see WriteRequest.Admits.
	Write(ctx context.Context, req WriteRequest) ([]WriteOutcome, error)
	// ReplaceDocument writes the chunks and removes every other chunk of the
	// document. On engines with transactions a search never sees half of each.
	// When a chunk may not be written, or one not be removed (WriteRequest.Admit),
	// nothing is changed: the error is a *Refused.
	ReplaceDocument(ctx context.Context, documentID string, req WriteRequest) ([]WriteOutcome, error)
	// DeleteDocument removes a document's chunks and says how many there were.
	DeleteDocument(ctx context.Context, kb KnowledgeBase, documentID string) (int, error)
	// DeleteChunks removes chunks by id and says how many existed.
	DeleteChunks(ctx context.Context, kb KnowledgeBase, ids []string) (int, error)
	// SelectChunks gives the ids of the chunks that pass all conditions, in the
	// order of their ids by bytes: fewer than the limit only where there are no
	// more. It sees what was acknowledged before it began with the first page.
	SelectChunks(ctx context.Context, req SelectRequest) ([]string, error)
	// ChangeChunks has an Edit decide about chunks, each in one step with what
	// becomes of it: nothing that others write is undone. One outcome per id, in
	// the order given; an id that stands twice is decided about twice.
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
	// SearchAnalyzers are the accepted values of KnowledgeBase.SearchAnalyzer, which are for
	// knowledge bases of one of these analyzers; empty: there are none.
	SearchAnalyzers []string
	Layouts         []string // accepted values of Attachment.Layout; empty: cannot attach
	Shared          bool     // many small knowledge bases may share one index
	MaxDims         int      // of a vector
	BM25            []string // accepted values of KnowledgeBase.BM25; empty: the engine's own formula alone
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
	// Signals are what each hit shall carry, and what a Sum adds.
	Signals []Signal
	// Sum, when set, asks for one ranking by the weighted sum of all legs
	// instead of one ranking per leg.
	Sum *Sum
	// Facets names fields whose values each hit shall carry.
	Facets []string
	// DeferScores says that the raw scores of hits which a leg did not return
	// decide nothing: a DeferredScorer leaves them unknown (NaN).
	DeferScores bool
	// Exact compares every vector that passes the filter, and adds up every chunk with Sum, however
	// long that takes: what an approximate answer is measured by.
	Exact bool
	// Prefetch is how many of the best hits the caller is going to show; 0: it does
	// not know. An engine may return their chunks in Result.Chunks where that costs
	// less than another request.
	Prefetch int
}

// Leg is one ranked retrieval over one field. Exactly one of Text and Vector
// is set; Vector is [dim]float32 of the knowledge base's dimension.
type Leg struct {
	Name   string
	Field  string
	K      int // how many hits it returns at most (ignored with Sum)
	Text   *textquery.Query
	Vector []float32
	// Boosts are of parts of a text leg's field, which the knowledge base indexes by themselves:
	// terms are scored by BM25F, see bm25.Combined.
	Boosts []Boost
	// Required leaves out, with Sum, chunks that this text leg does not match.
	Required bool
}

// Kind says what the leg measures.
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
	// Absent are the points of a chunk without the leg's vector, one per leg, >= 0;
	// nil: 0 for all. Text legs have 0.
	Absent []float64
	// Signals are the weights of the request's signals, >= 0: each adds weight · signal to the
	// chunks that take part. Nil without signals.
	Signals []float64
}

// AbsentPoints are those of a leg.
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
	// Method says how the ranking was made where it matters: "exact", "knn",
	// "union" (Sum over the union of each leg's candidates only).
	Method string
	// Chunks are those of some hits, in any order (Request.Prefetch).
	Chunks []Chunk
	// Damaged is how many chunks took no part because they are not as they were written.
	Damaged int
}

// Hit is a chunk found. Observations are in the order of the legs: with the
// rank in each leg that returned it (with Sum: as scoring.Joint has it, which leaves
// ranks to whoever wants to know), and the raw score of every leg, also of those that
// did not return it (but for DeferScores).
type Hit struct {
	scoring.Candidate
	DocumentID   string
	DocumentName string
	Facets       map[string][]string // values of the fields asked for
	Signals      []float64           // those of the request, in [0, 1]
}

// Join makes the raw scores of hits what legs say in a joint ranking.
func Join(hits []Hit, legs []Leg) {
	for i := range legs {
		kind := legs[i].Kind()
		for h := range hits {
			o := &hits[h].Observations[i]
			*o = scoring.Joint(kind, o.Raw)
		}
	}
}

// LegOutcome is how one leg fared.
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
	// Alone says that no vector answers in place of the words: a text index that is being
	// made ready may be waited for longer.
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
	// TextErr says why the index of the text field cannot be asked at present: what is
	// told of it is zero and its legs take no part, while the rest holds. Nil when it can.
	TextErr error
}

// Filter restricts all legs alike. Its zero value restricts nothing but to
// available chunks.
type Filter struct {
	Conditions []filter.Condition // all must hold
	IDs        []string           // nil: any chunk
	Except     []string           // ids of chunks that are left out
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
	// Admit, when set, is asked about each stored chunk that would be replaced, or removed
	// with the rest of its document; the chunk fails with the error that it gives.
	Admit func(stored *Chunk) error
	// Copy makes the chunks what another engine has: also in place of another document's.
	Copy bool
}

// WriteOutcome is the fate of one chunk.
type WriteOutcome struct {
	ID     string
	Status Status
	Err    error // set when Status is Failed
	// Engines has the outcome on each engine of a knowledge base with several.
	Engines []OutcomeOn
}

// OutcomeOn is the fate of a chunk on one of several engines.
type OutcomeOn struct {
	Engine string
	Status Status
	Err    error
}

// Status of a written chunk, as the API shows it.
type Status string

// What can become of a written chunk.
const (
	Created Status = "created"
	Updated Status = "updated"
	Failed  Status = "failed"
)

// Tokenizer makes ready a text to be indexed. It is safe for concurrent use.
type Tokenizer interface {
	// Terms gives the search tokens in order; positions are their ordinals.
	Terms(text string) []string
	// Fold gives the text as its tokens have it (case, width, simplified
	// characters), for a server that makes the tokens itself.
	Fold(text string) string
	// Fingerprint changes when the same text would give other tokens.
	Fingerprint() string
}
