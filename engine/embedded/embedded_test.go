package embedded_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, dir string) *embedded.Engine {
	t.Helper()
	e, err := embedded.Open(t.Context(), embedded.Options{Path: dir, Tokenizer: enginetest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Promise: "to every leg alike" (docs/guide/en/filters.md)
func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Harness{
		New:        func(t *testing.T) engine.Engine { return open(t, t.TempDir()) },
		Exceptions: map[string]string{},
	})
}
