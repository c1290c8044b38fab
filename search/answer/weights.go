package answer

import (
	"math"

	"github.com/hybridge-search/hybridge/search/plan"
)

// Average lengths of chunks in tokens: the one at which weighByCoverage leaves the
// weight of text as planned, and the range that was measured, beyond which it is not
// extrapolated.
const (
	UsualLength    = 134
	shortestLength = 42
	longestLength  = 251
)

// Coverage is what changed the weight of a text leg for a knowledge base.
type Coverage struct {
	Planned       float64 `json:"planned" doc:"The weight before."`
	Known         float64 `json:"known" doc:"Share of the query's idf mass that the text index knows, in [0, 1]."`
	AverageLength float64 `json:"average_length" doc:"Of the chunks, in tokens."`
	Language      string  `json:"language,omitempty" doc:"ISO 639-1; both are of the knowledge bases in this language alone, as chunks of several are compared."`
}

// WeightAccount says what weight a leg has for a knowledge base, and by which rule.
type WeightAccount struct {
	KnowledgeBase string    `json:"knowledge_base"`
	Leg           string    `json:"leg"`
	Weight        float64   `json:"weight"`
	Rule          string    `json:"rule" enum:"planned,coverage" doc:"planned: as the preset or the request has it; coverage: times √(known · average length/134)."`
	Coverage      *Coverage `json:"coverage,omitempty"`
	// ByQuestion is set where the preset's weights_by changed the weight further.
	ByQuestion *plan.ByQuestion `json:"by_question,omitempty" doc:"What weights_by of the preset made of this question."`
}

// Factor is what the planned weight is multiplied by.
func (c *Coverage) Factor() float64 {
	length := 1.0
	if c.AverageLength > 0 {
		length = min(max(c.AverageLength, shortestLength), longestLength) / UsualLength
	}
	return math.Sqrt(c.Known * length)
}
