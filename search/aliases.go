package search

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Names of the rooms below that callers know as those of package search.
type (
	ByQuestion    = plan.ByQuestion
	Exactness     = plan.Exactness
	Filter        = plan.Filter
	Highlight     = plan.Highlight
	Leg           = plan.Leg
	MatchSignal   = plan.MatchSignal
	NumberSignal  = plan.NumberSignal
	Overrides     = plan.Overrides
	Plan          = plan.Plan
	Planner       = plan.Planner
	RecencySignal = plan.RecencySignal
	Request       = plan.Request
	Rerank        = plan.Rerank
	Reranking     = plan.Reranking
	Rewrite       = plan.Rewrite
	SecondStage   = plan.SecondStage
	Signal        = plan.Signal
	TextQuery     = plan.TextQuery
	Threshold     = plan.Threshold
	WeightModel   = plan.WeightModel
)

// Their constants.
const (
	PresetEverything  = plan.PresetEverything
	FacetDisjunctive  = plan.FacetDisjunctive
	MaxQueryBytes     = plan.MaxQueryBytes
	MaxTopK           = plan.MaxTopK
	MaxCandidates     = plan.MaxCandidates
	MaxKnowledgeBases = plan.MaxKnowledgeBases
	MaxFilterValues   = plan.MaxFilterValues
	MaxCountedApart   = plan.MaxCountedApart
	MaxFragmentSize   = plan.MaxFragmentSize
	MaxFragments      = plan.MaxFragments
	MaxNameBytes      = plan.MaxNameBytes
	GroupByDocument   = plan.GroupByDocument
	CopiesFold        = plan.CopiesFold
	CopiesKeep        = plan.CopiesKeep
	ReturnChunk       = plan.ReturnChunk
	ReturnParent      = plan.ReturnParent
	MaxObserved       = plan.MaxObserved
	MaxSignalWeight   = plan.MaxSignalWeight
	Auto              = plan.Auto
)

// ParseFilter is plan.ParseFilter.
func ParseFilter(filter Filter) ([]engine.Condition, error) { return plan.ParseFilter(filter) }

// AutoThreshold is plan.AutoThreshold.
func AutoThreshold() Threshold { return plan.AutoThreshold() }

// Features is plan.Features.
func Features() []string { return plan.Features() }
