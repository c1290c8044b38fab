package elastic_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/textquery"
)

// node is a fake whose URL has a path, for engines with their own transport.
type node struct {
	*fake
	url     string
	front   *httptest.Server
	mu      sync.Mutex
	headers []http.Header
}

func newNode(t *testing.T, kb *engine.KnowledgeBase) *node {
	t.Helper()
	n := &node{fake: newFake(t, kb)}
	n.front = httptest.NewServer(http.StripPrefix("/behind/here", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.headers = append(n.headers, r.Header.Clone())
		n.mu.Unlock()
		n.serve(w, r)
	})))
	t.Cleanup(n.front.Close)
	n.url = n.front.URL + "/behind/here/"
	return n
}

// handleSearch sets the handler of searches.
func (n *node) handleSearch(reply http.HandlerFunc) { n.handle("_msearch", reply) }

// handle sets the handler of requests by the end of their path.
func (n *node) handle(end string, reply http.HandlerFunc) {
	n.fake.mu.Lock()
	defer n.fake.mu.Unlock()
	n.replies[end] = reply
}

// receivedHeaders returns the headers of the requests since the last call.
func (n *node) receivedHeaders() []http.Header {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.headers
	n.headers = nil
	return all
}

func (n *node) open(t *testing.T, o elastic.Options) *elastic.Engine {
	t.Helper()
	o.Tokenizer = enginetest.Words{}
	if o.URLs == nil {
		o.URLs = []string{n.url}
	}
	e, err := elastic.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestRequestsAreSentAsByTheStandardLibrary: method, path, headers and body.
func TestRequestsAreSentAsByTheStandardLibrary(t *testing.T) {
	kb := manuals()
	n := newNode(t, &kb)
	n.reply("_msearch", http.StatusOK, `{"responses": [`+nothing+`]}`)
	n.reply("_bulk", http.StatusOK, `{"items": [{"index": {"result": "created", "status": 201}}]}`)
	f := func(e *elastic.Engine) ([]http.Header, []request) {
		t.Helper()
		_, searched := e.Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{textLeg()}})
		_, written := e.Write(t.Context(), engine.WriteRequest{KB: kb, Refresh: true, Chunks: []engine.Chunk{{ID: "a", DocumentID: "d"}}})
		if err := errors.Join(searched, written, e.Ping(t.Context())); err != nil {
			t.Fatal(err)
		}
		return n.receivedHeaders(), n.received()
	}
	address, err := url.Parse(n.url)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword("elastic", "a/b@c")
	for name, o := range map[string]elastic.Options{
		"nobody": {}, "an API key": {APIKey: "a2V5"}, "a user": {Username: "elastic", Password: "secret"},
		"a user in the URL": {URLs: []string{address.String()}},
	} {
		headers, sent := f(n.open(t, o))
		o.Transport = &http.Transport{DisableCompression: true}
		wantHeaders, want := f(n.open(t, o))
		if diff := cmp.Diff(want, sent) + cmp.Diff(wantHeaders, headers); diff != "" {
			t.Errorf("%s (-net/http +transport):\n%s; want diff \"\"", name, diff)
		}
	}
}

func TestWhatJSONDoesNotHaveIsNotSent(t *testing.T) {
	kb := manuals()
	n := newNode(t, &kb)
	leg := textLeg()
	leg.Text = &textquery.Query{Terms: []textquery.Term{{Text: "refund", Weight: math.NaN()}}}
	req := &engine.Request{KB: kb, Legs: []engine.Leg{leg}}
	if _, err := n.open(t, elastic.Options{}).Search(t.Context(), req); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("got %v; want an error of kind InvalidArgument", err)
	}
	for _, a := range n.received() {
		if strings.HasSuffix(a.Path, "search") {
			t.Errorf(`asked %+v; want one that does not end in "search"`, a)
		}
	}
}

// TestFailuresOfAConnection: late, refused, cut short, hung up, away for a moment.
func TestFailuresOfAConnection(t *testing.T) {
	kb := manuals()
	n := newNode(t, &kb)
	e := n.open(t, elastic.Options{Settings: elastic.Settings{Timeout: 300 * time.Millisecond}})
	req := &engine.Request{KB: kb, Legs: []engine.Leg{textLeg()}}
	f := func(name string, reply http.HandlerFunc, want fault.Kind) {
		t.Helper()
		n.handleSearch(reply)
		if _, err := e.Search(t.Context(), req); !fault.Is(err, want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
	ended := make(chan struct{})
	f("late", func(http.ResponseWriter, *http.Request) { <-ended }, fault.Timeout)
	close(ended)
	f("refused", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, refusal("es_rejected_execution_exception"))
	}, fault.Overloaded)
	f("cut short", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"responses": [`) }, fault.Unavailable)
	f("hung up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, fault.Unavailable)
	tries := 0
	n.handleSearch(func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, `{"responses": [`+nothing+`]}`)
	})
	if _, err := e.Search(t.Context(), req); err != nil || tries != 2 {
		t.Errorf("away for a moment: after %d tries %v; want no error and tries 2", tries, err)
	}
}

// TestConcurrentSearches: none overwrites the response of another.
func TestConcurrentSearches(t *testing.T) {
	const hits = 50
	kb := manuals()
	n := newNode(t, &kb)
	var searches atomic.Int32
	n.handle("_search", func(w http.ResponseWriter, _ *http.Request) {
		var all strings.Builder
		number := searches.Add(1)
		for i := range hits {
			_, _ = fmt.Fprintf(&all, `,{"_score":%d,"fields":{"id":["%d of %d"],"document_id":["%d"]},"matched_queries":{"leg0":%d},`+
				`"_source":{"chunk":{"id":"%d"}}}`, hits-i, i, number, number, i, i)
		}
		_, _ = io.WriteString(w, `{"hits": {"hits": [`+all.String()[1:]+`]}}`)
	})
	e := n.open(t, elastic.Options{})
	req := &engine.Request{
		KB: kb, Legs: []engine.Leg{textLeg(), vectorLeg()}, Sum: &engine.Sum{Candidates: hits, Weights: []float64{1, 1}},
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				chunks, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: kb, IDs: []string{"7"}})
				result, failed := e.Search(t.Context(), req)
				if err != nil || failed != nil || len(result.Hits) != hits {
					t.Error(err, failed)
					return
				}
				for i, hit := range result.Hits {
					if want := fmt.Sprint(i, " of ", result.Hits[0].DocumentID); hit.ID != want || hit.Observations[0].Raw != float64(i) {
						t.Errorf("got %+v, want %s", hit, want)
					}
				}
				if len(chunks) != 1 || chunks[0].ID != "7" {
					t.Errorf(`the chunk has changed: %+v; want 1 chunks and chunks[0].ID "7"`, chunks)
				}
			}
		})
	}
	all.Wait()
}

// TestAHitWithoutASource is no chunk, neither alone nor among others.
func TestAHitWithoutASource(t *testing.T) {
	kb := manuals()
	n := newNode(t, &kb)
	e := n.open(t, elastic.Options{})
	whole := `{"_source":{"chunk":{"id":"c1","content":"a\nb"}}}`
	f := func(hits string, want ...string) {
		t.Helper()
		n.reply("_search", http.StatusOK, `{"hits":{"hits":[`+hits+`]}}`)
		chunks, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: kb, IDs: []string{"c1", "c2"}})
		if len(want) == 0 && !fault.Is(err, fault.Unavailable) || len(want) > 0 && err != nil || len(chunks) != len(want) {
			t.Errorf("%s: %+v, %v", hits, chunks, err)
		}
		for i := range chunks {
			if chunks[i].Content != want[i] {
				t.Errorf("%s: chunk %d is %+v", hits, i, chunks[i])
			}
		}
	}
	f(whole, "a\nb")
	f(whole+`,{"_source":{"chunk":{"id":"c2"}}}`, "a\nb", "")
	f(`{"_id":"x"}`)
	f(whole + `,{"_id":"x"}`)
	f(`{"_source":{"chunk":7}}`)
}

// TestAStaleConnection: a read is repeated over a new one, at once; a write is sent once.
func TestAStaleConnection(t *testing.T) {
	kb := manuals()
	n := newNode(t, &kb)
	e := n.open(t, elastic.Options{})
	var hung atomic.Int32 // requests that are hung up on
	n.handle("_bulk", func(w http.ResponseWriter, _ *http.Request) {
		if hung.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, `{"items": [{"index": {"result": "created", "status": 201}}]}`)
	})
	ping := func() error { return e.Ping(t.Context()) }
	write := func() error {
		_, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{{ID: "a", DocumentID: "d"}}})
		return err
	}
	var many sync.WaitGroup
	for range 8 {
		many.Go(func() {
			if err := ping(); err != nil {
				t.Error(err)
			}
		})
	}
	many.Wait()
	n.front.CloseClientConnections() // as a node that restarts does
	n.received()
	if err := ping(); err != nil || len(n.received()) != 1 {
		t.Errorf("a read over a stale connection: %v; want no error and 1 n.received()", err)
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	n.received()
	hung.Store(1)
	written := func() (bulks int) {
		for _, r := range n.received() {
			if r.Path == "/_bulk" {
				bulks++
			}
		}
		return bulks
	}
	if err := write(); !fault.Is(err, fault.Unavailable) || written() != 1 {
		t.Errorf("a write that is hung up on: %v, want unavailable after one try", err)
	}
	if err := write(); err != nil || written() != 1 {
		t.Errorf("the write after it: %v; want no error and written() 1", err)
	}
}

// TestACallerThatGoesAwayIsNotWaitedFor, nor is its connection used again.
func TestACallerThatGoesAwayIsNotWaitedFor(t *testing.T) {
	deadline.Set(t, time.Minute)
	kb := manuals()
	n := newNode(t, &kb)
	e := n.open(t, elastic.Options{})
	arrived, ended := make(chan struct{}), make(chan struct{})
	defer close(ended)
	n.handle("_bulk", func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-ended
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := e.Write(ctx, engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{{ID: "a", DocumentID: "d"}}})
	if !fault.Is(err, fault.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	if err := e.Ping(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestTheNextNodeIsAsked where one is away.
func TestTheNextNodeIsAsked(t *testing.T) {
	kb := manuals()
	n := newNode(t, &kb)
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	e := n.open(t, elastic.Options{URLs: []string{away.URL, n.url}})
	for range 4 {
		if err := e.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if all := len(n.received()); all != 4 {
		t.Errorf("the node that is there was asked %d times; want all 4", all)
	}
}

func TestAProxyIsUsedWhereTheEnvironmentSaysSo(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI)
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
	}))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("NO_PROXY", "beside.invalid")
	kb := manuals()
	n := newNode(t, &kb)
	for _, at := range []string{"http://es.invalid:9200", "https://es.invalid:9200", "http://beside.invalid:9200", n.url} {
		err := n.open(t, elastic.Options{URLs: []string{at}}).Ping(t.Context())
		if reached := at == "http://es.invalid:9200" || at == n.url; (err == nil) != reached {
			t.Errorf("%s: %v", at, err)
		}
	}
	want := []string{"GET http://es.invalid:9200/", "CONNECT es.invalid:9200", "CONNECT es.invalid:9200"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked of the proxy (-want +got):\n%s", diff)
	}
}

// TestJSONReplacesSmile in requests and responses.
func TestJSONReplacesSmile(t *testing.T) {
	kb := manuals()
	n := newNode(t, &kb)
	n.reply("_msearch", http.StatusOK, `{"responses": [`+nothing+`]}`)
	for _, inJSON := range []bool{false, true} {
		e := n.open(t, elastic.Options{JSON: inJSON})
		_, legs := e.Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{textLeg()}})
		_, sum := e.Search(t.Context(), &engine.Request{
			KB: kb, Legs: []engine.Leg{textLeg()}, Sum: &engine.Sum{Candidates: 10, Weights: []float64{1}},
		})
		if err := errors.Join(legs, sum); err != nil {
			t.Fatal(err)
		}
		smile := false
		for _, h := range n.receivedHeaders() {
			smile = smile || strings.Contains(h.Get("Accept")+h.Get("Content-Type"), "smile")
		}
		if smile == inJSON {
			t.Errorf("in JSON %t: SMILE %t", inJSON, smile)
		}
	}
}
