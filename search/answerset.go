package search

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// answerSet is the best candidates of all knowledge bases that pass the thresholds, with what was read of them.
type answerSet struct {
	rank.Ranked
	retrievals []retrieve.Retrieval
	relaxed    *string
	degraded   []answer.Degraded
	bytes      *answer.Allowance // of the answer
	known      *float64
	parents    map[rank.Key]*answer.Parent      // of hits that bring their sections along
	reranked   map[rank.Key]*answer.Reranked    // of the chunks that a reranker read
	second     map[rank.Key]*answer.SecondScore // of the chunks of a second stage
	diversity  map[rank.Key]*answer.Diversity   // of the chunks that a diverse answer is chosen from
	read       map[rank.Key]*engine.Chunk       // chunks that copies were looked for in
}

// from is the retrieval that found an entry.
func (set *answerSet) from(entry *scoring.Fused) *retrieve.Retrieval {
	return &set.retrievals[entry.Source]
}
