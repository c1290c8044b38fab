package rag

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/search"
)

// Searcher answers searches; it is safe for concurrent use.
type Searcher interface {
	Search(ctx context.Context, req search.Request) (*search.Response, error)
}

// Scoped is a searcher in this process, such as *search.Searcher.
type Scoped interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
}

// In searches by a searcher in this process, within a scope.
func In(s Scoped, scope access.Scope) Searcher { return within{s, scope} }

type within struct {
	scoped Scoped
	scope  access.Scope
}

// Search implements Searcher.
func (w within) Search(ctx context.Context, req search.Request) (*search.Response, error) {
	return w.scoped.Search(ctx, w.scope, req)
}

// Query is a question to one or several knowledge bases, which are searched in parallel.
// What is empty or 0 is left to the preset.
type Query struct {
	Text           string
	KnowledgeBases []string
	User           string  // only chunks of this owner
	TopK           int     // most hits
	ScoreThreshold float64 // least score of a hit, in [0, 1]
	// MinRelevance is the least probability, in [0, 1], that the answer answers the
	// question. Below it there are no hits, and Response.Empty is NothingRelevant. Where the
	// probability is not known, nothing is cut. Single hits are cut by
	// Request.Threshold.Relevance.
	MinRelevance float64
	// Request holds everything else that a search may have: preset, filter, weights.
	Request search.Request
}

// request returns the query as a search request.
func (q *Query) request() search.Request {
	req := q.Request
	req.Query, req.KnowledgeBases = q.Text, q.KnowledgeBases
	if q.User != "" {
		req.User = &q.User
	}
	if q.TopK != 0 {
		req.TopK = &q.TopK
	}
	if q.ScoreThreshold != 0 {
		req.Threshold.Score = &q.ScoreThreshold
	}
	if q.MinRelevance != 0 {
		req.Threshold.Answerable = &q.MinRelevance
	}
	if req.Highlight == nil { // no one looks at highlights
		none := 0
		req.Highlight = &search.Highlight{Fragments: &none}
	}
	return req
}

// Service searches for programs that generate text. It is safe for concurrent use.
type Service struct{ searcher Searcher }

// New returns a service that searches by s.
func New(s Searcher) *Service { return &Service{searcher: s} }

// Search returns the hits of a query, best first. Quotation marks and dashes in the text
// are plain text. Errors are *fault.Error.
func (s *Service) Search(ctx context.Context, q Query) ([]search.Hit, error) {
	response, err := s.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	return response.Hits, nil
}

// Ask is Search with the whole answer, such as which legs were degraded.
func (s *Service) Ask(ctx context.Context, q Query) (*search.Response, error) {
	req := q.request()
	req.Plain = true
	return s.searcher.Search(ctx, req)
}

// Context is Ask with the answer as text of at most maxChars characters, see FormatAnswer.
// Where nothing answers the question well enough, Context.Empty is NothingRelevant.
func (s *Service) Context(ctx context.Context, q Query, maxChars int) (Context, error) {
	answer, err := s.Ask(ctx, q)
	if err != nil {
		return Context{}, err
	}
	return FormatAnswer(answer, maxChars), nil
}
