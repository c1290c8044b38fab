package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// outage is what an Elasticsearch in trouble makes of a request. It returns
// whether it has answered; if not, the real one does.
type outage func(w http.ResponseWriter, r *http.Request) bool

// troubled is a gateway's way to the real Elasticsearch, on which there may be
// an outage.
type troubled struct {
	t       *testing.T
	address string
	forward http.Handler
	outage  atomic.Pointer[outage]
	server  *http.Server
	ended   chan struct{} // closed when the test ends: nothing is slow after it
}

func newTroubled(t *testing.T, target string) *troubled {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:    &http.Transport{DisableKeepAlives: true},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	e := &troubled{t: t, address: "127.0.0.1:0", forward: proxy, ended: make(chan struct{})}
	e.start()
	t.Cleanup(func() {
		close(e.ended)
		e.stop()
	})
	return e
}

// start listens, again on the same port after a stop.
func (e *troubled) start() {
	e.t.Helper()
	var listener net.Listener
	eventually(e.t, "the port is free again", func() (free bool) {
		var err error
		listener, err = net.Listen("tcp", e.address)
		return err == nil
	})
	e.address = listener.Addr().String()
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) { _ = s.Serve(listener) }(e.server) // ends with stop
}

// stop refuses connections and breaks those there are.
func (e *troubled) stop() { _ = e.server.Close() }

func (e *troubled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if o := e.outage.Load(); o != nil && (*o)(w, r) {
		return
	}
	e.forward.ServeHTTP(w, r)
}

// answer is an outage in which every request gets the same.
func answer(status int, header, body string) outage {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.Header().Set("Content-Type", header)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// raw is an outage in which the connection brings these bytes and ends.
func raw(bytes string) outage {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		conn, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return false
		}
		_, _ = buffered.WriteString(bytes)
		_ = errors.Join(buffered.Flush(), conn.Close())
		return true
	}
}

// slow answers nothing until the other side has given up.
func (e *troubled) slow(_ http.ResponseWriter, r *http.Request) bool {
	select {
	case <-r.Context().Done():
	case <-e.ended:
	}
	return true
}

// everyOther is an outage that hits one request of two.
func everyOther(o outage) outage {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) bool { return n.Add(1)%2 == 0 && o(w, r) }
}

const busy = `{"error": {"type": "circuit_breaking_exception", "reason": "secret-node says no"}, "status": 429}`

// allPresets are those that every engine runs.
var allPresets = []string{
	"balanced", "rrf", "linear", "script_score", "technical", "general", "conversational", "text", "vector",
}

// outages: a name, what happens, and the codes with which a gateway may answer.
func (e *troubled) outages() []struct {
	name  string
	codes []fault.Kind
	outage
} {
	const asJSON, asHTML = "application/json", "text/html"
	away, late, full := fault.Unavailable, fault.Timeout, fault.Overloaded
	type row = struct {
		name  string
		codes []fault.Kind
		outage
	}
	return []row{
		{"stopped", []fault.Kind{away}, nil},
		{"slow", []fault.Kind{late}, e.slow},
		{"429", []fault.Kind{full}, answer(http.StatusTooManyRequests, asJSON, busy)},
		{"503", []fault.Kind{away}, answer(http.StatusServiceUnavailable, asJSON, `{"error": {"type": "x"}, "status": 503}`)},
		{"502 of a proxy", []fault.Kind{away}, answer(http.StatusBadGateway, asHTML, "<html>secret-node</html>")},
		{"garbage", []fault.Kind{away}, answer(http.StatusOK, asJSON, "\x00\xff secret-node is no JSON")},
		{"JSON of something else", []fault.Kind{away}, answer(http.StatusOK, asJSON, `{"hello": ["secret-node"]}`)},
		{"an empty answer", []fault.Kind{away}, answer(http.StatusOK, asJSON, "")},
		{"not HTTP", []fault.Kind{away}, raw("SSH-2.0-secret-node\r\n")},
		{"cut in the middle", []fault.Kind{away}, raw("HTTP/1.1 200 OK\r\nX-Elastic-Product: Elasticsearch\r\n" +
			"Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"took\": 1, \"responses\": [")},
		// The other requests reach Elasticsearch, which a busy machine may slow down.
		{"429 now and then", []fault.Kind{full, late}, everyOther(answer(http.StatusTooManyRequests, asJSON, busy))},
		{"cut now and then", []fault.Kind{away, late}, everyOther(raw(""))},
	}
}

func (e *troubled) begin(o outage) {
	if o == nil {
		e.stop()
		return
	}
	e.outage.Store(&o)
}

func (e *troubled) end(o outage) {
	if o == nil {
		e.start()
	}
	e.outage.Store(nil)
}

// TestElasticsearchInTrouble runs the program through every outage: each answer
// is typed or degraded, what does not need Elasticsearch goes on, and when it is
// over everything is as before, without a restart.
//
// Promise: "every preset answers with 503" (docs/stamina.md).
// Promise: "every chunk is either written or refused" (docs/stamina.md).
// Promise: "every preset answers in full again" (docs/stamina.md).
func TestElasticsearchInTrouble(t *testing.T) {
	t.Parallel() // it mostly waits
	target, prefix := devservices.Indices(t)
	e := newTroubled(t, target)
	p := serve(t, copied(t), t.TempDir(),
		"HYBRIDGE_ELASTICSEARCH_URL=http://"+e.address, "HYBRIDGE_ELASTICSEARCH_TIMEOUT=1s",
		"HYBRIDGE_ELASTICSEARCH_INDEX_PREFIX="+prefix)
	for _, engine := range []string{"elasticsearch", "embedded"} {
		// The limit of a second is for outages; on a busy machine it may pass, and what was asked for be done all the same.
		eventually(t, engine+" with chunks", func() bool {
			made, _ := p.ask(http.MethodPost, "/v1/knowledge-bases", fmt.Sprintf(`{"id":%q,"engine":%[1]q,"dimensions":2}`, engine))
			wrote, results := p.ask(http.MethodPost, cli.BasePath(engine)+"/documents?refresh=true", someChunks(0, 40))
			return (made < http.StatusMultipleChoices || made == http.StatusConflict) &&
				wrote == http.StatusOK && !strings.Contains(string(results), `"failed"`)
		})
	}
	t.Cleanup(func() { p.must(http.MethodDelete, cli.BasePath("elasticsearch"), nil, nil) })
	s := &sufferer{process: p, want: map[string]string{}, written: 40}
	s.recovers()
	for _, o := range e.outages() {
		t.Run(o.name, func(t *testing.T) {
			s.t = t
			e.begin(o.outage)
			for _, preset := range s.presets(o.name) {
				s.suffers(preset, o.codes)
			}
			s.goesOn()
			s.cannotWrite()
			e.end(o.outage)
			s.recovers()
		})
		s.t = t
	}
	if text := p.out.String(); strings.Contains(text, "panic") {
		t.Errorf("the log tells of a panic:\n%s; want no \"panic\" in it", text)
	}
}

// sufferer is a gateway whose Elasticsearch is in trouble.
type sufferer struct {
	*process
	want    map[string]string // the ids that each preset finds
	written int
}

// presets are those to suffer; each one takes a time-out when it is slow.
func (s *sufferer) presets(outage string) []string {
	if outage == "slow" {
		return allPresets[:4]
	}
	return allPresets
}

func someChunks(from, to int) string {
	var lines strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&lines, `{"id": "c%03d", "document_id": "d%d", "content": "how to return item %d for a refund", "vector": [1, %d]}`+"\n",
			i, i/10, i, i)
	}
	return lines.String()
}

// outcome is an answer to a search, or why there is none.
type outcome struct {
	status int
	fault.Kind
	retryAfter string
	text       string
	search.Response
}

func (s *sufferer) ask(preset string, bases ...string) outcome {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{
		"query": "refund of item 7", "vector": []float32{1, 7}, "knowledge_bases": bases, "preset": preset, "cache": false,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := s.http.Post(s.url+"/v1/search", cli.AsJSON, strings.NewReader(string(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	o := outcome{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After"), text: string(text)}
	var problem struct{ Code fault.Kind }
	if response.StatusCode != http.StatusOK {
		err, o.Kind = json.Unmarshal(text, &problem), ""
		o.Kind = problem.Code
	} else {
		err = json.Unmarshal(text, &o.Response)
	}
	if err != nil {
		s.t.Fatalf("%s: %d %s: %v", preset, response.StatusCode, brief.Of(text), err)
	}
	return o
}

func (o *outcome) ids() string {
	found := make([]string, len(o.Hits))
	for i, h := range o.Hits {
		found[i] = h.ID
	}
	return strings.Join(found, " ")
}

// suffers wants an error of one of the kinds, a degraded answer, or, where an
// outage is not total, the whole one.
func (s *sufferer) suffers(preset string, codes []fault.Kind) {
	s.t.Helper()
	o := s.ask(preset, "elasticsearch")
	whole := o.ids() == s.want[preset] && strings.Contains(s.t.Name(), "now_and_then")
	switch {
	case o.status == http.StatusOK && (whole || len(o.Degraded) > 0):
	case o.status == http.StatusOK:
		s.t.Errorf("%s: an answer with %q and nothing about what is missing", preset, o.ids())
	case o.status != http.StatusServiceUnavailable && o.status != http.StatusGatewayTimeout,
		!slices.Contains(codes, o.Kind):
		s.t.Errorf("%s: %d %s, want one of %v", preset, o.status, o.text, codes)
	case o.status == http.StatusServiceUnavailable && o.retryAfter == "":
		s.t.Errorf("%s: no Retry-After", preset)
	}
	if strings.Contains(o.text, "secret-node") {
		s.t.Errorf(`%s: the answer repeats what Elasticsearch said: %s; want no "secret-node" in it`, preset, o.text)
	}
}

// goesOn wants everything that needs no Elasticsearch.
func (s *sufferer) goesOn() {
	s.t.Helper()
	if status, _ := s.running.ask(http.MethodGet, "/healthz", ""); status != http.StatusOK {
		s.t.Errorf("/healthz answers %d; want status StatusOK", status)
	}
	if o := s.ask("balanced", "embedded"); o.status != http.StatusOK || len(o.Hits) == 0 || len(o.Degraded) > 0 {
		s.t.Errorf("the embedded engine: %d %s; want o.status StatusOK and some o.Hits and len(o.Degraded) 0", o.status, o.text)
	}
}

// cannotWrite sends chunks: each is written, or refused with a kind.
func (s *sufferer) cannotWrite() {
	s.t.Helper()
	status, text := s.running.ask(http.MethodPost, cli.BasePath("elasticsearch")+"/documents", someChunks(s.written, s.written+5))
	created := strings.Count(string(text), `"created"`)
	if status != http.StatusOK && status != http.StatusServiceUnavailable && status != http.StatusGatewayTimeout {
		s.t.Errorf("writing: %d %s; want status StatusOK or status StatusServiceUnavailable or status StatusGatewayTimeout", status, brief.Of(text))
	}
	if status == http.StatusOK && created+strings.Count(string(text), `"failed"`) != 5 {
		s.t.Errorf("writing tells of other than five chunks: %s; want status other than StatusOK or created + strings.Count(string(text), `\"failed\"`) 5", brief.Of(text))
	}
}

// recovers wants whole answers again, and writes what was refused. A machine
// that is busy may be late with some of them.
func (s *sufferer) recovers() {
	s.t.Helper()
	eventually(s.t, "ready again", func() bool { return s.readiness().Status == "ready" })
	eventually(s.t, "written again", func() bool {
		status, text := s.running.ask(http.MethodPost, cli.BasePath("elasticsearch")+"/documents?refresh=true",
			someChunks(s.written, s.written+5))
		return status == http.StatusOK && !strings.Contains(string(text), `"failed"`)
	})
	s.written += 5
	eventually(s.t, fmt.Sprintf("%d chunks", s.written), func() bool {
		status, text := s.running.ask(http.MethodGet, cli.BasePath("elasticsearch"), "")
		return status == http.StatusOK && strings.Contains(string(text), fmt.Sprintf(`"chunks":%d,`, s.written))
	})
	for _, preset := range allPresets {
		eventually(s.t, "a whole answer of "+preset, func() bool {
			o := s.ask(preset, "elasticsearch")
			s.want[preset] = o.ids()
			return o.status == http.StatusOK && len(o.Degraded) == 0 && o.Hits[0].ID == "c007"
		})
	}
}
