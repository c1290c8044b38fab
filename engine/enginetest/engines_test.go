package enginetest_test

import (
	"crypto/rand"
	"net/http"
	"strings"
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
	server := devservices.Elasticsearch(t)
	enginetest.Versus(t,
		enginetest.Harness{New: newEmbedded},
		enginetest.Harness{New: func(t *testing.T) engine.Engine { return newElastic(t, server) }})
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
func newElastic(t *testing.T, server string) engine.Engine {
	t.Helper()
	prefix := "hybridge-versus-" + strings.ToLower(rand.Text()[:10])
	transport := &http.Transport{}
	e, err := elastic.New(elastic.Options{
		URLs: []string{server}, IndexPrefix: prefix, Tokenizer: enginetest.Words{},
		Timeout: time.Minute, Transport: transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, path := range []string{"/" + prefix + "-*?expand_wildcards=all", "/_index_template/" + prefix} {
			remove(t, transport, server+path)
		}
		transport.CloseIdleConnections()
	})
	return e
}

func remove(t *testing.T, transport http.RoundTripper, url string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodDelete, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Error(err)
		return
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
}
