package search

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// PresetDefault is the name of the saved preset for requests that name none. A tenant without one
// gets Options.DefaultPreset; a built-in preset called default is not special.
const PresetDefault = "default"

// standard is the preset of a tenant's requests without a preset.
func (s *Searcher) standard(tenant string) string {
	if s.Saved != nil && s.Planners[PresetDefault] == nil && s.Saved.Planner(tenant, PresetDefault) != nil {
		return PresetDefault
	}
	return s.DefaultPreset
}

// Presets lists the presets that a tenant's request may name, in order, and the default
// one.
func (s *Searcher) Presets(tenant string) (names []string, standard string) {
	names = slices.Sorted(maps.Keys(s.Planners))
	if s.Saved != nil {
		names = append(names, s.Saved.Names(tenant)...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	return names, s.standard(tenant)
}

// Models gives what a request may use beside presets: the names of the rerankers, and whether a
// language model may rewrite.
func (s *Searcher) Models() (rerankers []string, writes bool) {
	return slices.Sorted(maps.Keys(s.Rerankers)), s.Rewriter != nil
}

// Subjects validates and plans a request: everything that its answer depends on
// beside the data and the question. It runs nothing, and fails even when only one of
// several knowledge bases is unavailable.
func (s *Searcher) Subjects(ctx context.Context, scope access.Scope, req *plan.Request) ([]engines.Subject, error) {
	r, err := s.plan(ctx, scope, req)
	if err != nil {
		return nil, err
	}
	if len(r.unavailable) > 0 {
		lost := &r.unavailable[0]
		return nil, fault.New(fault.Unavailable, "knowledge base %s: %s", lost.KnowledgeBase, lost.Reason)
	}
	return r.Subjects, nil
}

// plan validates a request and plans it for each knowledge base. Of several, an
// unavailable one costs its own hits only.
func (s *Searcher) plan(ctx context.Context, scope access.Scope, req *plan.Request) (_ *run, err error) {
	ctx, span := tracing.Start(ctx, engines.SpanPlan)
	defer func() { span.End(err) }()
	planner, err := s.plannerOf(scope, req)
	if err != nil {
		return nil, err
	}
	r := &run{Asked: ask.Asked{Request: req, Bound: scope.Filter}, timings: answer.Timings{Legs: map[string]float64{}}}
	var unavailable error
	for _, id := range req.KnowledgeBases {
		subject, err := s.resolver().Resolve(ctx, scope, req, id)
		if engines.IsUnavailable(err) {
			unavailable = err
			r.unavailable = append(r.unavailable, answer.NewDegraded(answer.StepCatalog, id, err))
			continue
		}
		if err != nil {
			return nil, err
		}
		if subject.Plan, err = planner(req, subject.KB.Fields()); err != nil {
			return nil, err
		}
		if err := subject.Plan.ValidateParents(); err != nil {
			return nil, err
		}
		if err := subject.Plan.BoostFields(&subject.KB); err != nil {
			return nil, err
		}
		subject.Plan.Phrase(len(req.Queries))
		subject.Plan.AsOf(time.Now())
		if s.lacksVectors(planner, req, &subject.KB) {
			r.vectorless = append(r.vectorless, answer.NewDegraded(string(scoring.Vector), id, errNoVectors))
		}
		if by := subject.Plan.Rerank; by != nil && s.Rerankers[by.Name] == nil {
			return nil, fault.Invalid("rerank", by.Name, "null, or one of the configured rerankers: "+names(s.Rerankers))
		}
		r.Subjects = append(r.Subjects, subject)
	}
	if len(r.Subjects) == 0 {
		return nil, unavailable
	}
	span.Note("hybridge.preset", r.Subjects[0].Plan.Preset)
	r.Plan, r.measured = &r.Subjects[0].Plan, make([]retrieve.Measured, len(r.Subjects))
	return r, nil
}

// errNoVectors is for a knowledge base created before there was a model, and not marked
// keyword-only.
var errNoVectors = fault.New(fault.Unsupported, "the knowledge base was made without vectors, before there was an "+
	"embedding model: only its words are searched. hybridge mappings plan --embedding-model-name gives it some")

// lacksVectors reports whether the plan would search vectors if the knowledge base had any, and
// it is not keyword-only on purpose.
func (s *Searcher) lacksVectors(planner plan.Planner, req *plan.Request, kb *engine.KnowledgeBase) bool {
	if kb.Dimensions > 0 || kb.KeywordOnly || kb.Attach != nil || s.Embedder == nil && len(s.Embedders) == 0 {
		return false
	}
	with := *kb
	with.Dimensions = 1
	meant, err := planner(req, with.Fields())
	byVector := func(l plan.Leg) bool { return l.Kind == scoring.Vector && l.Weight > 0 }
	return err == nil && slices.ContainsFunc(meant.Legs, byVector)
}

// plannerOf gives the planner of a valid request.
func (s *Searcher) plannerOf(scope access.Scope, req *plan.Request) (plan.Planner, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if req.Everything {
		return plan.Everything, nil
	}
	preset := req.Preset
	if preset == "" {
		preset = s.standard(scope.Tenant)
	}
	planner := s.Planners[preset]
	if planner == nil && s.Saved != nil {
		planner = s.Saved.Planner(scope.Tenant, preset)
	}
	if planner == nil {
		return nil, s.unknownPreset(scope, preset)
	}
	return planner, nil
}

// maxNamed is how many of a tenant's own presets an error names.
const maxNamed = 20

func (s *Searcher) unknownPreset(scope access.Scope, preset string) error {
	known := slices.Sorted(maps.Keys(s.Planners))
	if s.Saved != nil {
		own := s.Saved.Names(scope.Tenant)
		known = append(known, own[:min(len(own), maxNamed)]...)
		if len(own) > maxNamed {
			known = append(known, "…")
		}
	}
	return fault.Invalid("preset", preset, "one of "+strings.Join(known, ", "))
}

func names[V any](m map[string]V) string {
	if len(m) == 0 {
		return "(none)"
	}
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// QueryVector embeds a question for a knowledge base, [dim]float32, by the model of its vectors.
func (s *Searcher) QueryVector(ctx context.Context, kb *engine.KnowledgeBase, text string) ([]float32, error) {
	return s.asker().QueryVector(ctx, kb, text)
}
