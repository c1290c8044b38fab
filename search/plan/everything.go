package plan

import (
	"reflect"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// PresetEverything is the preset named in answers to Request.Everything.
const PresetEverything = "everything"

// defaultTopK is the default number of hits.
const defaultTopK = 10

// Everything plans a request without a question: no legs, so that every chunk that passes the
// filter takes part, by id. Totals and facets count up to MaxCandidates of them.
func Everything(req *Request, _ []engine.Field) (Plan, error) {
	p := Plan{
		Preset: PresetEverything, Legs: []Leg{}, Joint: true, Fusion: scoring.Fusion{Method: scoring.Linear},
		TopK: defaultTopK, Candidates: MaxCandidates,
	}
	if req.TopK != nil {
		p.TopK = *req.TopK
	}
	if req.GroupBy != nil && *req.GroupBy != "" {
		p.GroupBy = GroupByDocument
	}
	return p, nil
}

func (r *Request) validateEverything() error {
	switch {
	case strings.TrimSpace(r.Query) != "" || len(r.Queries) > 0:
		return fault.Invalid("query", r.Query, "left out where everything is asked for")
	case r.Preset != "":
		return fault.Invalid("preset", r.Preset, "left out where everything is asked for")
	case len(r.Vector) > 0:
		return fault.Invalid("vector", fault.Length(len(r.Vector)), "left out where everything is asked for")
	case !reflect.DeepEqual(r.Overrides, Overrides{GroupBy: r.GroupBy}):
		return fault.Invalid("everything", true, "false where more than group_by of a preset is asked for")
	}
	return nil
}
