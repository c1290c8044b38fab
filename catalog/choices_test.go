package catalog

import (
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

func TestChoices(t *testing.T) {
	f := func(standard string, want ...Choice) {
		t.Helper()
		c := New([]engine.Engine{newFake("embedded"), newFake("postgres")}, Options{DefaultEngine: standard})
		if got := c.Choices(); !slices.Equal(got, want) {
			t.Errorf("with the default engine %q: %v, want %v", standard, got, want)
		}
	}
	f("", Choice{Name: "embedded", Default: true}, Choice{Name: "postgres"})
	f("postgres", Choice{Name: "embedded"}, Choice{Name: "postgres", Default: true})
}
