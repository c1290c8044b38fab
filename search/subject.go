package search

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Subject is a knowledge base that a request searches, and the plan for it.
type Subject struct {
	KB     engine.KnowledgeBase
	Engine engine.Engine
	Plan   Plan
}

// Subjects validates and plans a request: everything that its answer depends on
// beside the data and the question. It runs nothing, and fails also when one of
// several knowledge bases cannot be found for now.
func (s *Searcher) Subjects(ctx context.Context, scope access.Scope, req *Request) ([]Subject, error) {
	r, err := s.planned(ctx, scope, req)
	if err != nil {
		return nil, err
	}
	if len(r.away) > 0 {
		return nil, fault.New(fault.Unavailable, "knowledge base %s: %s", r.away[0].KnowledgeBase, r.away[0].Reason)
	}
	subjects := make([]Subject, len(r.targets))
	for i, t := range r.targets {
		subjects[i] = Subject{KB: t.kb, Engine: t.engine, Plan: t.plan}
	}
	return subjects, nil
}

// NewQueryID names an answer.
func NewQueryID() string { return newQueryID() }
