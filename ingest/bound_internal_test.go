package ingest

import (
	"errors"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// The error of a chunk that a key may not write names a field of the chunk, never what joins filters.
func TestOutsideNamesFieldsOfTheChunk(t *testing.T) {
	red := engine.Condition{Field: "team", In: []engine.Value{{V: "red"}}}
	chunk := engine.Chunk{Metadata: map[string]any{"team": "blue"}}
	f := func(c engine.Condition, field, detail string) {
		t.Helper()
		err := outside(&access.Scope{Filter: []engine.Condition{c}}, &chunk)
		if e := new(fault.Error); !errors.As(err, &e) || e.Kind != fault.Forbidden || e.Field != field || e.Error() != detail {
			t.Errorf("%v", err)
		}
	}
	f(red, "metadata.team", "the chunk's team does not pass the filter that this key is bound to")
	f(engine.Condition{Field: "any_of", AnyOf: [][]engine.Condition{{red}}}, "",
		"the chunk does not pass any_of of the filter that this key is bound to")
}
