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

// Scoped is a searcher of this process, such as *search.Searcher.
type Scoped interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
}

// In searches by a searcher of this process, within a scope.
func In(s Scoped, scope access.Scope) Searcher { return within{s, scope} }

type within struct {
	scoped Scoped
	scope  access.Scope
}

// Search implements Searcher.
func (w within) Search(ctx context.Context, req search.Request) (*search.Response, error) {
	return w.scoped.Search(ctx, w.scope, req)
}

// Query is a question to one knowledge base or several, which are searched at the
// same time. What is empty or 0 is left to the preset.
type Query struct {
	Text           string
	KnowledgeBases []string
	User           string  // only chunks of this owner
	TopK           int     // hits at most
	ScoreThreshold float64 // least score of a hit, in [0, 1]
	// Request holds everything else that a search may ask: preset, filter, weights.
	Request search.Request
}

// request is what the query asks of the gateway.
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
	if req.Highlight == nil { // nobody looks at them
		none := 0
		req.Highlight = &search.Highlight{Fragments: &none}
	}
	return req
}

// Service searches for programs that generate text. It is safe for concurrent use.
type Service struct{ searcher Searcher }

// New makes a service that searches by a searcher.
func New(s Searcher) *Service { return &Service{searcher: s} }

// Search gives the hits of a query, best first. Quotation marks and dashes in the
// text are plain text. Errors are *fault.Error.
func (s *Service) Search(ctx context.Context, q Query) ([]search.Hit, error) {
	response, err := s.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	return response.Hits, nil
}

// Ask is Search with everything that the answer says beside the hits, as of legs
// that took no part.
func (s *Service) Ask(ctx context.Context, q Query) (*search.Response, error) {
	req := q.request()
	req.Plain = true
	return s.searcher.Search(ctx, req)
}
