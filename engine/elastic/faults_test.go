package elastic_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

const (
	secretReason = secretPart + " says no"
	secretPart   = "http://elastic:hush@10.0.0.7:9300"
)

func refusal(kind string) string {
	return `{"error": {"type": "x", "reason": "` + secretReason + `", "caused_by": {"type": "` + kind + `"}}}`
}

// TestFaults: what Elasticsearch does becomes a kind, without its own words.
func TestFaults(t *testing.T) {
	kb := manuals()
	f := func(status int, body string, want fault.Kind) {
		t.Helper()
		server := newFake(t, &kb)
		server.reply("_msearch", status, body)
		_, err := server.engine(t, nil).Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{textLeg()}})
		if !fault.Is(err, want) {
			t.Errorf("%d %.40s: got %v, want %s", status, body, err, want)
			return
		}
		if found := detail(err); strings.Contains(found, "hush") || strings.Contains(found, "10.0.0.7") {
			t.Errorf(`the detail tells %q; want no "hush" in it and no "10.0.0.7" in it`, found)
		}
	}
	f(400, refusal("parsing_exception"), fault.Unavailable)
	f(400, refusal("illegal_argument_exception"), fault.Unavailable)
	f(400, refusal("max_bytes_length_exceeded_exception"), fault.InvalidArgument)
	f(400, refusal("too_many_nested_clauses"), fault.InvalidArgument)
	f(401, refusal("security_exception"), fault.Unavailable)
	f(404, refusal("index_not_found_exception"), fault.NotFound)
	f(413, "", fault.TooLarge)
	f(429, refusal("es_rejected_execution_exception"), fault.Overloaded)
	f(500, "<html>oops</html>", fault.Unavailable)
	f(502, "", fault.Unavailable)
	f(503, refusal("no_shard_available_action_exception"), fault.Unavailable)
	f(504, "", fault.Timeout)
	f(200, "garbage", fault.Unavailable)
	f(200, `{"responses": [{"took": `, fault.Unavailable)
	f(200, `{"responses": []}`, fault.Unavailable)
	f(200, `{"responses": [{"hello": "world"}]}`, fault.Unavailable)
	f(200, `{"responses": [{"status": 429, "error": {"type": "x", "reason": "`+secretReason+`"}}]}`, fault.Overloaded)
	f(200, `{"responses": [{"timed_out": true, "hits": {"hits": []}}]}`, fault.Timeout)
	f(200, `{"responses": [{"_shards": {"failed": 1, "failures": [{"reason": {"type": "x", "reason": "`+secretReason+`"}}]}}]}`,
		fault.Unavailable)
}

func detail(err error) string {
	if e, ok := err.(*fault.Error); ok { //nolint:errorlint // only the outermost is shown
		return e.Detail
	}
	return ""
}

// TestOneLegFails: the result has the hits of the other one.
func TestOneLegFails(t *testing.T) {
	kb := manuals()
	server := newFake(t, &kb)
	server.reply("_msearch", http.StatusOK, `{"responses": [
		{"hits": {"hits": [{"_id": "1", "_score": 2, "fields": {"id": ["c1"]}}]}},
		{"status": 503, "error": {"type": "x"}}]}`)
	result, err := server.engine(t, nil).Search(t.Context(), &engine.Request{
		KB: kb, Legs: []engine.Leg{textLeg(), vectorLeg()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Hits) != 1 || result.Hits[0].ID != "c1" || result.Hits[0].Observations[1].Known() ||
		result.Legs[0].Err != nil || !fault.Is(result.Legs[1].Err, fault.Unavailable) {
		t.Errorf("got %+v", result)
	}
}

// TestAKNNSearchThatFindsTooFewRunsExactly: a filter can hide chunks from the graph.
func TestAKNNSearchThatFindsTooFewRunsExactly(t *testing.T) {
	kb := manuals()
	f := newFake(t, &kb)
	hit := func(id string) string { return `{"_score":1.5,"fields":{"id":["` + id + `"]}}` }
	f.reply("_msearch", http.StatusOK, `{"responses":[{"status":200,"hits":{"hits":[`+hit("a")+`]}}]}`)
	f.reply("_search", http.StatusOK, `{"hits":{"total":{"value":100},"hits":[`+hit("a")+`,`+hit("b")+`]}}`)
	e := f.engine(t, func(o *elastic.Options) { o.ExactLimit = 1 })
	leg := vectorLeg()
	leg.K = 2
	result, err := e.Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{leg}})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Hits) != 2 || result.Legs[0].Method != "exact" {
		t.Errorf("%d hits by %s, want 2, compared one by one", len(result.Hits), result.Legs[0].Method)
	}
}

// TestScoresThatCannotBeCompletedAreReported: the rankings stand, the scores
// that a leg did not bring with them are unknown, and its outcome says so.
func TestScoresThatCannotBeCompletedAreReported(t *testing.T) {
	kb := manuals()
	server := newFake(t, &kb)
	server.reply("_msearch", http.StatusOK, `{"responses": [
		{"hits": {"hits": [{"_id": "1", "_score": 2, "fields": {"id": ["c1"]}}]}},
		{"hits": {"hits": [{"_id": "2", "_score": 1.5, "fields": {"id": ["c2"]}}]}}]}`)
	server.mu.Lock()
	server.replies["_search"] = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("include_named_queries_score") { // the request that completes
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, nothing) // the client may have gone
	}
	server.mu.Unlock()
	text, vector := textLeg(), vectorLeg()
	text.K, vector.K = 1, 1
	result, err := server.engine(t, nil).Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{text, vector}})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Hits) != 2 {
		t.Fatalf("hits %+v; want 2 result.Hits", result.Hits)
	}
	for i, outcome := range result.Legs {
		other := result.Hits[1-i].Observations[i]
		if outcome.Err != nil || !fault.Is(outcome.Incomplete, fault.Unavailable) || other.Known() ||
			result.Hits[i].Observations[i].Rank != 1 {
			t.Errorf("leg %d: %+v, the other's hit %+v", i, outcome, other)
		}
	}
}

// TestATruncatedResponseIsRetried: what was read of it is dropped.
func TestATruncatedResponseIsRetried(t *testing.T) {
	kb := manuals()
	server := newFake(t, &kb)
	whole := `{"responses": [{"hits": {"hits": [{"_score": 2, "fields": {"id": ["c1"]}}]}}]}`
	tries := 0
	server.replies["_msearch"] = func(w http.ResponseWriter, _ *http.Request) {
		tries++
		_, _ = io.WriteString(w, whole[:len(whole)-2+2*(tries/2)])
	}
	req := &engine.Request{KB: kb, Legs: []engine.Leg{textLeg()}}
	result, err := server.engine(t, nil).Search(t.Context(), req)
	if err != nil || tries != 2 || len(result.Hits) != 1 || result.Hits[0].ID != "c1" {
		t.Errorf(`after %d tries: %+v, %v; want no error and tries 2 and 1 result.Hits and result.Hits[0].ID "c1"`, tries, result, err)
	}
}

func TestSlowServer(t *testing.T) {
	deadline.Set(t, time.Minute)
	kb := manuals()
	server := newFake(t, &kb)
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	server.replies["_msearch"] = func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}
	req := &engine.Request{KB: kb, Legs: []engine.Leg{textLeg()}}
	e := server.engine(t, func(o *elastic.Options) { o.Timeout = 300 * time.Millisecond })
	if _, err := e.Search(t.Context(), req); !fault.Is(err, fault.Timeout) {
		t.Errorf("a slow server: %v, want timeout", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := e.Search(ctx, req); !fault.Is(err, fault.Canceled) {
		t.Errorf("a caller that went away: %v, want canceled", err)
	}
}

// TestRecovery: the same engine works once the server is back.
func TestRecovery(t *testing.T) {
	kb := manuals()
	server := newFake(t, &kb)
	address, listen := reserved(t)
	e := server.engine(t, func(o *elastic.Options) { o.URLs = []string{"http://" + address} })
	req := &engine.Request{KB: kb, Legs: []engine.Leg{textLeg()}}
	if _, err := e.Search(t.Context(), req); !fault.Is(err, fault.Unavailable) {
		t.Errorf("while it is away: %v, want unavailable", err)
	}
	if err := e.Ping(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("ping while it is away: %v, want unavailable", err)
	}
	listener := listen()
	again := &http.Server{Handler: http.HandlerFunc(server.serve), ReadHeaderTimeout: time.Second}
	go func() { _ = again.Serve(listener) }() // ends with Close
	t.Cleanup(func() { _ = again.Close() })
	server.reply("_msearch", http.StatusOK, `{"responses": [`+nothing+`]}`)
	if _, err := e.Search(t.Context(), req); err != nil {
		t.Errorf("when it is there again: %v", err)
	}
}

// reserved returns an address that nobody else can take. It refuses connections until
// listen is called.
func reserved(t *testing.T) (address string, listen func() net.Listener) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	must(err)
	socket := os.NewFile(uintptr(fd), "socket")
	t.Cleanup(func() { _ = socket.Close() }) // a listener has a copy of its own
	must(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	at, err := syscall.Getsockname(fd)
	must(err)
	return fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port), func() net.Listener {
		must(syscall.Listen(fd, syscall.SOMAXCONN))
		listener, err := net.FileListener(socket)
		must(err)
		return listener
	}
}

func TestSomethingElseThanElasticsearch(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"tagline": "hello"}`)
	}))
	t.Cleanup(server.Close)
	e, err := elastic.New(elastic.Options{
		URLs: []string{server.URL}, Tokenizer: enginetest.Words{}, Transport: &http.Transport{DisableKeepAlives: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Ping(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
}

// TestBusyBulkItemsAreSentAgain: of two items the second is refused once.
func TestBusyBulkItemsAreSentAgain(t *testing.T) {
	kb := manuals()
	server := newFake(t, &kb)
	rounds := []string{
		`{"items": [{"index": {"result": "created", "status": 201}}, {"index": {"status": 429, "error": {"type": "busy"}}}]}`,
		`{"items": [{"index": {"result": "updated", "status": 200}}]}`,
	}
	round := 0
	server.replies["_bulk"] = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, rounds[round])
		round++
	}
	outcomes, err := server.engine(t, nil).Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{
		{ID: "a", DocumentID: "d", Content: "x"}, {ID: "b", DocumentID: "d", Content: "y"},
	}})
	if err != nil || round != 2 || outcomes[0].Status != engine.Created || outcomes[1].Status != engine.Updated {
		t.Errorf("after %d rounds: %+v, %v; want no error and round 2 and outcomes[0].Status Created and outcomes[1].Status Updated", round, outcomes, err)
	}
}

// TestAnswersThatAreNotOfTheRequest: the results of a _bulk are told apart by their places, so that an answer with other
// places says nothing of any chunk.
func TestAnswersThatAreNotOfTheRequest(t *testing.T) {
	kb := manuals()
	const a = `{"index": {"_id": "acme|manuals|a", "result": "created", "status": 201}}`
	const b = `{"index": {"_id": "acme|manuals|b", "result": "created", "status": 201}}`
	for items, fine := range map[string]bool{
		a + "," + b: true, a: false, "": false, a + "," + b + "," + b: false, b + "," + a: false,
	} {
		server := newFake(t, &kb)
		server.reply("_bulk", http.StatusOK, `{"errors": false, "items": [`+items+`]}`)
		outcomes, err := server.engine(t, nil).Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{
			{ID: "a", DocumentID: "d", Content: "x"}, {ID: "b", DocumentID: "d", Content: "y"},
		}})
		if fine && (err != nil || outcomes[0].Status != engine.Created || outcomes[1].Status != engine.Created) ||
			!fine && !fault.Is(err, fault.Unavailable) {
			t.Errorf("items %s: %+v, %v; want not fine or no error and outcomes[0].Status Created and outcomes[1].Status Created and fine or an error of kind Unavailable", items, outcomes, err)
		}
	}
}

// TestWhatIsSentAgainIsShownToo: items that Elasticsearch was too busy for come with the next request, which waits until
// they are found as the first one did; those that were stored do not come again.
func TestWhatIsSentAgainIsShownToo(t *testing.T) {
	kb := manuals()
	server := newFake(t, &kb)
	const busy = `{"index": {"status": 429, "error": {"type": "busy"}}}`
	rounds := []string{`{"index": {"status": 201}}, ` + busy, busy, `{"index": {"status": 201}}`}
	round := 0
	server.replies["_bulk"] = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"items": [`+rounds[round]+`]}`)
		round++
	}
	server.otherwise = `{"found": true, "_source": {"tenant": "acme", "kind": "run", "id": "nightly", "life": "1", "version": 1, "head": "{}"}}`
	ref := engine.RecordRef{Tenant: "acme", Kind: "run", ID: "nightly"}
	if err := server.engine(t, nil).PutItems(t.Context(), ref, someItems); err != nil {
		t.Fatal(err)
	}
	var sent []string
	for _, r := range server.received() {
		if strings.HasPrefix(r.Path, "/_bulk") {
			sent = append(sent, fmt.Sprint(r.Path, " ", len(r.Body)/2))
		}
	}
	if want := []string{"/_bulk?refresh=true 2", "/_bulk?refresh=true 1", "/_bulk?refresh=true 1"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

// TestFailedItemsFailAlone: an answer of 200 may hold refusals.
func TestFailedItemsFailAlone(t *testing.T) {
	kb := manuals()
	server := newFake(t, &kb)
	server.reply("_bulk", http.StatusOK, `{"errors": true, "items": [
		{"index": {"status": 400, "error": {"type": "document_parsing_exception", "reason": "`+secretReason+`"}}},
		{"index": {"result": "created", "status": 201}}]}`)
	outcomes, err := server.engine(t, nil).Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{
		{ID: "a", DocumentID: "d", Content: "x"},
		{ID: "b", DocumentID: "d", Content: "y"},
		{ID: "", DocumentID: "d"},
		{ID: "v", DocumentID: "d", Vectors: map[string][]float32{"nosuch": {1}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []engine.Status{engine.Failed, engine.Created, engine.Failed, engine.Failed} {
		if outcomes[i].Status != want || (outcomes[i].Err != nil) != (want == engine.Failed) {
			t.Errorf("outcome %d: %+v, want %s", i, outcomes[i], want)
		}
	}
	if !fault.Is(outcomes[0].Err, fault.Unavailable) || !strings.Contains(detail(outcomes[0].Err), "[url] says no") {
		t.Errorf("got %v, want the reason, without the address", outcomes[0].Err)
	}
}

// TestAnIndexOfAnotherShapeIsAConflict: the model changed, the index did not.
func TestAnIndexOfAnotherShapeIsAConflict(t *testing.T) {
	kb := manuals()
	e := newFake(t, &kb).engine(t, nil)
	kb.EmbeddingModel = "another"
	_, err := e.Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{textLeg()}})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v, want conflict", err)
	}
}
