package ingest

import (
	"errors"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// The error of a chunk that a key may not write names a field of the chunk, never what joins filters.
func TestOutsideNamesFieldsOfTheChunk(t *testing.T) {
	red := filter.Condition{Field: "team", In: []filter.Value{{V: "red"}}}
	chunk := engine.Chunk{Metadata: map[string]any{"team": "blue"}}
	f := func(c filter.Condition, field, detail string) {
		t.Helper()
		err := outside(&access.Scope{Filter: []filter.Condition{c}}, &chunk)
		if e := new(fault.Error); !errors.As(err, &e) || e.Kind != fault.Forbidden || e.Field != field || e.Error() != detail {
			t.Errorf("%v", err)
		}
	}
	f(red, "metadata.team", "the chunk's team does not pass the filter that this key is bound to")
	f(filter.Condition{Field: "any_of", AnyOf: [][]filter.Condition{{red}}}, "",
		"the chunk does not pass any_of of the filter that this key is bound to")
}
