package answer

import (
	"math"

	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/search/plan"
)

// LargerKnown is the larger of two values of which NaN is unknown.
func LargerKnown(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// RelevanceAccount explains the relevance of a knowledge base's hits.
type RelevanceAccount struct {
	KnowledgeBase string `json:"knowledge_base"`
	By            string `json:"by" enum:"vectors,words,nothing" doc:"What evidence is taken of: cosines, or the share of the question's words that a chunk has."`
	Question      string `json:"question" doc:"Language of the question, ISO 639-1; empty: unknown."`
	// Languages are the scales by the language of the chunk.
	Languages []LanguageScale `json:"languages,omitempty"`
	Bound     float64         `json:"bound,omitempty" doc:"The largest score that the question's words could have; evidence by words is a text score over it."`
	Best      *float64        `json:"best" doc:"The largest evidence of any hit."`
	Chunks    int             `json:"chunks" doc:"How many chunks it is the largest of, over all knowledge bases."`
	Why       string          `json:"why,omitempty" locale:"text" doc:"Why it is by nothing."`
}

// LanguageScale is the line from a leg's cosine to evidence, for chunks in a language.
type LanguageScale struct {
	Leg      string  `json:"leg"`
	Language string  `json:"language" doc:"Of the chunks, ISO 639-1."`
	Share    float64 `json:"share" doc:"Of the chunks, in [0, 1]."`
	bank.Scale
}

// EvidenceOf is the evidence of a hit of the knowledge base, from the explanations of its legs; NaN
// without any.
func (a *RelevanceAccount) EvidenceOf(h *Hit) float64 {
	best := math.NaN()
	chunkLanguage := a.languageOf(h)
	for _, leg := range h.Legs {
		if leg.Evidence != nil {
			best = LargerKnown(best, *leg.Evidence)
			continue
		}
		if leg.Raw == nil {
			continue
		}
		if a.Bound > 0 {
			best = LargerKnown(best, *leg.Raw/a.Bound)
		}
		for _, line := range a.Languages {
			if line.Leg == leg.Leg && line.Language == chunkLanguage {
				best = LargerKnown(best, line.Evidence(*leg.Raw))
			}
		}
	}
	return best
}

// languageOf gives the language of a hit if it has a scale, else the language of most chunks.
func (a *RelevanceAccount) languageOf(h *Hit) string {
	main, most := "", 0.0
	for _, line := range a.Languages {
		if line.Language == h.Language {
			return h.Language
		}
		if line.Share > most {
			main, most = line.Language, line.Share
		}
	}
	return main
}

// Larger is the larger of two values that may be unknown.
func Larger(a, b *float64) *float64 {
	if a == nil || (b != nil && *b > *a) {
		return b
	}
	return a
}

// Average lengths of chunks in tokens: the one at which weighByCoverage leaves the
// weight of text as planned, and the range that was measured, beyond which it is not
// extrapolated.
const (
	ReferenceLength = 134
	shortestLength  = 42
	longestLength   = 251
)

// Coverage explains how the weight of a text leg was changed for a knowledge base.
type Coverage struct {
	Planned       float64 `json:"planned" doc:"The weight before."`
	Known         float64 `json:"known" doc:"Share of the query's idf mass that the text index knows, in [0, 1]."`
	AverageLength float64 `json:"average_length" doc:"Of the chunks, in tokens."`
	Language      string  `json:"language,omitempty" doc:"ISO 639-1; both are of the knowledge bases in this language alone, as chunks of several are compared."`
}

// WeightAccount explains the weight of a leg for a knowledge base.
type WeightAccount struct {
	KnowledgeBase string    `json:"knowledge_base"`
	Leg           string    `json:"leg"`
	Weight        float64   `json:"weight"`
	Rule          string    `json:"rule" enum:"planned,coverage" doc:"planned: as the preset or the request has it; coverage: times √(known · average length/134)."`
	Coverage      *Coverage `json:"coverage,omitempty"`
	// ByQuestion is set if the preset's weights_by changed the weight further.
	ByQuestion *plan.ByQuestion `json:"by_question,omitempty" doc:"What weights_by of the preset made of this question."`
}

// Factor is the factor by which the planned weight is multiplied.
func (c *Coverage) Factor() float64 {
	length := 1.0
	if c.AverageLength > 0 {
		length = min(max(c.AverageLength, shortestLength), longestLength) / ReferenceLength
	}
	return math.Sqrt(c.Known * length)
}
