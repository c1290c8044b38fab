package elastic_test

import (
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
	"github.com/hybridge-search/hybridge/textquery"
)

// node is a fake with a path in front and the engine's own transports: from its
// second request on, the engine goes past Elasticsearch's client.
type node struct {
	*fake
	url     string
	mu      sync.Mutex
	headers []http.Header
}

func newNode(t *testing.T, kb *engine.KnowledgeBase) *node {
	t.Helper()
	n := &node{fake: newFake(t, kb)}
	front := httptest.NewServer(http.StripPrefix("/behind/here", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.headers = append(n.headers, r.Header.Clone())
		n.mu.Unlock()
		n.serve(w, r)
	})))
	t.Cleanup(front.Close)
	n.url = front.URL + "/behind/here/"
	return n
}

// search sets what becomes of searches.
func (n *node) search(reply http.HandlerFunc) { n.answer("_msearch", reply) }

// answer sets what becomes of requests whose path ends so.
func (n *node) answer(end string, reply http.HandlerFunc) {
	n.fake.mu.Lock()
	defer n.fake.mu.Unlock()
	n.replies[end] = reply
}

// seen gives the headers of all requests since the last call.
func (n *node) seen() []http.Header {
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

// TestTheShortcutSendsWhatTheClientSends: signature, product, path.
func TestTheShortcutSendsWhatTheClientSends(t *testing.T) {
	kb := manuals()
	f := func(name string, change func(*elastic.Options, *url.URL)) {
		t.Helper()
		n := newNode(t, &kb)
		address, err := url.Parse(n.url)
		if err != nil {
			t.Fatal(err)
		}
		var o elastic.Options
		change(&o, address)
		o.URLs = []string{address.String()}
		e := n.open(t, o)
		for range 3 {
			if err := e.Ping(t.Context()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		asked, headers := n.take(), n.seen()
		for i := range asked {
			if diff := cmp.Diff(headers[0], headers[i]); diff != "" || asked[i].Path != "/" {
				t.Errorf("%s: request %d to %s (-first +this):\n%s", name, i, asked[i].Path, diff)
			}
		}
	}
	f("nobody", func(*elastic.Options, *url.URL) {})
	f("an API key", func(o *elastic.Options, _ *url.URL) { o.APIKey = "a2V5" })
	f("a user", func(o *elastic.Options, _ *url.URL) { o.Username, o.Password = "elastic", "secret" })
	f("a user in the URL", func(_ *elastic.Options, u *url.URL) { u.User = url.UserPassword("elastic", "a/b@c") })
}

// TestTheShortcutSendsBodies: the same as the client, of each kind.
func TestTheShortcutSendsBodies(t *testing.T) {
	kb := manuals()
	n := newNode(t, &kb)
	n.reply("_msearch", http.StatusOK, `{"responses": [`+nothing+`]}`)
	f := func(e *elastic.Engine) (types []string, all []asked) {
		t.Helper()
		req := &engine.Request{KB: kb, Legs: []engine.Leg{textLeg()}}
		for range 2 {
			if _, err := e.Search(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		for _, h := range n.seen() {
			types = append(types, h.Get("Content-Type")+" for "+h.Get("Accept"))
		}
		return types, n.take()
	}
	types, sent := f(n.open(t, elastic.Options{}))
	wantedTypes, wanted := f(n.open(t, elastic.Options{Transport: &http.Transport{DisableKeepAlives: true}}))
	if diff := cmp.Diff(wanted, sent) + cmp.Diff(wantedTypes, types); diff != "" {
		t.Errorf("(-client +shortcut):\n%s", diff)
	}
}

// TestWhatJSONDoesNotHaveIsNotSent: on neither way.
func TestWhatJSONDoesNotHaveIsNotSent(t *testing.T) {
	kb := manuals()
	n := newNode(t, &kb)
	leg := textLeg()
	leg.Text = &textquery.Query{Terms: []textquery.Term{{Text: "refund", Weight: math.NaN()}}}
	req := &engine.Request{KB: kb, Legs: []engine.Leg{leg}}
	for _, e := range []*elastic.Engine{n.open(t, elastic.Options{}), n.open(t, elastic.Options{Transport: http.DefaultTransport})} {
		if err := e.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := e.Search(t.Context(), req); !fault.Is(err, fault.InvalidArgument) {
				t.Errorf("got %v", err)
			}
		}
	}
	for _, a := range n.take() {
		if strings.HasSuffix(a.Path, "search") {
			t.Errorf("asked %+v", a)
		}
	}
}

// TestTheShortcutFailsAsTheClientDoes: late, cut short, refused, away.
func TestTheShortcutFailsAsTheClientDoes(t *testing.T) {
	kb := manuals()
	n := newNode(t, &kb)
	e := n.open(t, elastic.Options{Timeout: 300 * time.Millisecond})
	if err := e.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	req := &engine.Request{KB: kb, Legs: []engine.Leg{textLeg()}}
	f := func(name string, reply http.HandlerFunc, want fault.Kind) {
		t.Helper()
		n.search(reply)
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
	n.search(func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, `{"responses": [`+nothing+`]}`)
	})
	if _, err := e.Search(t.Context(), req); err != nil || tries != 2 {
		t.Errorf("away for a moment: after %d tries %v", tries, err)
	}
}

// TestSearchesAtATimeHaveTheirOwnAnswers: what one search gives back, others read
// their answers into; chunks that were read stay.
func TestSearchesAtATimeHaveTheirOwnAnswers(t *testing.T) {
	const hits = 50
	kb := manuals()
	n := newNode(t, &kb)
	var searches atomic.Int32
	n.answer("_search", func(w http.ResponseWriter, _ *http.Request) {
		var all strings.Builder
		number := searches.Add(1)
		for i := range hits {
			_, _ = fmt.Fprintf(&all, `,{"_score":%d,"fields":{"id":["%d of %d"],"document_id":["%d"]},"matched_queries":{"leg0":%d},`+
				`"_source":{"chunk":{"id":"%d"}}}`, hits-i, i, number, number, i, i)
		}
		_, _ = io.WriteString(w, `{"hits": {"hits": [`+all.String()[1:]+`]}}`)
	})
	e := n.open(t, elastic.Options{})
	if err := e.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
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
					t.Errorf("the chunk has changed: %+v", chunks)
				}
			}
		})
	}
	all.Wait()
}

// TestAHitWithoutASource: neither alone nor beside others it is a chunk.
func TestAHitWithoutASource(t *testing.T) {
	kb := manuals()
	n := newNode(t, &kb)
	e := n.open(t, elastic.Options{})
	whole := `{"_source":{"chunk":{"id":"c1","content":"a\nb"}}}`
	f := func(hits string, want ...string) {
		t.Helper()
		n.reply("_search", http.StatusOK, `{"hits":{"hits":[`+hits+`]}}`)
		for range 2 { // by the client, and past it
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
	}
	f(whole, "a\nb")
	f(whole+`,{"_source":{"chunk":{"id":"c2"}}}`, "a\nb", "")
	f(`{"_id":"x"}`)
	f(whole + `,{"_id":"x"}`)
	f(`{"_source":{"chunk":7}}`)
}
