package refine

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// Set is the best candidates of all knowledge bases that pass the thresholds, with what was read of them.
type Set struct {
	rank.Ranked
	Retrievals []retrieve.Retrieval
	Relaxed    *string
	Degraded   []answer.Degraded
	Bytes      *answer.Allowance // of the answer
	Known      *float64
	Parents    map[rank.Key]*answer.Parent      // of hits that bring their sections along
	Reranked   map[rank.Key]*answer.Reranked    // of the chunks that a reranker read
	Second     map[rank.Key]*answer.SecondScore // of the chunks of a second stage
	Diversity  map[rank.Key]*answer.Diversity   // of the chunks that a diverse answer is chosen from
	read       map[rank.Key]*engine.Chunk       // chunks that copies were looked for in
}

// From is the retrieval that found an entry.
func (set *Set) From(entry *scoring.Fused) *retrieve.Retrieval {
	return &set.Retrievals[entry.Source]
}
