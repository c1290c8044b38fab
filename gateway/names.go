package gateway

import (
	"github.com/hybridge-search/hybridge/gateway/chunks"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/openai"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/gateway/searches"
	"github.com/hybridge-search/hybridge/gateway/versioned"
)

// Names of the packages below that programs use by this one.

type (
	Key          = endpoint.Key
	Limits       = endpoint.Limits
	Problem      = endpoint.Problem
	RefusedChunk = endpoint.RefusedChunk

	AnswerDone    = searches.AnswerDone
	AnswerRequest = searches.AnswerRequest
	AnswerSources = searches.AnswerSources
	ContextAnswer = searches.ContextAnswer
	Searcher      = searches.Searcher
	UnknownAnswer = searches.UnknownAnswer

	Drafts          = versioned.Drafts
	PresetHistory   = versioned.PresetHistory
	PresetVersion   = versioned.PresetVersion
	Presets         = versioned.Presets
	Rollback        = versioned.Rollback
	RuleHistory     = versioned.RuleHistory
	RuleSet         = versioned.RuleSet
	SynonymEffects  = versioned.SynonymEffects
	SynonymQuestion = versioned.SynonymQuestion
	SynonymSets     = versioned.SynonymSets
	SynonymText     = versioned.SynonymText
	SynonymTrial    = versioned.SynonymTrial

	Deleted        = chunks.Deleted
	DocumentChunks = chunks.DocumentChunks
	Documents      = chunks.Documents
	FileFormats    = chunks.FileFormats

	EvaluationList   = quality.EvaluationList
	EvaluationRows   = quality.EvaluationRows
	EventBatch       = quality.EventBatch
	ExperimentList   = quality.ExperimentList
	JudgmentListEdit = quality.JudgmentListEdit
	JudgmentLists    = quality.JudgmentLists
	JudgmentRows     = quality.JudgmentRows
	Judgments        = quality.Judgments
	Queries          = quality.Queries
	QueryRows        = quality.QueryRows
	QuerySetEdit     = quality.QuerySetEdit
	QuerySets        = quality.QuerySets
	StopExperiment   = quality.StopExperiment
	TuningList       = quality.TuningList
	UnjudgedHits     = quality.UnjudgedHits

	Embedder = openai.Embedder
)

// DefaultTenant is the tenant of all requests if no key is configured.
const DefaultTenant = endpoint.DefaultTenant

// ProblemOf tells an error as the API does, for programs that tell theirs in the same form.
var ProblemOf = endpoint.ProblemOf

// RequestAttrs are what tells, in another line of the log, which request a context is of.
var RequestAttrs = endpoint.RequestAttrs
