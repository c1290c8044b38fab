package engines

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Subject is a knowledge base that a request searches, the engine that answers, and
// the plan for it.
type Subject struct {
	KB     engine.KnowledgeBase
	Engine engine.Engine
	Plan   plan.Plan

	metrics *Metrics // of the searcher
}

// Catalog finds a knowledge base and the engine that holds it; fault.NotFound
// when the scope does not know it.
type Catalog interface {
	Get(ctx context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error)
}

// ParallelSubjects bounds how many knowledge bases one request searches at a time.
const ParallelSubjects = 8
