package elastic_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, harness())
}

func harness() enginetest.Harness {
	return enginetest.Harness{New: func(t *testing.T) engine.Engine {
		e, _ := open(t, elastic.Options{})
		return e
	}}
}

// open makes an engine on the real server whose indices, all under one prefix,
// are removed when the test ends.
func open(t *testing.T, options elastic.Options) (e *elastic.Engine, prefix string) {
	t.Helper()
	server := devservices.Elasticsearch(t)
	prefix = "hybridge-test-" + strings.ToLower(rand.Text()[:10])
	options.URLs, options.IndexPrefix, options.Tokenizer = []string{server}, prefix, enginetest.Words{}
	options.Timeout = time.Minute // the machine that tests run on may be busy
	e, err := elastic.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, path := range []string{"/" + prefix + "-*?expand_wildcards=all", "/_index_template/" + prefix} {
			remove(t, server+path)
		}
	})
	return e, prefix
}

func remove(t *testing.T, url string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodDelete, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return
	}
	_ = res.Body.Close()
}
