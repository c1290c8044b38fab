package search

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
)

// question is what the request asks of every knowledge base.
type question struct {
	phrasing
	more   []phrasing        // of Request.Queries
	model  string            // that made the vector; empty when the request brought it
	others map[string][]made // vectors by further models, of the question and of each of more
	filter engine.Filter
	facets []string
	apart  []string // see Request.countedApart
}

// analyze parses the query and the filter, and embeds the query: once for all
// knowledge bases.
func (s *Searcher) analyze(ctx context.Context, r *run) (err error) {
	ctx, span := tracing.Start(ctx, engines.SpanAnalyze)
	defer func() { span.End(err) }()
	started := time.Now()
	conditions, err := plan.ParseFilter(r.req.Filter)
	if err != nil {
		return err
	}
	q := question{facets: r.req.Facets, apart: r.req.DisjunctiveFields()}
	if r.req.Plain {
		q.parsed = s.Analyzer.ParsePlain(r.req.Query)
	} else {
		q.parsed = s.Analyzer.Parse(r.req.Query)
	}
	if n := len(q.parsed.Required) + len(q.parsed.Excluded); n > plan.MaxPhrases {
		return &fault.Error{
			Kind: fault.InvalidArgument, Field: "query",
			Detail: fmt.Sprintf("query has %d quoted or excluded phrases; at most %d are accepted", n, plan.MaxPhrases),
		}
	}
	if q.language = language.Code(r.req.Language); q.language == "" {
		q.language = language.Of(q.parsed.Text)
	}
	conditions = slices.Concat(r.bound, conditions)
	q.filter = engine.Filter{Conditions: conditions, Required: q.parsed.Required, Excluded: q.parsed.Excluded}
	if r.req.User != nil {
		q.filter.Owner = *r.req.User
	}
	r.timings.Analyze = answer.Milliseconds(time.Since(started))
	q.more = s.wordings(r.req.Queries)
	if needsVector(r.subjects) {
		started = time.Now()
		s.embedAll(ctx, r, &q)
		r.timings.Embed = answer.Milliseconds(time.Since(started))
	}
	r.question = q
	return nil
}

// passes reports whether a chunk is one that the search may show: that it is the owner's
// who was asked for, and passes the filters of the request and of the scope. Phrases of the
// question do not count.
func (q *question) passes(chunk *engine.Chunk) bool {
	owned := q.filter.Owner == "" || q.filter.Owner == chunk.Owner
	return chunk.Available && owned && engine.MatchesAll(q.filter.Conditions, chunk)
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

// made is a vector, or why there is none.
type made struct {
	vector []float32
	err    error
}

// embed makes the vector of a text.
func embed(ctx context.Context, e Embedder, text string) (m made) {
	switch {
	case e == nil:
		m.err = fault.New(fault.Unavailable, "no embedding service is configured and the request brings no vector")
	case text == "":
		m.err = fault.New(fault.InvalidArgument, "the query has no text to embed")
	default:
		ctx, span := tracing.Start(ctx, engines.SpanEmbed)
		m.vector, m.err = e.Query(ctx, text)
		span.End(m.err)
	}
	return m
}

// embedAll makes the vectors of the question, unless the request brought that, and of its further
// wordings, by each model of the searched knowledge bases: all at the same time.
func (s *Searcher) embedAll(ctx context.Context, r *run, q *question) {
	ctx, cancel := engines.HalfTheTime(ctx)
	defer cancel()
	var group errgroup.Group
	start := func(into *made, e Embedder, text string) {
		group.Go(func() error {
			*into = embed(ctx, e, text)
			return nil // each keeps its own error
		})
	}
	phrasings := q.phrasings()
	usual, further := s.modelsOf(r.subjects)
	first := make([]made, len(phrasings))
	brought := r.req.Vector
	if q.others = nil; len(brought) > 0 {
		first[0].vector, q.model = brought, ""
	} else if s.Embedder != nil {
		q.model = s.Embedder.Model()
	}
	for i, p := range phrasings {
		if bringsIt := len(brought) > 0; usual && !bringsIt || bringsIt && i > 0 {
			start(&first[i], s.Embedder, p.parsed.Text)
		}
	}
	if len(brought) == 0 {
		for _, model := range further {
			all := make([]made, len(phrasings))
			for i, p := range phrasings {
				start(&all[i], s.Embedders[model], p.parsed.Text)
			}
			if q.others == nil {
				q.others = map[string][]made{}
			}
			q.others[model] = all
		}
	}
	_ = group.Wait()
	for i, p := range phrasings {
		p.vector, p.noVector = first[i].vector, first[i].err
	}
}

// embedder is that of a model: a further one, or the usual one.
func (s *Searcher) embedder(model string) Embedder {
	if e, ok := s.Embedders[model]; ok {
		return e
	}
	return s.Embedder
}

// modelsOf tells whether the usual model embeds for some of the knowledge bases, and which further
// ones do.
func (s *Searcher) modelsOf(subjects []engines.Subject) (usual bool, further []string) {
	for i := range subjects {
		if !needsVector(subjects[i : i+1]) {
			continue
		}
		model := subjects[i].KB.EmbeddingModel
		if _, ok := s.Embedders[model]; !ok {
			usual = true
		} else if !slices.Contains(further, model) {
			further = append(further, model)
		}
	}
	return usual, further
}

// phrasings are the question and its further wordings.
func (q *question) phrasings() []*phrasing {
	all := []*phrasing{&q.phrasing}
	for i := range q.more {
		all = append(all, &q.more[i])
	}
	return all
}

// wordingFor is a wording as the model of a knowledge base embeds it: that model, and the vector.
func (q *question) wordingFor(kb *engine.KnowledgeBase, query int) (model string, m made) {
	if others, ok := q.others[kb.EmbeddingModel]; ok {
		return kb.EmbeddingModel, others[query]
	}
	p := q.phrasings()[query]
	return q.model, made{p.vector, p.noVector}
}

// hasVector reports whether the question has one, by any model.
func (q *question) hasVector() bool {
	for _, others := range q.others {
		if others[0].vector != nil {
			return true
		}
	}
	return q.vector != nil
}

// QueryVector embeds a question for a knowledge base, [dim]float32, by the model that its vectors are of.
func (s *Searcher) QueryVector(ctx context.Context, kb *engine.KnowledgeBase, text string) ([]float32, error) {
	var q question
	e := s.embedder(kb.EmbeddingModel)
	made := embed(ctx, e, s.Analyzer.ParsePlain(text).Text)
	if q.vector, q.noVector = made.vector, made.err; made.err == nil {
		q.model = e.Model()
	}
	return q.vectorFor(kb, &leg{})
}
