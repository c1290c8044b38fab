package answer

import (
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/plan"
)

// ExplainRequest asks why a chunk is, or is not, in the answer to a search.
type ExplainRequest struct {
	plan.Request
	ChunkID string `json:"chunk_id" doc:"Id of the chunk in question."`
}

// Where a chunk ended up, or was lost.
const (
	OutcomeHit        = "hit"          // in the answer
	OutcomeBeyondTopK = "beyond_top_k" // in the answer set, not among the top_k
	OutcomeMissing    = "missing"      // no such chunk in these knowledge bases
	OutcomeHidden     = "hidden"       // available is false
	OutcomeFiltered   = "filtered"     // a filter excludes it
	OutcomeCandidates = "candidates"   // no leg has it among its candidates
	OutcomeThreshold  = "threshold"    // a threshold cut it
	OutcomeGrouped    = "grouped"      // a better chunk of its document, or with its text, stands for it
)

// ExplainResponse tells where the chunk ended up, with every leg's observation of it.
type ExplainResponse struct {
	ChunkID       string `json:"chunk_id"`
	KnowledgeBase string `json:"knowledge_base"`
	Method        string `json:"method"` // how its ranking was made: exact, by an approximate index, over a union
	Outcome       string `json:"outcome" enum:"hit,beyond_top_k,missing,hidden,filtered,candidates,threshold,grouped"`
	// Detail is the outcome in a sentence, with the filter, threshold or chunk that decided it.
	Detail   string      `json:"detail" locale:"text"`
	Rank     *int        `json:"rank"` // in the answer set, from 1
	Score    *float64    `json:"score"`
	RawScore *float64    `json:"raw_score"`
	Legs     []LegReport `json:"legs"`
	// Rerank is the reranker's verdict, if it read the chunk.
	Rerank *Reranked `json:"rerank,omitempty"`
	// SecondStage is the second stage's verdict.
	SecondStage *SecondScore `json:"second_stage,omitempty"`
	Plan        plan.Plan    `json:"plan"`
	Degraded    []Degraded   `json:"degraded"`
}

// LegReport is one leg's view of the chunk. Rank is its true rank in the leg,
// also beyond the leg's candidates, null past MaxCandidates or unmatched.
type LegReport struct {
	Leg          string                `json:"leg"`
	Rank         *int                  `json:"rank"`
	Raw          *float64              `json:"raw"`
	Candidates   int                   `json:"candidates"`
	Contribution *scoring.Contribution `json:"contribution"`
}
