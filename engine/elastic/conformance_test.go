package elastic_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// TestConformance uses SMILE, TestConformanceInJSON what proxies understand.
func TestConformance(t *testing.T) {
	t.Parallel()
	enginetest.Run(t, harness())
}

func TestConformanceInJSON(t *testing.T) {
	t.Parallel()
	enginetest.Run(t, enginetest.Harness{New: func(t *testing.T) engine.Engine {
		_, prefix := devservices.Indices(t)
		options := optionsOf(t, prefix)
		options.JSON = true
		return openWith(t, options)
	}})
}

func harness() enginetest.Harness {
	return enginetest.Harness{New: func(t *testing.T) engine.Engine {
		e, _ := open(t)
		return e
	}}
}

// open makes an engine on the real server whose indices, all under one prefix,
// are removed when the test ends.
func open(t *testing.T) (e *elastic.Engine, prefix string) {
	t.Helper()
	_, prefix = devservices.Indices(t)
	return openWith(t, optionsOf(t, prefix)), prefix
}

func openWith(t *testing.T, options elastic.Options) *elastic.Engine {
	t.Helper()
	e, err := elastic.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func optionsOf(t testing.TB, prefix string) elastic.Options {
	t.Helper()
	return elastic.Options{
		Settings: elastic.Settings{IndexPrefix: prefix, Timeout: time.Minute}, // for a busy machine
		URLs:     []string{devservices.Elasticsearch(t)}, Tokenizer: enginetest.Words{},
	}
}

// ask sends a request to the real server past the engine; again while a shard of an index that another test has just made
// is not there yet.
func ask(t testing.TB, method, url, body string) []byte {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		req, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		switch {
		case err == nil && (res.StatusCode < http.StatusBadRequest || res.StatusCode == http.StatusNotFound):
			return answer
		case res.StatusCode != http.StatusServiceUnavailable || time.Now().After(end):
			t.Fatalf("%s %s: %s, %v\n%s; want no error and res.StatusCode below StatusBadRequest or res.StatusCode StatusNotFound", method, url, res.Status, err, brief.Of(answer))
		}
	}
}
