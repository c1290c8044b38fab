package engines

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Resolver finds knowledge bases.
type Resolver struct {
	Catalog Catalog
	Metrics *Metrics // nil: nothing is counted
}

// Resolve finds a knowledge base of the request and the engine that answers.
func (s Resolver) Resolve(
	ctx context.Context, scope access.Scope, req *plan.Request, id string,
) (_ Subject, err error) {
	ctx, span := tracing.Start(ctx, spanResolve)
	defer func() { span.End(err) }()
	kb, holder, err := s.Catalog.Get(ctx, scope, id)
	if err != nil {
		return Subject{}, err
	}
	subject := Subject{KB: kb, metrics: s.Metrics}
	if subject.Engine, err = chooseEngine(req.Engine, &subject.KB, holder); err != nil {
		return Subject{}, err
	}
	if n := len(req.Vector); n > 0 && kb.Dimensions > 0 && n != kb.Dimensions {
		return Subject{}, &fault.Error{
			Kind: fault.InvalidArgument, Field: "vector",
			Detail: DimensionDetail(n, &subject.KB),
		}
	}
	return subject, nil
}

// memberHolder is the engines of a knowledge base that lives on more than one.
type memberHolder interface {
	Member(name string) (engine.Engine, bool)
}

// chooseEngine gives the engine that was asked for; of several without a wish, the
// first.
func chooseEngine(asked string, kb *engine.KnowledgeBase, holder engine.Engine) (engine.Engine, error) {
	accepted := holder.Name()
	if all, ok := holder.(memberHolder); ok {
		name := asked
		if name == "" {
			name = kb.Engines[0]
		}
		if member, ok := all.Member(name); ok {
			kb.Engine = name
			return member, nil
		}
		accepted = "one of " + strings.Join(kb.Engines, ", ")
	}
	if asked != "" && asked != holder.Name() {
		return nil, fault.Invalid("engine", asked, accepted+", which holds knowledge base "+kb.ID)
	}
	return holder, nil
}

// DimensionDetail says that a vector has another dimension than a knowledge base.
func DimensionDetail(n int, kb *engine.KnowledgeBase) string {
	return fmt.Sprintf("vector has %d numbers; it must have %d, the dimension of knowledge base %s",
		n, kb.Dimensions, kb.ID)
}

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

// parallelSubjects bounds how many knowledge bases one request searches at a time.
const parallelSubjects = 8

// Each does something for each of n knowledge bases at the same time.
func Each(n int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	var group errgroup.Group
	group.SetLimit(parallelSubjects)
	for i := range n {
		group.Go(func() error {
			do(i)
			return nil // each keeps its own error
		})
	}
	_ = group.Wait()
}
