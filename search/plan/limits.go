package plan

// Limits on a request; beyond them it is refused.
const (
	MaxQueryBytes      = 32 << 10 // of the query text
	MaxTopK            = 10_000
	MaxCandidates      = 10_000
	MaxKnowledgeBases  = 64
	MaxFacets          = 16
	MaxDisjunctive     = 10 // facets with a filter of their own, of FacetDisjunctive
	MaxPhrases         = 64 // required and excluded ones
	MaxFragmentSize    = 2_000
	MaxFragments       = 50
	MaxNeighbours      = 20
	MaxNameBytes       = 256
	MaxVectorDimension = 4_096
	MaxBoost           = 100 // of a knowledge base
)
