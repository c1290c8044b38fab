package gateway

import (
	"github.com/hybridge-search/hybridge/gateway/chunks"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/openai"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/gateway/searches"
	"github.com/hybridge-search/hybridge/gateway/versioned"
)

type (
	// Key is endpoint.Key.
	Key = endpoint.Key
	// Limits is endpoint.Limits.
	Limits = endpoint.Limits
	// Problem is endpoint.Problem.
	Problem = endpoint.Problem
	// RefusedChunk is endpoint.RefusedChunk.
	RefusedChunk = endpoint.RefusedChunk

	// AnswerDone is searches.AnswerDone.
	AnswerDone = searches.AnswerDone
	// AnswerRequest is searches.AnswerRequest.
	AnswerRequest = searches.AnswerRequest
	// AnswerSources is searches.AnswerSources.
	AnswerSources = searches.AnswerSources
	// ContextAnswer is searches.ContextAnswer.
	ContextAnswer = searches.ContextAnswer
	// Searcher is searches.Searcher.
	Searcher = searches.Searcher
	// UnknownAnswer is searches.UnknownAnswer.
	UnknownAnswer = searches.UnknownAnswer

	// Drafts is versioned.Drafts.
	Drafts = versioned.Drafts
	// PresetHistory is versioned.PresetHistory.
	PresetHistory = versioned.PresetHistory
	// PresetVersion is versioned.PresetVersion.
	PresetVersion = versioned.PresetVersion
	// Presets is versioned.Presets.
	Presets = versioned.Presets
	// Rollback is versioned.Rollback.
	Rollback = versioned.Rollback
	// RuleHistory is versioned.RuleHistory.
	RuleHistory = versioned.RuleHistory
	// RuleSet is versioned.RuleSet.
	RuleSet = versioned.RuleSet
	// SynonymEffects is versioned.SynonymEffects.
	SynonymEffects = versioned.SynonymEffects
	// SynonymQuestion is versioned.SynonymQuestion.
	SynonymQuestion = versioned.SynonymQuestion
	// SynonymSets is versioned.SynonymSets.
	SynonymSets = versioned.SynonymSets
	// SynonymText is versioned.SynonymText.
	SynonymText = versioned.SynonymText
	// SynonymTrial is versioned.SynonymTrial.
	SynonymTrial = versioned.SynonymTrial

	// Deleted is chunks.Deleted.
	Deleted = chunks.Deleted
	// DocumentChunks is chunks.DocumentChunks.
	DocumentChunks = chunks.DocumentChunks
	// Documents is chunks.Documents.
	Documents = chunks.Documents
	// FileFormats is chunks.FileFormats.
	FileFormats = chunks.FileFormats

	// EvaluationList is quality.EvaluationList.
	EvaluationList = quality.EvaluationList
	// EvaluationRows is quality.EvaluationRows.
	EvaluationRows = quality.EvaluationRows
	// EventBatch is quality.EventBatch.
	EventBatch = quality.EventBatch
	// ExperimentList is quality.ExperimentList.
	ExperimentList = quality.ExperimentList
	// JudgmentListEdit is quality.JudgmentListEdit.
	JudgmentListEdit = quality.JudgmentListEdit
	// JudgmentLists is quality.JudgmentLists.
	JudgmentLists = quality.JudgmentLists
	// JudgmentRows is quality.JudgmentRows.
	JudgmentRows = quality.JudgmentRows
	// Judgments is quality.Judgments.
	Judgments = quality.Judgments
	// Queries is quality.Queries.
	Queries = quality.Queries
	// QueryRows is quality.QueryRows.
	QueryRows = quality.QueryRows
	// QuerySetEdit is quality.QuerySetEdit.
	QuerySetEdit = quality.QuerySetEdit
	// QuerySets is quality.QuerySets.
	QuerySets = quality.QuerySets
	// StopExperiment is quality.StopExperiment.
	StopExperiment = quality.StopExperiment
	// TuningList is quality.TuningList.
	TuningList = quality.TuningList
	// UnjudgedHits is quality.UnjudgedHits.
	UnjudgedHits = quality.UnjudgedHits

	// Embedder is openai.Embedder.
	Embedder = openai.Embedder
)

// DefaultTenant is the tenant of all requests if no key is configured.
const DefaultTenant = endpoint.DefaultTenant

// ProblemOf converts an error as the API does, for programs that report theirs in the same form.
var ProblemOf = endpoint.ProblemOf

// RequestAttrs gives the attributes of log lines that identify the request of a context.
var RequestAttrs = endpoint.RequestAttrs
