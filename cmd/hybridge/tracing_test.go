package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// receiver takes OTLP over HTTP, and notes the header traceparent of requests to the servers
// behind it.
type receiver struct {
	mu      sync.Mutex
	spans   []*trace.Span
	parents map[string][]string // by server
}

// listening starts a server until the test ends.
func listening(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s.URL
}

func (c *receiver) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &request) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range request.ResourceSpans {
		for _, scoped := range of.ScopeSpans {
			c.spans = append(c.spans, scoped.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// behind notes the traceparents of what is sent to a server.
func (c *receiver) behind(name string, server http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		if c.parents == nil {
			c.parents = map[string][]string{}
		}
		c.parents[name] = append(c.parents[name], r.Header.Get("traceparent"))
		c.mu.Unlock()
		server.ServeHTTP(w, r)
	}
}

// twoNumbers is an embedding service whose vectors are all the same.
func twoNumbers(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	vectors := make([]string, len(asked.Input))
	for i := range vectors {
		vectors[i] = fmt.Sprintf(`{"index": %d, "embedding": [0.6, 0.8]}`, i)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"data": [%s]}`, strings.Join(vectors, ", "))
}

// told are the spans since the last time, by name, once the gateway has sent them.
func (c *receiver) told(t *testing.T, r *running) map[string]*trace.Span {
	t.Helper()
	if err := r.app.FlushTraces(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]*trace.Span{}
	for _, span := range c.spans {
		all[span.Name] = span
	}
	c.spans, c.parents = nil, nil
	return all
}

const (
	privateQuestion = "my private question of a refund"
	traceID         = "0af7651916cd43dd8448eb211c80319c"
	callerSpan      = "b7ad6b7169203331"
)

// tracedSearch asks with a traceparent.
func (r *running) tracedSearch(kb, flags string) {
	r.t.Helper()
	body := fmt.Sprintf(`{"query": %q, "knowledge_bases": [%q], "preset": "rrf", "threshold": {"vector": 0}}`, privateQuestion, kb)
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+"/v1/search", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", cli.AsJSON)
	request.Header.Set("traceparent", "00-"+traceID+"-"+callerSpan+"-"+flags)
	response, err := r.http.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		r.t.Fatalf("%d %s", response.StatusCode, brief.Of(text))
	}
}

// Promise: "never a request" (docs/guide/en/watching.md).
func TestASearchIsTracedFromTheCallerToTheEngine(t *testing.T) {
	t.Parallel()
	f := func(engine, server, span string, change func(*testing.T, *receiver, *config.Config)) {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c, got := settingsIn(t.TempDir()), &receiver{}
			c.Tracing.URL = listening(t, got.take)
			c.Embedding.URL = listening(t, got.behind("embedding", http.HandlerFunc(twoNumbers)))
			c.Embedding.Model, c.Embedding.Dimensions, c.ResultCache.TTL = "two", 2, 0
			change(t, got, c)
			r := run(t, c)
			r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "traced"}, nil)
			chunk := `{"id": "a", "document_id": "d", "content": "a refund of what nobody may read"}`
			r.must(http.MethodPost, cli.BasePath("traced")+"/documents?refresh=true", chunk, nil)
			if told := got.told(t, r); told["POST /v1/knowledge-bases/{kb}/documents"] == nil || told["embedding passage"] == nil {
				t.Errorf(`spans of an ingest: %v; want a told["POST /v1/knowledge-bases/{kb}/documents"] and a told["embedding passage"]`, told)
			}
			r.tracedSearch("traced", "01")
			sent := got.sent(server)
			told := got.told(t, r)
			checkTrace(t, told, span)
			if server != "" {
				checkSent(t, sent, told)
			}

			r.tracedSearch("traced", "00")
			r.must(http.MethodGet, "/readyz", nil, nil)
			r.must(http.MethodGet, "/metrics", nil, nil)
			if told := got.told(t, r); len(told) > 0 {
				t.Errorf("what the caller does not trace, or a probe, is traced: %v", told)
			}
			r.must(http.MethodDelete, cli.BasePath("traced"), nil, nil)
		})
	}
	f("embedded", "embedding", "embedding query", func(*testing.T, *receiver, *config.Config) {})
	f("elasticsearch", "elasticsearch", "elasticsearch _search", func(t *testing.T, got *receiver, c *config.Config) {
		server, prefix := devservices.Indices(t)
		to, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		proxy := httputil.NewSingleHostReverseProxy(to)
		c.Elasticsearch.URL, c.Elasticsearch.IndexPrefix = []string{listening(t, got.behind("elasticsearch", proxy))}, prefix
	})
	f("postgres", "", "postgres batch", func(t *testing.T, _ *receiver, c *config.Config) {
		c.Postgres.URL = devservices.NewDatabase(t).URL
	})
}

// sent are the traceparents of what was sent to a server.
func (c *receiver) sent(server string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.parents[server])
}

// checkTrace looks at the spans of one search, of which the last is a request to a server.
func checkTrace(t *testing.T, told map[string]*trace.Span, last string) {
	t.Helper()
	for child, parent := range map[string]string{
		"search": "POST /v1/search", "search.plan": "search", "search.resolve": "search.plan", "search.admit": "search",
		"search.analyze": "search", "search.embed": "search.analyze", "embedding query": "search.embed",
		"search.execute": "search", "search.retrieve": "search.execute", "engine.search": "search.retrieve",
		"search.fuse": "search", "search.cut": "search", "search.group": "search", "search.present": "search",
		last: "",
	} {
		span := told[child]
		switch {
		case span == nil:
			t.Errorf("no span %s", child)
		case parent != "" && (told[parent] == nil || string(span.ParentSpanId) != string(told[parent].SpanId)):
			t.Errorf("%s is not within %s", child, parent)
		}
	}
	for name, span := range told {
		if fmt.Sprintf("%x", span.TraceId) != traceID {
			t.Errorf(`%s is of another trace; want fmt.Sprintf("%%x", span.TraceId) traceID`, name)
		}
		if text := span.String(); strings.Contains(text, "private") || strings.Contains(text, "refund") {
			t.Errorf(`a span has what was asked or found: %s; want no "private" in it and no "refund" in it`, text)
		}
	}
	if root := told["POST /v1/search"]; root != nil && fmt.Sprintf("%x", root.ParentSpanId) != callerSpan {
		t.Errorf("the request is not within the caller's span: %s", root)
	}
}

// checkSent demands that a server was told of the span that asked it.
func checkSent(t *testing.T, sent []string, told map[string]*trace.Span) {
	t.Helper()
	for _, span := range told {
		if slices.Contains(sent, fmt.Sprintf("00-%s-%x-01", traceID, span.SpanId)) {
			return
		}
	}
	t.Errorf("traceparents %q of no span that was told", sent)
}
