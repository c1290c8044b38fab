package search

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/textquery"
)

// ExplainRequest asks why a chunk is, or is not, in the answer to a search.
type ExplainRequest struct {
	Request
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
	OutcomeGrouped    = "grouped"      // a better chunk of its document stands for it
)

// ExplainResponse tells where the chunk ended up and what every leg says of it.
type ExplainResponse struct {
	ChunkID       string      `json:"chunk_id"`
	KnowledgeBase string      `json:"knowledge_base"`
	Method        string      `json:"method"` // how its ranking was made: exact, by an approximate index, over a union
	Outcome       string      `json:"outcome" enum:"hit,beyond_top_k,missing,hidden,filtered,candidates,threshold,grouped"`
	Detail        string      `json:"detail"` // the outcome in a sentence, with the filter, threshold or chunk at work
	Rank          *int        `json:"rank"`   // in the answer set, from 1
	Score         *float64    `json:"score"`
	RawScore      *float64    `json:"raw_score"`
	Legs          []LegReport `json:"legs"`
	Plan          Plan        `json:"plan"`
	Degraded      []Degraded  `json:"degraded"`
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

// AnalyzeResponse shows what a request would do, without doing it.
type AnalyzeResponse struct {
	Tokens   []AnalyzedToken    `json:"tokens"`
	Synonyms []AppliedSynonym   `json:"synonyms"`
	Query    *textquery.Query   `json:"query"`
	Required []textquery.Phrase `json:"required,omitempty"`
	Excluded []textquery.Phrase `json:"excluded,omitempty"`
	Known    float64            `json:"known"` // share of the query's idf mass that the index knows
	Plan     Plan               `json:"plan"`
	// Statements are the exact requests per knowledge base, where its engine
	// sends any.
	Statements []Statement `json:"statements"`
}

// AnalyzedToken is one token of the question; offsets are in bytes.
type AnalyzedToken struct {
	Text   string  `json:"text"`
	Start  int     `json:"start"`
	End    int     `json:"end"`
	Weight float64 `json:"weight"`
	DF     int     `json:"df"` // chunks that hold it
	Stop   bool    `json:"stop,omitempty"`
}

// AppliedSynonym is an expansion and the rule that made it.
type AppliedSynonym struct {
	Source []string `json:"source"`
	Target []string `json:"target"`
	Weight float64  `json:"weight"`
	Rule   string   `json:"rule"`
}

// Statement is one request to a knowledge base's engine: JSON body or SQL.
type Statement struct {
	KnowledgeBase string `json:"knowledge_base"`
	engine.Statement
}
