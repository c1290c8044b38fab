package enginetest_test

import (
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestEmbeddedVersusElastic wants the same answers of both over random chunks.
func TestEmbeddedVersusElastic(t *testing.T) {
	enginetest.Versus(t,
		enginetest.Harness{New: newEmbedded},
		enginetest.Harness{New: newElastic})
}

func newEmbedded(t *testing.T) engine.Engine {
	t.Helper()
	e, err := embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: enginetest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// newElastic makes an engine whose indices go when the test ends.
func newElastic(t *testing.T) engine.Engine {
	t.Helper()
	server, prefix := devservices.Indices(t)
	transport := &http.Transport{}
	e, err := elastic.New(elastic.Options{
		Settings: elastic.Settings{IndexPrefix: prefix, Timeout: time.Minute},
		URLs:     []string{server}, Tokenizer: enginetest.Words{},
		Transport: transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return e
}
