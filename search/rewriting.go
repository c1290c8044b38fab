package search

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Rewriter writes the texts, 1 to as many as are wanted.
type Rewriter interface {
	Rewrite(ctx context.Context, question string, wanted plan.Rewrite) ([]string, error)
}

// planRewritten plans a request, with phrasings by a language model.
func (s *Searcher) planRewritten(ctx context.Context, scope access.Scope, req *plan.Request) (*run, error) {
	r, err := s.plan(ctx, scope, req)
	if err != nil {
		return nil, err
	}
	return s.rewrite(ctx, scope, r)
}

// rewrite adds the language model's phrasings to those of the request, and plans anew. A model
// that does not answer costs its phrasings only, and is listed.
func (s *Searcher) rewrite(ctx context.Context, scope access.Scope, r *run) (*run, error) {
	wanted := r.Plan.Rewrite
	if wanted == nil || wanted.Texts() == 0 {
		return r, nil
	}
	if s.Rewriter == nil {
		return nil, fault.Invalid("rewrite", *wanted, "null: no language model is configured (llm.url)")
	}
	if n := len(r.Request.Queries) + wanted.Texts(); n > plan.MaxPhrasings {
		return nil, fault.Invalid("rewrite", n, "at most 8 phrasings together with queries")
	}
	texts, err := s.phrasings(ctx, r, *wanted)
	if err != nil {
		r.rewriting = append(r.rewriting, answer.NewDegraded(answer.StepRewrite, "", err))
		return r, nil
	}
	req := *r.Request
	req.Queries = append(append([]string{}, r.Request.Queries...), texts...)
	return s.plan(ctx, scope, &req)
}

func (s *Searcher) phrasings(ctx context.Context, r *run, wanted plan.Rewrite) (_ []string, err error) {
	ctx, span := tracing.Start(ctx, engines.SpanRewrite)
	defer func() { span.End(err) }()
	ctx, cancel := engines.HalfTheTime(ctx)
	defer cancel()
	return s.Rewriter.Rewrite(ctx, r.Request.Query, wanted)
}
