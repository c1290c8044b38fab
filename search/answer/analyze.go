package answer

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/textquery"
)

// AnalyzeResponse shows what a request would do, without doing it.
type AnalyzeResponse struct {
	Tokens   []AnalyzedToken  `json:"tokens"`
	Synonyms []AppliedSynonym `json:"synonyms"`
	// SynonymsCut is the number of further ones, over the limits of package synonyms.
	SynonymsCut int                `json:"synonyms_cut,omitempty" doc:"Synonyms that are over a limit and left out, at least: a rule gives a word 64, a set a question 2048."`
	Query       *textquery.Query   `json:"query"`
	Required    []textquery.Phrase `json:"required,omitempty"`
	Excluded    []textquery.Phrase `json:"excluded,omitempty"`
	Known       float64            `json:"known"` // share of the query's idf mass that the index knows
	Plan        plan.Plan          `json:"plan"`
	// Statements are the exact requests per knowledge base, if its engine
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
	IDF    float64 `json:"idf" doc:"What BM25 makes of df: ln(1 + (N - df + 0.5) / (df + 0.5)) for N chunks. A match counts weight times idf."`
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
