package rank

import (
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/relevance"
)

// Base is what was found in one knowledge base, as far as ranking goes by it.
type Base struct {
	relevance.Found
	Ranking  []scoring.Fused
	Full     bool              // an engine stopped at its limit: more may match
	Source   int32             // its place among the knowledge bases
	Offset   int               // of its hits among the candidates that it was fused with
	PinnedBy map[string]string // the chunks that query rules pin: the rule
}
