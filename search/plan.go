package search

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
)

// Plan is a search before it meets a query's words or an engine: legs, fusion
// and post-processing. It is plain data: a dry run prints it, a comparison is
// two of them, goldens are plans.
type Plan struct {
	Preset string         `json:"preset"`
	Legs   []Leg          `json:"legs"`
	Fusion scoring.Fusion `json:"fusion"`
	// Text is how the question becomes a text query.
	Text analysis.Rules `json:"text"`
	// Joint asks the engine for one ranking by the weighted sum of the legs
	// instead of one ranking per leg: script_score, and z-scores whose moments
	// are known beforehand, are such sums.
	Joint bool `json:"joint,omitempty"`
	// Coverage multiplies the text legs' weight by √(known · average length),
	// known being the share of the query's idf mass that the text index knows.
	Coverage bool `json:"coverage,omitempty"`
	// WeightsBy makes the weight of the text legs follow from the question.
	WeightsBy *WeightModel `json:"weights_by,omitempty"`
	// TextRequired leaves out chunks that the text query does not match, and
	// tries the Relaxations in turn when nothing is found then.
	TextRequired bool               `json:"text_required,omitempty"`
	Relaxations  []analysis.Minimum `json:"relaxations,omitempty"`
	TopK         int                `json:"top_k"`
	Candidates   int                `json:"candidates"`
	Threshold    Threshold          `json:"threshold"`
	// SecondStage scores the best by their words and vectors, before a reranker reads them.
	SecondStage *SecondStage `json:"second_stage,omitempty"`
	Rerank      *Reranking   `json:"rerank,omitempty"`
	// Fields are the boosts of parts of the text in force, those that are not 1.
	Fields map[string]float64 `json:"fields,omitempty"`
	// UsualFields are the boosts of the preset, of those parts that a knowledge base indexes by themselves.
	UsualFields map[string]float64 `json:"-"`
	// Rewrite is what a language model writes before the search.
	Rewrite *Rewrite `json:"rewrite,omitempty"`
	// Diversity is what being unlike those before it counts beside the score, in [0, 1].
	Diversity float64 `json:"diversity,omitempty"`
	// Return is ReturnParent where hits bring their sections along.
	Return string `json:"return,omitempty"`
	// DidYouMean has unknown words of the question corrected.
	DidYouMean bool   `json:"did_you_mean,omitempty"`
	GroupBy    string `json:"group_by,omitempty"`
	// Distinct keeps the best of the chunks of a knowledge base that are alike in
	// all of these fields: text fields, or fields that filters know.
	Distinct []string `json:"distinct,omitempty"`
}

// Leg is one planned ranked retrieval.
type Leg struct {
	Name   string       `json:"name"`
	Kind   scoring.Kind `json:"kind"`
	Field  string       `json:"field"`
	K      int          `json:"k"`
	Weight float64      `json:"weight"`
	// Query is which phrasing it asks for: 0 the question, n the n-th of Request.Queries.
	Query  int            `json:"query,omitempty" doc:"The phrasing that it asks for: n is the n-th of queries, from 1; left out, the question."`
	boosts []engine.Boost // of parts of a text leg's field, as Plan.Fields has them
	// Signal is set in a leg of that kind, and AsOf where it is of a date.
	Signal *Signal    `json:"signal,omitempty"`
	AsOf   *time.Time `json:"as_of,omitempty"`
}

// PresetDefault is the name of the saved preset that a tenant's requests have that name none. Without one they
// have Options.DefaultPreset; a preset of the name that is there for everybody is one like others.
const PresetDefault = "default"

// standard is the preset of a tenant's requests that name none.
func (s *Searcher) standard(tenant string) string {
	if s.Saved != nil && s.Planners[PresetDefault] == nil && s.Saved.Planner(tenant, PresetDefault) != nil {
		return PresetDefault
	}
	return s.DefaultPreset
}

// Presets lists the plans that a tenant's request may name, by name, and the one of a
// request that names none.
func (s *Searcher) Presets(tenant string) (names []string, standard string) {
	names = slices.Sorted(maps.Keys(s.Planners))
	if s.Saved != nil {
		names = append(names, s.Saved.Names(tenant)...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	return names, s.standard(tenant)
}

// Models are what a request may ask for beside presets: rerankers, by name, and whether a
// language model writes.
func (s *Searcher) Models() (rerankers []string, writes bool) {
	return slices.Sorted(maps.Keys(s.Rerankers)), s.Rewriter != nil
}

// Subject is a knowledge base that a request searches, the engine that answers, and
// the plan for it.
type Subject struct {
	KB     engine.KnowledgeBase
	Engine engine.Engine
	Plan   Plan

	metrics *metrics // of the searcher
}

// Subjects validates and plans a request: everything that its answer depends on
// beside the data and the question. It runs nothing, and fails even when only one of
// several knowledge bases is unavailable.
func (s *Searcher) Subjects(ctx context.Context, scope access.Scope, req *Request) ([]Subject, error) {
	r, err := s.plan(ctx, scope, req)
	if err != nil {
		return nil, err
	}
	if len(r.unavailable) > 0 {
		lost := &r.unavailable[0]
		return nil, fault.New(fault.Unavailable, "knowledge base %s: %s", lost.KnowledgeBase, lost.Reason)
	}
	return r.subjects, nil
}

// plan validates a request and plans it for each knowledge base. Of several, one
// that cannot be asked at present costs its own hits only.
func (s *Searcher) plan(ctx context.Context, scope access.Scope, req *Request) (_ *run, err error) {
	ctx, span := tracing.Start(ctx, spanPlan)
	defer func() { span.End(err) }()
	planner, err := s.plannerOf(scope, req)
	if err != nil {
		return nil, err
	}
	r := &run{req: req, bound: scope.Filter, timings: Timings{Legs: map[string]float64{}}}
	var unavailable error
	for _, id := range req.KnowledgeBases {
		subject, err := s.resolve(ctx, scope, req, id)
		if isUnavailable(err) {
			unavailable = err
			r.unavailable = append(r.unavailable, newDegraded(stepCatalog, id, err))
			continue
		}
		if err != nil {
			return nil, err
		}
		if subject.Plan, err = planner(req, subject.KB.Fields()); err != nil {
			return nil, err
		}
		if err := subject.Plan.validateParents(); err != nil {
			return nil, err
		}
		if err := subject.Plan.boostFields(&subject.KB); err != nil {
			return nil, err
		}
		subject.Plan.phrase(len(req.Queries))
		subject.Plan.asOf(time.Now())
		if s.lacksVectors(planner, req, &subject.KB) {
			r.vectorless = append(r.vectorless, newDegraded(string(scoring.Vector), id, errNoVectors))
		}
		if by := subject.Plan.Rerank; by != nil && s.Rerankers[by.Name] == nil {
			return nil, fault.Invalid("rerank", by.Name, "null, or one of the configured rerankers: "+names(s.Rerankers))
		}
		r.subjects = append(r.subjects, subject)
	}
	if len(r.subjects) == 0 {
		return nil, unavailable
	}
	span.Note("hybridge.preset", r.subjects[0].Plan.Preset)
	r.plan, r.measured = &r.subjects[0].Plan, make([]measured, len(r.subjects))
	r.vocabulary = s.vocabularies(r)
	return r, nil
}

// errNoVectors is of a knowledge base that was made before there was a model, and not to have
// no vectors.
var errNoVectors = fault.New(fault.Unsupported, "the knowledge base was made without vectors, before there was an "+
	"embedding model: only its words are searched. hybridge mappings plan --embedding-model-name gives it some")

// lacksVectors reports whether the plan would have looked for vectors if the knowledge base had
// any, and nobody meant it to have none.
func (s *Searcher) lacksVectors(planner Planner, req *Request, kb *engine.KnowledgeBase) bool {
	if kb.Dimensions > 0 || kb.KeywordOnly || kb.Attach != nil || s.Embedder == nil && len(s.Embedders) == 0 {
		return false
	}
	with := *kb
	with.Dimensions = 1
	plan, err := planner(req, with.Fields())
	byVector := func(l Leg) bool { return l.Kind == scoring.Vector && l.Weight > 0 }
	return err == nil && slices.ContainsFunc(plan.Legs, byVector)
}

// plannerOf gives the planner of a valid request.
func (s *Searcher) plannerOf(scope access.Scope, req *Request) (Planner, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if req.Everything {
		return everything, nil
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
