package engines

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/lib/tracing"
)

// Steps of a search as traces name them. Those of a knowledge base are within spanRetrieve.
const (
	SpanSearch      = "search"
	SpanPlan        = "search.plan"
	spanResolve     = "search.resolve"
	SpanRewrite     = "search.rewrite"
	SpanAdmit       = "search.admit" // waits for its turn
	SpanAnalyze     = "search.analyze"
	SpanEmbed       = "search.embed"
	SpanExecute     = "search.execute"
	SpanRetrieve    = "search.retrieve"
	SpanFuse        = "search.fuse"
	SpanCut         = "search.cut"
	SpanRules       = "search.rules"
	SpanGroup       = "search.group"
	SpanRerank      = "search.rerank"
	SpanSecondStage = "search.second_stage"
	SpanDiversify   = "search.diversify"
	SpanPresent     = "search.present"
	SpanSuggest     = "search.suggest"
	SpanObserve     = "search.observe"
	SpanDidYou      = "search.did_you_mean"
)

// What engines are asked, as traces and metrics name it.
const (
	CallSearch         = "search"
	CallStatistics     = "statistics"
	CallCentroids      = "centroids"
	CallChunks         = "chunks"
	CallDocuments      = "documents"
	CallDocumentChunks = "document_chunks"
	CallScoreChunks    = "score_chunks"
	CallScan           = "scan"
	CallWords          = "words"
	CallOpenings       = "openings"
)

// Ask asks the engine of a subject one thing: every question to an engine passes here.
func Ask[Q, A any](
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
