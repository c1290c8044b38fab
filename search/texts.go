package search

import (
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Fusion is the model of ScoreTexts that reads nothing but words and cosines.
const Fusion = "fusion"

// Limits of ScoreTexts.
const (
	MaxTexts     = 1_000
	maxTextBytes = plan.MaxRerankedText
)

// TextsRequest asks how well each of some texts, which no knowledge base holds, answers a question.
type TextsRequest struct {
	Model string // Fusion, also when empty, or a reranker of the configuration
	Query string
	Texts []string // 1 to MaxTexts; of each its first 16 KiB are read
}

// TextScores are the answer.
type TextScores struct {
	Model  string
	Scores []float64 // [len(Texts)], in [0, 1]
	// Degraded says what fusion had to do without.
	Degraded []answer.Degraded
}
