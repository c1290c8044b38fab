package search

import (
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/scoring"
)

// Plan is a search before it meets a query's words or an engine: legs, fusion
// and post-processing. It is plain data: a dry run prints it, a comparison is
// two of them, goldens are plans.
type Plan struct {
	Preset string         `json:"preset"`
	Legs   []Leg          `json:"legs"`
	Fusion scoring.Fusion `json:"fusion"`
	// Text is how the question becomes a text query.
	Text analysis.Rules `json:"text"`
	// Joint asks the engine for one ranking by the weighted sum of the legs
	// instead of one ranking per leg: script_score, and z-scores whose moments
	// are known beforehand, are such sums.
	Joint bool `json:"joint,omitempty"`
	// Coverage multiplies the text legs' weight by √(known · average length),
	// known being the share of the query's idf mass that the text index knows.
	Coverage bool `json:"coverage,omitempty"`
	// TextRequired leaves out chunks that the text query does not match, and
	// allows the ladder of Relaxations when then nothing is found.
	TextRequired bool               `json:"text_required,omitempty"`
	Relaxations  []analysis.Minimum `json:"relaxations,omitempty"`
	TopK         int                `json:"top_k"`
	Candidates   int                `json:"candidates"`
	Threshold    Threshold          `json:"threshold"`
	GroupBy      string             `json:"group_by,omitempty"`
	// Distinct keeps the best of the chunks of a knowledge base that are alike in
	// all of these fields: text fields, or those that filters know.
	Distinct []string `json:"distinct,omitempty"`
}

// Leg is one planned ranked retrieval.
type Leg struct {
	Name   string       `json:"name"`
	Kind   scoring.Kind `json:"kind"`
	Field  string       `json:"field"`
	K      int          `json:"k"`
	Weight float64      `json:"weight"`
}
