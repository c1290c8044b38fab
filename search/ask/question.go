package ask

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Question is the part of a request common to all knowledge bases.
type Question struct {
	Wording
	Further     []Wording           // of Request.Queries
	Model       string              // that made the vector; empty when the request brought it
	byModel     map[string][]Vector // vectors by further models, of the question and of each further wording
	Filter      engine.Filter
	Facets      []string
	Disjunctive []string // counted without their own filter
}

// Ask parses the query and the filter of a request, and embeds the query: once for all knowledge bases. Conditions of
// the scope are added to the filter, and their times are recorded in took.
func (s Asker) Ask(
	ctx context.Context, req *plan.Request, bound []filter.Condition, subjects []engines.Subject, took *answer.Timings,
) (q Question, err error) {
	ctx, span := tracing.Start(ctx, engines.SpanAnalyze)
	defer func() { span.End(err) }()
	started := time.Now()
	conditions, err := filter.Parse(req.Filter)
	if err != nil {
		return q, err
	}
	q.Facets, q.Disjunctive = req.Facets, req.DisjunctiveFields()
	if req.Plain {
		q.Parsed = s.Analyzer.ParsePlain(req.Query)
	} else {
		q.Parsed = s.Analyzer.Parse(req.Query)
	}
	if n := len(q.Parsed.Required) + len(q.Parsed.Excluded); n > plan.MaxPhrases {
		return q, &fault.Error{
			Kind: fault.InvalidArgument, Field: "query",
			Detail: fmt.Sprintf("query has %d quoted or excluded phrases; at most %d are accepted", n, plan.MaxPhrases),
		}
	}
	if q.Language = language.Code(req.Language); q.Language == "" {
		q.Language = language.Of(q.Parsed.Text)
	}
	conditions = slices.Concat(bound, conditions)
	q.Filter = engine.Filter{Conditions: conditions, Required: q.Parsed.Required, Excluded: q.Parsed.Excluded}
	if req.User != nil {
		q.Filter.Owner = *req.User
	}
	took.Analyze = answer.Milliseconds(time.Since(started))
	q.Further = s.wordings(req.Queries)
	if needsVector(subjects) {
		started = time.Now()
		s.embedAll(ctx, req.Vector, subjects, &q)
		took.Embed = answer.Milliseconds(time.Since(started))
	}
	return q, nil
}

// Passes reports whether the search may show a chunk: whether it has the requested owner
// and passes the filters of the request and of the scope. Phrases of the
// question do not count.
func (q *Question) Passes(chunk *engine.Chunk) bool {
	owned := q.Filter.Owner == "" || q.Filter.Owner == chunk.Owner
	return chunk.Available && owned && filter.MatchesAll(q.Filter.Conditions, chunk)
}

func needsVector(subjects []engines.Subject) bool {
	for i := range subjects {
		for _, leg := range subjects[i].Plan.Legs {
			if leg.Kind == scoring.Vector {
				return true
			}
		}
	}
	return false
}

// Vector is a vector, or the reason why there is none.
type Vector struct {
	Numbers []float32
	Err     error
}

// EmbedBy makes the vector of a text.
func EmbedBy(ctx context.Context, e Embedder, text string) (m Vector) {
	switch {
	case e == nil:
		m.Err = fault.New(fault.Unavailable, "no embedding service is configured and the request brings no vector")
	case text == "":
		m.Err = fault.New(fault.InvalidArgument, "the query has no text to embed")
	default:
		ctx, span := tracing.Start(ctx, engines.SpanEmbed)
		m.Numbers, m.Err = e.Query(ctx, text)
		span.End(m.Err)
	}
	return m
}

// embedAll makes the vectors of the question, unless the request has one, and of its further
// wordings, by each model of the searched knowledge bases: all at the same time.
func (s Asker) embedAll(ctx context.Context, brought []float32, subjects []engines.Subject, q *Question) {
	ctx, cancel := engines.HalfTheTime(ctx)
	defer cancel()
	var group errgroup.Group
	start := func(into *Vector, e Embedder, text string) {
		group.Go(func() error {
			*into = EmbedBy(ctx, e, text)
			return nil // each keeps its own error
		})
	}
	phrasings := q.Wordings()
	usesDefault, others := s.modelsOf(subjects)
	first := make([]Vector, len(phrasings))
	if q.byModel = nil; len(brought) > 0 {
		first[0].Numbers, q.Model = brought, ""
	} else if s.Embedder != nil {
		q.Model = s.Embedder.Model()
	}
	for i, p := range phrasings {
		if bringsIt := len(brought) > 0; usesDefault && !bringsIt || bringsIt && i > 0 {
			start(&first[i], s.Embedder, p.Parsed.Text)
		}
	}
	if len(brought) == 0 {
		for _, model := range others {
			all := make([]Vector, len(phrasings))
			for i, p := range phrasings {
				start(&all[i], s.Embedders[model], p.Parsed.Text)
			}
			if q.byModel == nil {
				q.byModel = map[string][]Vector{}
			}
			q.byModel[model] = all
		}
	}
	_ = group.Wait()
	for i, p := range phrasings {
		p.Vector, p.NoVector = first[i].Numbers, first[i].Err
	}
}

// EmbedderOf gives the embedder of a model, else the default one.
func (s Asker) EmbedderOf(model string) Embedder {
	if e, ok := s.Embedders[model]; ok {
		return e
	}
	return s.Embedder
}

// modelsOf reports whether some of the knowledge bases use the default model, and which other
// models the others use.
func (s Asker) modelsOf(subjects []engines.Subject) (usesDefault bool, others []string) {
	for i := range subjects {
		if !needsVector(subjects[i : i+1]) {
			continue
		}
		model := subjects[i].KB.EmbeddingModel
		if _, ok := s.Embedders[model]; !ok {
			usesDefault = true
		} else if !slices.Contains(others, model) {
			others = append(others, model)
		}
	}
	return usesDefault, others
}

// Wordings are the question and its further wordings.
func (q *Question) Wordings() []*Wording {
	all := []*Wording{&q.Wording}
	for i := range q.Further {
		all = append(all, &q.Further[i])
	}
	return all
}

// WordingFor is a wording with the model of a knowledge base and the vector by that model.
func (q *Question) WordingFor(kb *engine.KnowledgeBase, query int) (model string, m Vector) {
	if others, ok := q.byModel[kb.EmbeddingModel]; ok {
		return kb.EmbeddingModel, others[query]
	}
	p := q.Wordings()[query]
	return q.Model, Vector{p.Vector, p.NoVector}
}

// HasVector reports whether the question has a vector, by any model.
func (q *Question) HasVector() bool {
	for _, others := range q.byModel {
		if others[0].Numbers != nil {
			return true
		}
	}
	return q.Vector != nil
}

// QueryVector embeds a question for a knowledge base, [dim]float32, by the model of its vectors.
func (s Asker) QueryVector(ctx context.Context, kb *engine.KnowledgeBase, text string) ([]float32, error) {
	var q Question
	e := s.EmbedderOf(kb.EmbeddingModel)
	made := EmbedBy(ctx, e, s.Analyzer.ParsePlain(text).Text)
	if q.Vector, q.NoVector = made.Numbers, made.Err; made.Err == nil {
		q.Model = e.Model()
	}
	return q.VectorFor(kb, 0)
}

// VectorFor gives the vector for a knowledge base, or the reason why there is none.
func (q *Question) VectorFor(kb *engine.KnowledgeBase, query int) ([]float32, error) {
	model, asked := q.WordingFor(kb, query)
	if asked.Err != nil {
		return nil, asked.Err
	}
	if model != "" && kb.EmbeddingModel != "" && model != kb.EmbeddingModel {
		return nil, fault.New(fault.Conflict,
			"knowledge base %s holds vectors of model %q, the query was embedded by %q", kb.ID, kb.EmbeddingModel, model)
	}
	if n := len(asked.Numbers); n != kb.Dimensions {
		return nil, fault.New(fault.Conflict, "%s", engines.DimensionDetail(n, kb))
	}
	return asked.Numbers, nil
}

// ModelFor is the model that made the vectors of a search: a vector in the request
// is assumed to be by the knowledge base's model.
func (q *Question) ModelFor(kb *engine.KnowledgeBase) string {
	if _, ok := q.byModel[kb.EmbeddingModel]; ok || q.Model == "" {
		return kb.EmbeddingModel
	}
	return q.Model
}

// FilterOf is the filter for a knowledge base: phrases are matched in its text fields.
func (q *Question) FilterOf(kb *engine.KnowledgeBase) engine.Filter {
	filter := q.Filter
	if len(filter.Required)+len(filter.Excluded) > 0 {
		filter.Fields = kb.FieldsOf(scoring.Text)
	}
	return filter
}

// Restricts reports whether the filter excludes anything.
func (q *Question) Restricts() bool {
	f := &q.Filter
	return len(f.Conditions)+len(f.Required)+len(f.Excluded) > 0 || f.Owner != ""
}

// Wording is one wording of the question.
type Wording struct {
	Parsed analysis.Query
	Vector []float32
	// noVector is why there is no vector: the vector legs are degraded by it.
	NoVector error
	Language string // ISO 639-1; empty: unknown
}

// In gives a wording by its number, 0 for the question itself.
func (q *Question) In(query int) *Wording {
	if query == 0 {
		return &q.Wording
	}
	return &q.Further[query-1]
}

// wordings analyzes texts; their vectors are made later.
func (s Asker) wordings(queries []string) []Wording {
	all := make([]Wording, len(queries))
	for i, text := range queries {
		parsed := s.Analyzer.ParsePlain(text)
		all[i] = Wording{Parsed: parsed, Language: language.Of(parsed.Text)}
	}
	return all
}

// Reword gives a question the further wordings of another request.
func (s Asker) Reword(ctx context.Context, q Question, req *plan.Request, subjects []engines.Subject) Question {
	q.Further = s.wordings(req.Queries)
	if needsVector(subjects) {
		s.embedAll(ctx, req.Vector, subjects, &q)
	}
	return q
}

// LanguageFor is the language of the question for a knowledge base. If it is unknown, as for a
// name, or unsupported, the language of the chunks is assumed.
func (w *Wording) LanguageFor(main string) string {
	if bank.Has(w.Language) {
		return w.Language
	}
	return main
}
