package search

import (
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/refine"
	"github.com/hybridge-search/hybridge/search/retrieve"
	"github.com/hybridge-search/hybridge/search/typing"
)

// These types are declared by the steps; callers know them by package search.
//
//nolint:revive // each is documented where it is declared
type (
	ByQuestion    = plan.ByQuestion
	Exactness     = plan.Exactness
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

	AnalyzeResponse  = answer.AnalyzeResponse
	AppliedRule      = answer.AppliedRule
	Copy             = answer.Copy
	Degraded         = answer.Degraded
	DocumentCount    = answer.DocumentCount
	Explain          = answer.Explain
	ExplainRequest   = answer.ExplainRequest
	ExplainResponse  = answer.ExplainResponse
	FacetCount       = answer.FacetCount
	Hit              = answer.Hit
	InExperiment     = answer.InExperiment
	RelevanceAccount = answer.RelevanceAccount
	Response         = answer.Response
	Shared           = answer.Shared
	Timings          = answer.Timings
	Total            = answer.Total
	WeightAccount    = answer.WeightAccount

	Catalog = engines.Catalog
	Subject = engines.Subject

	Embedder = ask.Embedder
	Rules    = ask.Rules
	Synonyms = ask.Synonyms

	Bank     = retrieve.Bank
	Observed = retrieve.Observed

	Reranker = refine.Reranker

	SuggestRequest = typing.SuggestRequest
	Suggestion     = typing.Suggestion
	Suggestions    = typing.Suggestions
)

// Constants that belong to them.
const (
	PresetEverything  = plan.PresetEverything
	FacetDisjunctive  = plan.FacetDisjunctive
	MaxQueryBytes     = plan.MaxQueryBytes
	MaxTopK           = plan.MaxTopK
	MaxCandidates     = plan.MaxCandidates
	MaxKnowledgeBases = plan.MaxKnowledgeBases
	MaxDisjunctive    = plan.MaxDisjunctive
	MaxFragmentSize   = plan.MaxFragmentSize
	MaxFragments      = plan.MaxFragments
	MaxNameBytes      = plan.MaxNameBytes
	GroupByDocument   = plan.GroupByDocument
	CopiesFold        = plan.CopiesFold
	CopiesKeep        = plan.CopiesKeep
	ReturnParent      = plan.ReturnParent
	MaxObserved       = plan.MaxObserved
	MaxSignalWeight   = plan.MaxSignalWeight
	Auto              = plan.Auto

	OutcomeHit        = answer.OutcomeHit
	OutcomeBeyondTopK = answer.OutcomeBeyondTopK
	OutcomeMissing    = answer.OutcomeMissing
	OutcomeHidden     = answer.OutcomeHidden
	OutcomeFiltered   = answer.OutcomeFiltered
	OutcomeCandidates = answer.OutcomeCandidates
	OutcomeThreshold  = answer.OutcomeThreshold
	OutcomeGrouped    = answer.OutcomeGrouped

	SuggestTerm = typing.SuggestTerm
)

// AutoThreshold is plan.AutoThreshold.
func AutoThreshold() Threshold { return plan.AutoThreshold() }

// Features is plan.Features.
func Features() []string { return plan.Features() }

// NewQueryID is answer.NewQueryID.
func NewQueryID() string { return answer.NewQueryID() }

// TooLarge is answer.TooLarge.
func TooLarge(limit int64) error { return answer.TooLarge(limit) }
