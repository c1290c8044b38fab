package search

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
)

// question is what the request asks of every knowledge base.
type question struct {
	phrasing
	more   []phrasing // of Request.Queries
	model  string     // that made the vector; empty when the request brought it
	filter engine.Filter
	facets []string
	apart  []string // see Request.countedApart
}

// analyze parses the query and the filter, and embeds the query: once for all
// knowledge bases.
func (s *Searcher) analyze(ctx context.Context, r *run) (err error) {
	ctx, span := tracing.Start(ctx, spanAnalyze)
	defer func() { span.End(err) }()
	started := time.Now()
	conditions, err := ParseFilter(r.req.Filter)
	if err != nil {
		return err
	}
	q := question{facets: r.req.Facets, apart: r.req.countedApart()}
	if r.req.Plain {
		q.parsed = s.Analyzer.ParsePlain(r.req.Query)
	} else {
		q.parsed = s.Analyzer.Parse(r.req.Query)
	}
	if n := len(q.parsed.Required) + len(q.parsed.Excluded); n > MaxPhrases {
		return &fault.Error{
			Kind: fault.InvalidArgument, Field: "query",
			Detail: fmt.Sprintf("query has %d quoted or excluded phrases; at most %d are accepted", n, MaxPhrases),
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
	r.timings.Analyze = milliseconds(time.Since(started))
	q.more = s.wordings(r.req.Queries)
	if needsVector(r.subjects) {
		started = time.Now()
		s.embedAll(ctx, r.req.Vector, &q)
		r.timings.Embed = milliseconds(time.Since(started))
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

func needsVector(subjects []Subject) bool {
	for i := range subjects {
		for _, leg := range subjects[i].Plan.Legs {
			if leg.Kind == scoring.Vector {
				return true
			}
		}
	}
	return false
}

// embed makes the vector of a wording.
func (s *Searcher) embed(ctx context.Context, p *phrasing) {
	switch {
	case s.Embedder == nil:
		p.noVector = fault.New(fault.Unavailable,
			"no embedding service is configured and the request brings no vector")
	case p.parsed.Text == "":
		p.noVector = fault.New(fault.InvalidArgument, "the query has no text to embed")
	default:
		ctx, span := tracing.Start(ctx, spanEmbed)
		p.vector, p.noVector = s.Embedder.Query(ctx, p.parsed.Text)
		span.End(p.noVector)
	}
}
