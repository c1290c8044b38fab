package plan

import (
	"time"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
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
	// WeightsBy makes the weight of the text legs follow from the question.
	WeightsBy *WeightModel `json:"weights_by,omitempty"`
	// TextRequired excludes chunks that the text query does not match, and
	// tries the Relaxations in turn if nothing is found.
	TextRequired bool               `json:"text_required,omitempty"`
	Relaxations  []analysis.Minimum `json:"relaxations,omitempty"`
	TopK         int                `json:"top_k"`
	Candidates   int                `json:"candidates"`
	Threshold    Threshold          `json:"threshold"`
	// SecondStage scores the best by their words and vectors, before a reranker reads them.
	SecondStage *SecondStage `json:"second_stage,omitempty"`
	Rerank      *Reranking   `json:"rerank,omitempty"`
	// Fields are the boosts of parts of the text in force, those that are not 1.
	Fields map[string]float64 `json:"fields,omitempty"`
	// DefaultBoosts are the boosts of the preset, of those parts that a knowledge base indexes by themselves.
	DefaultBoosts map[string]float64 `json:"-"`
	// Rewrite asks a language model for phrasings before the search.
	Rewrite *Rewrite `json:"rewrite,omitempty"`
	// Diversity is the weight of dissimilarity to earlier hits relative to the score, in [0, 1].
	Diversity float64 `json:"diversity,omitempty"`
	// Return is ReturnParent where hits bring their sections along.
	Return string `json:"return,omitempty"`
	// DidYouMean corrects unknown words of the question.
	DidYouMean bool   `json:"did_you_mean,omitempty"`
	GroupBy    string `json:"group_by,omitempty"`
	// Distinct keeps the best of the chunks of a knowledge base that are equal in
	// all of these fields: text fields, or filterable fields.
	Distinct []string `json:"distinct,omitempty"`
}

// Leg is one planned ranked retrieval.
type Leg struct {
	Name   string       `json:"name"`
	Kind   scoring.Kind `json:"kind"`
	Field  string       `json:"field"`
	K      int          `json:"k"`
	Weight float64      `json:"weight"`
	// Query is the number of its phrasing: 0 the question, n the n-th of Request.Queries.
	Query  int            `json:"query,omitempty" doc:"The phrasing that it asks for: n is the n-th of queries, from 1; left out, the question."`
	Boosts []engine.Boost `json:"-"` // of parts of a text leg's field, as Plan.Fields has them
	// Signal is set in a signal leg, and AsOf if the signal depends on a date.
	Signal *Signal    `json:"signal,omitempty"`
	AsOf   *time.Time `json:"as_of,omitempty"`
}

// Planner makes the plan of a request for a knowledge base with these fields; it
// is pure.
type Planner func(req *Request, fields []engine.Field) (Plan, error)
