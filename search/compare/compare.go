// Package compare puts one question to several plans side by side: it measures
// how far their rankings agree and tells how each chunk moved between them.
package compare

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search"
)

// Limits on a comparison.
const (
	MinColumns = 2
	MaxColumns = 6
	// DefaultTopK is the depth to which rankings are compared.
	DefaultTopK = 10
	// Persistence is p of rank-biased overlap: with .9 the first ten ranks
	// carry 86 % of the weight.
	Persistence = 0.9
)

// Question is one query and the columns that answer it.
type Question struct {
	Query          string             `json:"query" doc:"The question. Quoted words are a required phrase, -word excludes."`
	Plain          bool               `json:"plain,omitempty" doc:"Takes quotes and dashes in the query as plain text."`
	KnowledgeBases []string           `json:"knowledge_bases" doc:"Ids of the knowledge bases that every column searches."`
	TopK           *int               `json:"top_k,omitempty" minimum:"1" maximum:"10000" doc:"Depth of the comparison, 1 to 10000; 10 by default."`
	User           *string            `json:"user,omitempty" doc:"Only chunks of this owner."`
	Boosts         map[string]float64 `json:"boosts,omitempty" doc:"Knowledge base to what it counts beside the others, more than 0 and at most 100; of columns without knowledge bases or boosts of their own."`
	Copies         string             `json:"copies,omitempty" enum:"fold,keep" doc:"Of every column: fold or keep copies, as in a search."`
	Vector         []float32          `json:"vector,omitempty" doc:"Replaces embedding the query."`
	Filter         filter.Expression  `json:"filter,omitempty" doc:"Field to value, list of values, or {gt, gte, lt, lte, contains, starts_with, ends_with, not, exists}, as in a search."`
	Highlight      *search.Highlight  `json:"highlight,omitempty" doc:"Fragments of the content with the query's words marked."`
	Columns        []Column           `json:"columns" minItems:"2" maxItems:"6" doc:"Plans to compare, 2 to 6."`
}

// Column is one plan: a preset, its engine, and its overrides.
type Column struct {
	Label          string             `json:"label,omitempty" doc:"Name of the column; preset and engine by default."`
	KnowledgeBases []string           `json:"knowledge_bases,omitempty" doc:"Instead of the question's, for the same chunks on another engine."`
	Boosts         map[string]float64 `json:"boosts,omitempty" doc:"Instead of the question's."`
	Preset         string             `json:"preset,omitempty" doc:"Named plan; the default is balanced."`
	Engine         string             `json:"engine,omitempty" doc:"Engine to run on, when a knowledge base has several."`
	search.Overrides
}

// Comparison is the answer. The matrices are [columns][columns]; a row or
// column of an answer that failed is null.
type Comparison struct {
	Query   string  `json:"query"`
	TopK    int     `json:"top_k"`
	TookMS  float64 `json:"took_ms"`
	Columns []Side  `json:"columns"`
	// Overlap is the share of chunks that two columns have in common.
	Overlap [][]*float64 `json:"overlap"`
	// RBO is the rank-biased overlap, p .9.
	RBO [][]*float64 `json:"rbo"`
	// KendallTau orders the common chunks; null with fewer than two of them.
	KendallTau [][]*float64 `json:"kendall_tau"`
	Moves      []Move       `json:"moves"`
}

// Side is one column's answer, or its error.
type Side struct {
	Label    string           `json:"label"`
	Response *search.Response `json:"response"`
	Error    *Failure         `json:"error"`
}

// Failure says why a column has no answer.
type Failure struct {
	Code   fault.Kind `json:"code"`
	Detail string     `json:"detail" locale:"text"`
}

// Move follows one chunk through the columns. Ranks are from 1, null where the
// column does not have it; Moved are the ranks won against the first column.
type Move struct {
	ID     string `json:"id"`
	Ranks  []*int `json:"ranks"`
	Moved  []*int `json:"moved"`
	Unique bool   `json:"unique"` // one column alone has it
}

// Searcher answers several requests for one question together.
type Searcher interface {
	Together(ctx context.Context, scope access.Scope, requests []search.Request) ([]search.Outcome, error)
}

// Run answers a question in every column, over one analysis and one embedding
// of the query, and compares the answers.
func Run(ctx context.Context, s Searcher, scope access.Scope, q *Question) (*Comparison, error) {
	started := time.Now()
	if n := len(q.Columns); n < MinColumns || n > MaxColumns {
		accepted := fmt.Sprintf("a list of %d to %d columns", MinColumns, MaxColumns)
		return nil, fault.Invalid("columns", fault.Length(n), accepted)
	}
	requests := make([]search.Request, len(q.Columns))
	for i := range q.Columns {
		requests[i] = q.request(&q.Columns[i])
	}
	outcomes, err := s.Together(ctx, scope, requests)
	if err != nil {
		return nil, q.refusal(err)
	}
	c := &Comparison{Query: q.Query, TopK: *requests[0].TopK}
	for i := range outcomes {
		c.Columns = append(c.Columns, newSide(&q.Columns[i], &outcomes[i]))
	}
	c.compare()
	c.TookMS = float64(time.Since(started).Nanoseconds()) / 1e6
	return c, nil
}

// request makes the request of a column: the question with the column's overrides.
func (q *Question) request(c *Column) search.Request {
	topK := DefaultTopK
	if q.TopK != nil {
		topK = *q.TopK
	}
	bases, boosts := q.KnowledgeBases, q.Boosts
	if len(c.KnowledgeBases) > 0 {
		bases, boosts = c.KnowledgeBases, nil // which belong to others
	}
	if c.Boosts != nil {
		boosts = c.Boosts
	}
	return search.Request{
		Query: q.Query, Plain: q.Plain, KnowledgeBases: bases, TopK: &topK, User: q.User,
		Vector: q.Vector, Filter: q.Filter, Highlight: q.Highlight,
		Boosts: boosts, Copies: q.Copies, Preset: c.Preset, Engine: c.Engine, Overrides: c.Overrides,
	}
}

// refusal names the column at fault, if the field is a column's own.
func (q *Question) refusal(err error) error {
	var refused *search.RefusedError
	var f *fault.Error
	if !errors.As(err, &refused) || !errors.As(refused.Err, &f) {
		return err
	}
	if !q.ownedByColumn(f.Field, refused.Index) {
		return f
	}
	return f.Within(fmt.Sprintf("columns[%d].", refused.Index))
}

// ownedByColumn reports whether a field came from a column, not from the question.
func (q *Question) ownedByColumn(field string, column int) bool {
	root, _, _ := strings.Cut(field, ".")
	root, _, _ = strings.Cut(root, "[")
	switch root {
	case "", "query", "plain", "top_k", "user", "vector", "filter", "highlight", "copies":
		return false
	case "knowledge_bases", "knowledge_base":
		return len(q.Columns[column].KnowledgeBases) > 0
	case "boosts":
		return q.Columns[column].Boosts != nil
	}
	return true
}

func newSide(column *Column, outcome *search.Outcome) Side {
	side := Side{Label: column.Label, Response: outcome.Response}
	if side.Label == "" {
		side.Label = column.Preset
		if outcome.Response != nil {
			side.Label = outcome.Response.Preset + " · " + outcome.Response.Engine
		}
	}
	if outcome.Err != nil {
		side.Error = &Failure{Code: fault.KindOf(outcome.Err), Detail: "this column could not be answered"}
		var f *fault.Error
		if errors.As(outcome.Err, &f) && f.Kind != fault.Internal {
			side.Error.Detail = f.Detail
		}
	}
	return side
}

// compare fills the matrices and the moves.
func (c *Comparison) compare() {
	rankings := make([][]string, len(c.Columns))
	for i := range c.Columns {
		if r := c.Columns[i].Response; r != nil {
			rankings[i] = make([]string, len(r.Hits))
			for h := range r.Hits {
				rankings[i][h] = r.Hits[h].ID
			}
		}
	}
	c.Overlap = matrix(rankings, func(a, b []string) *float64 { return known(Overlap(a, b, c.TopK)) })
	c.RBO = matrix(rankings, func(a, b []string) *float64 { return known(RankBiasedOverlap(a, b, Persistence)) })
	c.KendallTau = matrix(rankings, func(a, b []string) *float64 {
		tau, ok := KendallTau(a, b)
		if !ok {
			return nil
		}
		return &tau
	})
	c.Moves = Moves(rankings)
}

func known(v float64) *float64 { return &v }

// matrix measures every pair of rankings; a nil ranking has no measure.
func matrix(rankings [][]string, measure func(a, b []string) *float64) [][]*float64 {
	m := make([][]*float64, len(rankings))
	for i := range rankings {
		m[i] = make([]*float64, len(rankings))
		for j := range rankings {
			if rankings[i] != nil && rankings[j] != nil {
				m[i][j] = measure(rankings[i], rankings[j])
			}
		}
	}
	return m
}
