package elastic_test

import (
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
)

// TestVersusEmbedded: random documents and searches have the same answers on
// Elasticsearch and on the engine that does everything itself.
//
// Promise: "the same on every engine" (docs/guide/en/chinese.md)
// Promise: "the same on every engine" (docs/guide/en/elasticsearch.md)
func TestVersusEmbedded(t *testing.T) {
	enginetest.Versus(t, harness(), enginetest.Harness{New: func(t *testing.T) engine.Engine {
		e, err := embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: enginetest.Words{}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}})
}
