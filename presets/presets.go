// Package presets holds the named plans, one file each. Planning is pure: a
// preset turns a request and the fields of a knowledge base into a plan and
// does no I/O, so a preset is tested by looking at its plan.
package presets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// Default is the preset of a request that names none.
const Default = "balanced"

// entry is a preset that is always there, and what people should know of it. Its texts are said in the
// language of who reads them.
type entry struct {
	plan        search.Planner
	description string // one sentence
	whenToUse   string
}

// builtin are the presets that are always there, by name. Each file adds its own.
var builtin = map[string]entry{}

// Builtin lists the presets that are always there, by name.
func Builtin() map[string]search.Planner {
	planners := make(map[string]search.Planner, len(builtin))
	for name := range builtin {
		planners[name] = builtin[name].plan
	}
	return planners
}

// weights are a preset's shares of text and vectors.
type weights struct{ text, vector float64 }

// of is the weight of a kind.
func (w *weights) of(kind scoring.Kind) *float64 {
	if kind == scoring.Vector {
		return &w.vector
	}
	return &w.text
}

// with gives the weights, replaced by the requested ones.
func (w weights) with(asked map[string]float64) weights {
	for _, kind := range []scoring.Kind{scoring.Text, scoring.Vector} {
		if weight, ok := asked[string(kind)]; ok {
			*w.of(kind) = weight
		}
	}
	return w
}

// defaults are a preset's decisions where the request is silent.
type defaults struct {
	preset  string
	weights weights
	// parts are the fields' parts of their kind's weight, in proportion; nil: all the
	// same, less for secondary fields.
	parts map[string]float64
	topK  int
	// candidates follows from top_k; each leg returns as many hits.
	candidates func(topK int) int
	threshold  search.Threshold
	text       analysis.Rules
}

// window is the number of candidates of presets that compare score
// distributions: enough to see where a leg's scores flatten out.
const window = 100

func fixed(n int) func(int) int { return func(int) int { return n } }

var windowed = fixed(window)

// synonymBoost is the weight of a synonym relative to the word in the question.
const synonymBoost = 0.8

// plainText is BM25 as it is: any term may match, nothing is boosted beyond
// what BM25 itself does.
func plainText() analysis.Rules {
	return analysis.Rules{Weighting: analysis.Plain, SynonymBoost: synonymBoost}
}

// secondaryPart is the weight of a secondary field over that of the field named as its
// kind: a larger one does harm where titles do not say what a document answers, see
// docs/relevance.md.
const secondaryPart = 1.0 / 8

// part is a field's part of the weight that the fields of its kind share, in
// proportion to theirs.
func (d *defaults) part(f *engine.Field, fields []engine.Field) float64 {
	switch {
	case d.parts != nil:
		return d.parts[f.Name]
	case secondary(f, fields):
		return secondaryPart
	default:
		return 1
	}
}

// secondary reports whether another field is named as the kind of this one: a title's
// vector beside vector.
func secondary(f *engine.Field, fields []engine.Field) bool {
	return f.Name != string(f.Kind) && has(fields, string(f.Kind))
}

// plan lays a request over a preset's defaults. A knowledge base has one leg
// per searchable field; the fields of a kind share the kind's weight.
func plan(req *search.Request, fields []engine.Field, d defaults) (search.Plan, error) {
	p := search.Plan{
		Preset:    d.preset,
		Text:      req.TextQuery.Rules(d.text),
		TopK:      or(req.TopK, d.topK),
		Threshold: req.Threshold.Over(d.threshold),
	}
	p.Candidates = or(req.Candidates, max(d.candidates(p.TopK), p.TopK))
	p.TopK = min(p.TopK, p.Candidates)
	p.Rerank, p.Rewrite, p.Diversity = req.Rerank.Planned(), req.Rewrite, or(req.Diversity, 0)
	p.Fields, p.DidYouMean = req.Fields, or(req.DidYouMean, false)
	if req.Return == search.ReturnParent {
		p.Return = search.ReturnParent
	}
	if req.GroupBy != nil && *req.GroupBy != "" {
		p.GroupBy = search.GroupByDocument
	}
	if req.MinimumShouldMatch != nil {
		minimum, err := analysis.ParseMinimum("minimum_should_match", *req.MinimumShouldMatch)
		if err != nil {
			return search.Plan{}, err
		}
		p.Text.Minimum = minimum
	}
	legs, err := legs(fields, req.Weights, &d, p.Candidates)
	for i := range req.Signals {
		legs = append(legs, req.Signals[i].Leg())
	}
	p.Legs = legs
	return p, err
}

// legs makes one leg per field. A secondary field with a weight of its own leaves the
// kind's weight to the others: with weight 0 the plan is as if it were not there.
func legs(fields []engine.Field, asked map[string]float64, d *defaults, k int) ([]search.Leg, error) {
	if err := checkAsked(fields, asked); err != nil {
		return nil, err
	}
	shares, whole := d.weights.with(asked), weights{}
	for _, f := range fields {
		if _, apart := asked[f.Name]; !apart || !secondary(&f, fields) {
			*whole.of(f.Kind) += d.part(&f, fields)
		}
	}
	planned := make([]search.Leg, 0, len(fields))
	for _, f := range fields {
		weight := *shares.of(f.Kind) * d.part(&f, fields) / *whole.of(f.Kind)
		if w, ok := asked[f.Name]; ok && f.Name != string(f.Kind) {
			weight = w
		}
		planned = append(planned, search.Leg{Name: f.Name, Kind: f.Kind, Field: f.Name, K: k, Weight: weight})
	}
	for _, leg := range planned {
		if leg.Weight > 0 {
			return planned, nil
		}
	}
	return nil, &fault.Error{
		Kind: fault.InvalidArgument, Field: "weights",
		Detail: "weights are 0 for every leg of this knowledge base; at least one must be > 0",
	}
}

// checkAsked refuses weights of unknown legs.
func checkAsked(fields []engine.Field, asked map[string]float64) error {
	if len(asked) == 0 {
		return nil
	}
	names := []string{string(scoring.Text), string(scoring.Vector)}
	for _, f := range fields {
		if f.Name != string(f.Kind) {
			names = append(names, f.Name)
		}
	}
	for name := range asked {
		if !slices.Contains(names, name) {
			return &fault.Error{
				Kind: fault.InvalidArgument, Field: "weights." + name,
				Detail: fmt.Sprintf("weights.%s names no leg; the legs are %s", name, strings.Join(names, ", ")),
			}
		}
	}
	return nil
}

// only keeps the legs of one kind, to which no signal adds, each with weight 1, and of them only the one named
// as the kind where there is one.
func only(kind scoring.Kind, planned []search.Leg) ([]search.Leg, error) {
	if slices.ContainsFunc(planned, func(l search.Leg) bool { return l.Kind == scoring.Signal }) {
		return nil, &fault.Error{
			Kind: fault.InvalidArgument, Field: "signals",
			Detail: "signals add to several legs; this plan ranks by " + string(kind) + " alone",
		}
	}
	var kept []search.Leg
	for _, leg := range planned {
		if leg.Kind != kind {
			continue
		}
		leg.Weight = 1
		if leg.Name == string(kind) {
			return []search.Leg{leg}, nil
		}
		kept = append(kept, leg)
	}
	if len(kept) == 0 {
		return nil, &fault.Error{Kind: fault.InvalidArgument, Field: "preset", Detail: "the plan needs a " +
			string(kind) + " leg, and the knowledge base has no " + string(kind) + " field (its dimensions are 0)"}
	}
	return kept, nil
}

func or[T any](asked *T, standard T) T {
	if asked != nil {
		return *asked
	}
	return standard
}
