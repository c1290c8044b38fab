package search

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/lib/tracing"
)

// Steps of a search as traces name them. Those of a knowledge base are within spanRetrieve.
const (
	spanSearch      = "search"
	spanPlan        = "search.plan"
	spanResolve     = "search.resolve"
	spanRewrite     = "search.rewrite"
	spanAdmit       = "search.admit" // waits for its turn
	spanAnalyze     = "search.analyze"
	spanEmbed       = "search.embed"
	spanExecute     = "search.execute"
	spanRetrieve    = "search.retrieve"
	spanFuse        = "search.fuse"
	spanCut         = "search.cut"
	spanRules       = "search.rules"
	spanGroup       = "search.group"
	spanRerank      = "search.rerank"
	spanSecondStage = "search.second_stage"
	spanDiversify   = "search.diversify"
	spanPresent     = "search.present"
	spanSuggest     = "search.suggest"
	spanObserve     = "search.observe"
	spanDidYou      = "search.did_you_mean"
)

// What engines are asked, as traces and metrics name it.
const (
	callSearch         = "search"
	callStatistics     = "statistics"
	callCentroids      = "centroids"
	callChunks         = "chunks"
	callDocuments      = "documents"
	callDocumentChunks = "document_chunks"
	callScoreChunks    = "score_chunks"
	callScan           = "scan"
	callWords          = "words"
	callOpenings       = "openings"
)

// ask asks the engine of a subject one thing: every question to an engine passes here.
func ask[Q, A any](
	ctx context.Context, s *Subject, call string, of func(context.Context, Q) (A, error), q Q,
) (A, error) {
	ctx, span := tracing.Start(ctx, call)
	if s.metrics == nil && !span.On() {
		return of(ctx, q)
	}
	name := s.Engine.Name()
	span.Name("engine." + call)
	span.Note("hybridge.engine", name)
	span.Note("hybridge.knowledge_base", s.KB.ID)
	started := time.Now()
	answer, err := of(ctx, q)
	s.metrics.asked(name, call, time.Since(started), err)
	span.End(err)
	return answer, err
}
