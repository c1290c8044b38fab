package presets

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// MaxDescription is the maximum length of a preset's own description, in bytes.
const MaxDescription = 1_000

// Custom is a preset of the configuration, or one that is saved: a built-in one, and what requests
// say there unless they say otherwise.
type Custom struct {
	Base        string              `json:"base" doc:"Built-in preset that this one changes."`
	Description string              `json:"description,omitempty" doc:"For people; at most 1000 bytes."`
	TopK        *int                `json:"top_k,omitempty" minimum:"1" maximum:"10000" doc:"Hits of the answer."`
	WeightsBy   *search.WeightModel `json:"weights_by,omitempty" doc:"Makes the weight of words follow from the question, over a preset that fuses z-scores; hybridge tune --per-query fits it."`
	search.Overrides
}

// With gives the built-in presets and the custom ones, by name. A custom preset
// is tried on knowledge bases with text and vectors, so that a default that can
// never be planned is an error here and not at the first search.
func With(custom map[string]Custom) (map[string]search.Planner, error) {
	planners := Builtin()
	builtin := maps.Clone(planners)
	for _, name := range slices.Sorted(maps.Keys(custom)) {
		c, field := custom[name], "presets["+name+"]"
		if builtin[name] != nil {
			return nil, fault.Invalid(field, name, "a name that no built-in preset has")
		}
		planner, err := c.compile(name, field, builtin)
		if err != nil {
			return nil, err
		}
		planners[name] = planner
	}
	return planners, nil
}

// compile gives the planner of a preset over one of the bases. Its errors name members below at.
func (c Custom) compile(name, at string, bases map[string]search.Planner) (search.Planner, error) {
	base := bases[c.Base]
	if base == nil {
		return nil, fault.Invalid(at+".base", c.Base, "one of "+strings.Join(slices.Sorted(maps.Keys(bases)), ", "))
	}
	if len(c.Description) > MaxDescription || !utf8.ValidString(c.Description) {
		return nil, fault.Invalid(at+".description", c.Description, "at most 1000 bytes of UTF-8")
	}
	if n := c.TopK; n != nil && (*n < 1 || *n > search.MaxTopK) {
		return nil, fault.Invalid(at+".top_k", *n, "1 to 10000")
	}
	var refused *fault.Error
	if errors.As(c.Validate(), &refused) {
		return nil, refused.Within(at + ".")
	}
	if errors.As(c.WeightsBy.Validate("weights_by"), &refused) {
		return nil, refused.Within(at + ".")
	}
	planner := c.planner(name, base)
	if err := c.tryOut(planner, base); err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s cannot be planned: %v", at, err)
	}
	return planner, nil
}

// tryOut plans an empty request for a knowledge base of chunks (with the vector fields
// that the weights name), and when that fails for one of questions and answers. Its
// error is of a kind of knowledge base that the base preset can plan.
func (c Custom) tryOut(planner, base search.Planner) (err error) {
	for _, kind := range []engine.KnowledgeKind{engine.KindChunks, engine.KindQA} {
		kb := engine.KnowledgeBase{Kind: kind, Dimensions: 1, VectorFields: c.vectorFields()}
		_, failed := planner(&search.Request{}, kb.Fields())
		if failed == nil {
			return nil
		}
		if _, unsuited := base(&search.Request{}, kb.Fields()); unsuited == nil && err == nil {
			err = failed
		}
	}
	return err
}

// vectorFields are the secondary vector fields that the weights name.
func (c Custom) vectorFields() []engine.VectorField {
	kb := engine.KnowledgeBase{Kind: engine.KindChunks, Dimensions: 1}
	for _, name := range slices.Sorted(maps.Keys(c.Weights)) {
		with := kb
		with.VectorFields = append(slices.Clone(kb.VectorFields), engine.VectorField{Name: name})
		if with.CheckVectorFields() == nil {
			kb = with
		}
	}
	return kb.VectorFields
}

// planner plans as the base does, with the defaults where the request is silent.
func (c Custom) planner(name string, base search.Planner) search.Planner {
	return func(req *search.Request, fields []engine.Field) (search.Plan, error) {
		asked := *req
		asked.TopK, asked.Overrides = cmp.Or(req.TopK, c.TopK), req.Over(c.Overrides)
		plan, err := base(&asked, fields)
		plan.Preset = name
		if err == nil {
			err = plan.WeighBy(c.WeightsBy)
		}
		return plan, err
	}
}
