package search

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// Rewrite asks a language model for texts that the question is asked by too.
type Rewrite struct {
	Phrasings          int    `json:"phrasings,omitempty" minimum:"0" maximum:"8" yaml:"phrasings" accept:"0 to 8" doc:"Wordings of the question in its own language."`
	TranslateTo        string `json:"translate_to,omitempty" yaml:"translate_to" accept:"an ISO 639-1 code such as en or zh" doc:"Language to translate it into."`
	HypotheticalAnswer bool   `json:"hypothetical_answer,omitempty" yaml:"hypothetical_answer" doc:"A text as it might stand in a document that answers it."`
}

// Rewriter writes the texts, 1 to as many as are wanted.
type Rewriter interface {
	Rewrite(ctx context.Context, question string, wanted Rewrite) ([]string, error)
}

// texts is how many are wanted.
func (w *Rewrite) texts() int {
	n := w.Phrasings
	if w.TranslateTo != "" {
		n++
	}
	if w.HypotheticalAnswer {
		n++
	}
	return n
}

func (w *Rewrite) validate() error {
	switch {
	case w == nil:
		return nil
	case w.Phrasings < 0 || w.Phrasings > MaxPhrasings:
		return fault.Invalid("rewrite.phrasings", w.Phrasings, "0 to 8")
	case w.TranslateTo != "" && language.Code(w.TranslateTo) == "":
		return fault.Invalid("rewrite.translate_to", w.TranslateTo, "an ISO 639-1 code such as en or zh, or left out")
	}
	return nil
}

// planWritten plans a request, with what a language model writes.
func (s *Searcher) planWritten(ctx context.Context, scope access.Scope, req *Request) (*run, error) {
	r, err := s.plan(ctx, scope, req)
	if err != nil {
		return nil, err
	}
	return s.rewrite(ctx, scope, r)
}

// rewrite adds what the plan has a language model write to the phrasings of the request, and
// plans anew. A model that does not answer costs its phrasings only, and is listed.
func (s *Searcher) rewrite(ctx context.Context, scope access.Scope, r *run) (*run, error) {
	wanted := r.plan.Rewrite
	if wanted == nil || wanted.texts() == 0 {
		return r, nil
	}
	if s.Rewriter == nil {
		return nil, fault.Invalid("rewrite", *wanted, "null: no language model is configured (llm.url)")
	}
	if n := len(r.req.Queries) + wanted.texts(); n > MaxPhrasings {
		return nil, fault.Invalid("rewrite", n, "at most 8 phrasings together with queries")
	}
	texts, err := s.written(ctx, r, *wanted)
	if err != nil {
		r.rewriting = append(r.rewriting, newDegraded(stepRewrite, "", err))
		return r, nil
	}
	req := *r.req
	req.Queries = append(append([]string{}, r.req.Queries...), texts...)
	return s.plan(ctx, scope, &req)
}

func (s *Searcher) written(ctx context.Context, r *run, wanted Rewrite) (_ []string, err error) {
	ctx, span := tracing.Start(ctx, spanRewrite)
	defer func() { span.End(err) }()
	ctx, cancel := leavingTime(ctx)
	defer cancel()
	return s.Rewriter.Rewrite(ctx, r.req.Query, wanted)
}
