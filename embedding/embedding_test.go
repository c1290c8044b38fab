package embedding

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-very-secret"

// received is a request as the fake server saw it.
type received struct {
	path, authorization string
	body                map[string]any
	input               []string
}

// fake is a server that records requests.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	requests []received
}

func newFake(t *testing.T, answer func(w http.ResponseWriter, a received, nth int)) *fake {
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := received{path: r.URL.Path, authorization: r.Header.Get("Authorization")}
		if err := json.NewDecoder(r.Body).Decode(&a.body); err != nil {
			t.Errorf("the client sent no JSON: %v", err)
		}
		for _, text := range a.body["input"].([]any) {
			a.input = append(a.input, text.(string))
		}
		f.mu.Lock()
		f.requests = append(f.requests, a)
		nth := len(f.requests)
		f.mu.Unlock()
		answer(w, a, nth)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

// embed is the fake's model: a text's length, and one.
func embed(text string) []float32 { return []float32{float32(len(text)), 1} }

// answerWell answers in reverse order, which `index` puts right.
func answerWell(w http.ResponseWriter, a received, _ int) {
	var data []string
	for i, text := range slices.Backward(a.input) {
		vector, _ := json.Marshal(embed(text))
		data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, vector))
	}
	_, _ = fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"m","usage":{}}`, strings.Join(data, ","))
}

func newClient(t *testing.T, options Options) *Client {
	t.Helper()
	if options.Model == "" {
		options.Model = "m"
	}
	options.firstPause = time.Millisecond
	c, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestRequestMembers(t *testing.T) {
	server := newFake(t, answerWell)
	c := newClient(t, Options{
		BaseURL: server.URL, Model: "e5", APIKey: secret, Dimensions: 2, SendDimensions: true,
		QueryPrefix: "query: ", PassagePrefix: "passage: ",
		QueryExtra: map[string]any{"input_type": "query"}, PassageExtra: map[string]any{"input_type": "passage"},
	})
	if _, err := c.Query(t.Context(), "退款"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Passages(t.Context(), []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Texts(t.Context(), []string{"c"}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`{"dimensions":2,"input":["query: 退款"],"input_type":"query","model":"e5"}`,
		`{"dimensions":2,"input":["passage: a","passage: b"],"input_type":"passage","model":"e5"}`,
		`{"dimensions":2,"input":["c"],"model":"e5"}`,
	} {
		sent := server.requests[i]
		if got, _ := json.Marshal(sent.body); string(got) != want {
			t.Errorf("request %d is %s, want %s", i, brief.Of(got), want)
		}
		if sent.path != "/v1/embeddings" || sent.authorization != "Bearer "+secret {
			t.Errorf(`request %d went to %s with %q; want sent.path "/v1/embeddings" and sent.authorization "Bearer " + secret`, i, sent.path, sent.authorization)
		}
	}
}

func TestPassagesAreBatchedAndKeepTheirOrder(t *testing.T) {
	server := newFake(t, answerWell)
	c := newClient(t, Options{BaseURL: server.URL, BatchSize: 3})
	texts := []string{"1", "22", "333", "4444", "55555", "666666", "7777777"}
	if c.Answered() {
		t.Error("a server that was asked nothing has answered")
	}
	vectors, err := c.Passages(t.Context(), texts)
	if err != nil || !c.Answered() {
		t.Fatalf("%v; answered: %v", err, c.Answered())
	}
	for i, text := range texts {
		if !slices.Equal(vectors[i], embed(text)) {
			t.Errorf("vector %d is %v, want %v", i, vectors[i], embed(text))
		}
	}
	if len(vectors) != len(texts) || server.count() != 3 {
		t.Errorf("%d vectors by %d requests, want 7 by 3", len(vectors), server.count())
	}
	if none, err := c.Passages(t.Context(), nil); err != nil || len(none) != 0 {
		t.Errorf("no texts give %v, %v; want no error and no none", none, err)
	}
}

func TestLongTextIsCutBetweenRunes(t *testing.T) {
	server := newFake(t, answerWell)
	c := newClient(t, Options{BaseURL: server.URL, MaxRunes: 3, PassagePrefix: "p: "})
	if _, err := c.Passages(t.Context(), []string{"退款申请", "退款", "abc"}); err != nil {
		t.Fatal(err)
	}
	if got, want := server.requests[0].input, []string{"p: 退款申", "p: 退款", "p: abc"}; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}

func TestBase64(t *testing.T) {
	want := []float32{1.5, -2, float32(math.Pi)}
	server := newFake(t, func(w http.ResponseWriter, a received, _ int) {
		if a.body["encoding_format"] != "base64" {
			t.Errorf(`encoding_format is %v; want a.body["encoding_format"] "base64"`, a.body["encoding_format"])
		}
		raw, _ := binary.Append(nil, binary.LittleEndian, want)
		_, _ = fmt.Fprintf(w, `{"data":[{"index":0,"embedding":%q}]}`, base64.StdEncoding.EncodeToString(raw))
	})
	got, err := newClient(t, Options{BaseURL: server.URL, Base64: true}).Query(t.Context(), "x")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

func TestQueryVectorsAreCachedAndTheCallersOwn(t *testing.T) {
	server := newFake(t, answerWell)
	c := newClient(t, Options{BaseURL: server.URL})
	first, err := c.Query(t.Context(), "refund")
	if err != nil {
		t.Fatal(err)
	}
	first[0] = -1
	second, err := c.Query(t.Context(), "refund")
	if err != nil || !slices.Equal(second, embed("refund")) {
		t.Errorf("the second answer is %v, %v", second, err)
	}
	second[0] = -1 // one that was kept already
	third, err := c.Query(t.Context(), "refund")
	if err != nil || !slices.Equal(third, embed("refund")) {
		t.Errorf("the third answer is %v, %v", third, err)
	}
	if server.count() != 1 {
		t.Errorf("%d requests, want 1", server.count())
	}
}

func TestOneFlightPerTextSurvivesACallerThatGivesUp(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	server := newFake(t, func(w http.ResponseWriter, a received, nth int) {
		if nth == 1 {
			close(arrived)
		}
		<-release
		answerWell(w, a, nth)
	})
	c := newClient(t, Options{BaseURL: server.URL})

	impatient, giveUp := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { _, err := c.Query(impatient, "refund"); first <- err }()
	<-arrived
	others := make(chan error, 8)
	for range cap(others) {
		go func() { _, err := c.Query(t.Context(), "refund"); others <- err }()
	}
	giveUp()
	if err := <-first; !fault.Is(err, fault.Canceled) {
		t.Errorf("the caller that gave up gets %v; want an error of kind Canceled", err)
	}
	close(release)
	for range cap(others) {
		if err := <-others; err != nil {
			t.Errorf("a patient caller gets %v", err)
		}
	}
	if server.count() != 1 {
		t.Errorf("%d requests, want 1", server.count())
	}
}

func TestEmptyTextIsRefusedBeforeSending(t *testing.T) {
	server := newFake(t, answerWell)
	c := newClient(t, Options{BaseURL: server.URL})
	_, err := c.Query(t.Context(), " \n")
	if !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("a blank query: %v; want an error of kind InvalidArgument", err)
	}
	_, err = c.Passages(t.Context(), []string{"a", ""})
	if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "texts[1]") {
		t.Errorf(`an empty passage: %v; want an error of kind InvalidArgument and "texts[1]" in it`, err)
	}
	if server.count() != 0 {
		t.Errorf("%d requests, want none", server.count())
	}
}

func TestAnswersThatAreNotBelieved(t *testing.T) {
	f := func(body, wantDetail string) {
		t.Helper()
		server := newFake(t, func(w http.ResponseWriter, _ received, _ int) { _, _ = w.Write([]byte(body)) })
		c := newClient(t, Options{BaseURL: server.URL, Dimensions: 2})
		_, err := c.Passages(t.Context(), []string{"a", "b"})
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), wantDetail) {
			t.Errorf("%s gives %v, want unavailable with %q", brief.Of(body), err, wantDetail)
		}
		if server.count() != 1 {
			t.Errorf("%s was asked for %d times, want once", brief.Of(body), server.count())
		}
	}
	nan := base64.StdEncoding.EncodeToString([]byte{0, 0, 0xc0, 0x7f, 0, 0, 0, 0})
	f(`<html>login</html>`, "no JSON")
	f(`{"data":"no"}`, "no JSON")
	f(``, "no JSON")
	f(`{}`, "0 vectors for 2 texts")
	f(`{"data":[{"index":0,"embedding":[1,2]}]}`, "1 vectors for 2 texts")
	f(`{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`, "each of 0 to 1 once")
	f(`{"data":[{"index":0,"embedding":[1,2]},{"index":2,"embedding":[1,2]}]}`, "each of 0 to 1 once")
	f(`{"data":[{"index":0,"embedding":[1,2]},{"index":-1,"embedding":[1,2]}]}`, "each of 0 to 1 once")
	f(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2,3]}]}`, "3 dimensions where 2")
	f(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[]}]}`, "empty vector")
	f(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":null}]}`, "empty vector")
	f(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,1e99]}]}`, "no JSON")
	f(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":"`+nan+`"}]}`, "not finite")
	f(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":"AAA="}]}`, "whole number")
	f(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":"%%"}]}`, "no JSON")
	f(strings.Repeat(" ", 3*maxVectorBytes+1), "more than")
}

func TestStatusBecomesAKindAndNeverShowsTheKey(t *testing.T) {
	f := func(status int, want fault.Kind, wantTries int) {
		t.Helper()
		server := newFake(t, func(w http.ResponseWriter, _ received, _ int) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"cannot do that with %s %s"}}`, secret, strings.Repeat("好", 5000))
		})
		c := newClient(t, Options{BaseURL: server.URL, APIKey: secret, Retries: 1})
		_, err := c.Query(t.Context(), "x")
		if !fault.Is(err, want) || server.count() != wantTries {
			t.Errorf("%d gives %v after %d tries, want %s after %d", status, err, server.count(), want, wantTries)
		}
		if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, secret) || len(text) > 4096 {
			t.Errorf("%d: the error shows the key or is too long: %s; want no secret in it and at most 4096 text", status, text)
		}
	}
	f(301, fault.Unavailable, 1)
	f(400, fault.Unavailable, 2) // whatever the text
	f(401, fault.Unavailable, 1)
	f(403, fault.Unavailable, 1)
	f(404, fault.Unavailable, 1)
	f(408, fault.Timeout, 2)
	f(413, fault.TooLarge, 1)
	f(422, fault.Unavailable, 2)
	f(429, fault.Overloaded, 2)
	f(500, fault.Unavailable, 2)
	f(503, fault.Unavailable, 2)
	f(504, fault.Timeout, 2)
}

// A refusal is the text's fault where the server takes another text, and else its own, which waiting does not mend.
func TestATextIsBlamedForWhatIsRefusedOfItAlone(t *testing.T) {
	f := func(refuses string, want fault.Kind, lasting bool) {
		t.Helper()
		server := newFake(t, func(w http.ResponseWriter, asked received, _ int) {
			if strings.Contains(strings.Join(asked.input, ""), refuses) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"error": {"message": "512 tokens at most"}}`))
				return
			}
			_, _ = w.Write([]byte(`{"data": [{"index": 0, "embedding": [1, 2]}]}`))
		})
		_, err := newClient(t, Options{BaseURL: server.URL}).Query(t.Context(), "a long text")
		if !fault.Is(err, want) || !strings.Contains(err.Error(), "512 tokens at most") || fault.IsLasting(err) != lasting {
			t.Errorf("%q is refused: %v; want %s", refuses, err, want)
		}
	}
	f("long", fault.InvalidArgument, false)
	f("", fault.Unavailable, true)
}

func TestRetriesUntilItWorks(t *testing.T) {
	server := newFake(t, func(w http.ResponseWriter, a received, nth int) {
		switch nth {
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			panic(http.ErrAbortHandler) // the connection breaks
		default:
			answerWell(w, a, nth)
		}
	})
	c := newClient(t, Options{BaseURL: server.URL, Retries: 2})
	if _, err := c.Query(t.Context(), "x"); err != nil || server.count() != 3 {
		t.Errorf("%v after %d requests, want none after 3", err, server.count())
	}
}

func TestARetryAfterBeyondPatienceIsNotWaitedFor(t *testing.T) {
	deadline.Set(t, time.Minute)
	server := newFake(t, func(w http.ResponseWriter, _ received, _ int) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	c := newClient(t, Options{BaseURL: server.URL})
	if _, err := c.Query(t.Context(), "x"); !fault.Is(err, fault.Overloaded) || server.count() != 1 {
		t.Errorf("%v after %d requests, want overloaded after 1", err, server.count())
	}
}

func TestRetryAfterForms(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := func(header, want string) {
		t.Helper()
		got := "none"
		if pause := retryAfter(header, now); pause != nil {
			got = pause.String()
		}
		if got != want {
			t.Errorf("Retry-After %q is %s, want %s", header, got, want)
		}
	}
	f("", "none")
	f("soon", "none")
	f("-1", "none")
	f("99999999999999", "24h0m0s")
	f("0", "0s")
	f("7", "7s")
	f("Fri, 02 Jan 2026 03:04:15 GMT", "10s")
	f("Fri, 02 Jan 2026 03:04:00 GMT", "0s")
}

func TestSlowServer(t *testing.T) {
	deadline.Set(t, time.Minute)
	server := newFake(t, nil)
	server.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&struct{}{})
		<-r.Context().Done()
	})
	c := newClient(t, Options{BaseURL: server.URL, Timeout: 20 * time.Millisecond, Retries: -1})
	if _, err := c.Query(t.Context(), "x"); !fault.Is(err, fault.Timeout) {
		t.Errorf("the client's own limit gives %v; want an error of kind Timeout", err)
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := c.Query(soon, "x"); !fault.Is(err, fault.Timeout) {
		t.Errorf("the caller's limit gives %v; want an error of kind Timeout", err)
	}
	if _, err := c.Passages(soon, []string{"x"}); !fault.Is(err, fault.Timeout) {
		t.Errorf("the caller's limit gives %v; want an error of kind Timeout", err)
	}
}

func TestAnAbsentServerCostsLittleAndIsFoundAgain(t *testing.T) {
	var away atomic.Bool
	away.Store(true)
	server := newFake(t, func(w http.ResponseWriter, a received, nth int) {
		if away.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		answerWell(w, a, nth)
	})
	c := newClient(t, Options{BaseURL: server.URL, Retries: -1, Cooldown: 50 * time.Millisecond})
	for i := range 20 {
		if _, err := c.Query(t.Context(), fmt.Sprint("question ", i)); !fault.Is(err, fault.Unavailable) {
			t.Fatalf("query %d gives %v; want an error of kind Unavailable", i, err)
		}
	}
	if n := server.count(); n < failuresToOpen || n > 10 {
		t.Errorf("20 queries made %d requests to a server that is away; want n at least failuresToOpen and n at most 10", n)
	}
	away.Store(false)
	var err error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, err = c.Query(t.Context(), "again"); err == nil {
			break
		}
	}
	if err != nil || !c.Healthy() {
		t.Errorf("the server is back, and a query gives %v", err)
	}
}

// TestThreeFailuresInARowLeaveAServerAlone: nothing is sent from the third on; a caller that goes away in between is
// neither a failure nor an answer.
func TestThreeFailuresInARowLeaveAServerAlone(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan struct{})
	server := newFake(t, func(w http.ResponseWriter, a received, _ int) {
		if a.input[0] == "gone" {
			leave()
			<-ended
		}
		w.WriteHeader(http.StatusBadGateway)
	})
	t.Cleanup(func() { close(ended) })
	c := newClient(t, Options{BaseURL: server.URL, Retries: -1, Cooldown: time.Hour})
	ask := func(ctx context.Context, text string, want fault.Kind, healthy bool, sent int) {
		t.Helper()
		if _, err := c.Passages(ctx, []string{text}); !fault.Is(err, want) || c.Healthy() != healthy || server.count() != sent {
			t.Errorf("%s: %v, healthy %t, %d sent; want %s, %t, %d", text, err, c.Healthy(), server.count(), want, healthy, sent)
		}
	}
	ask(t.Context(), "one", fault.Unavailable, true, 1)
	ask(ctx, "gone", fault.Canceled, true, 2)
	ask(t.Context(), "two", fault.Unavailable, true, 3)
	ask(t.Context(), "three", fault.Unavailable, false, 4)
	ask(t.Context(), "four", fault.Unavailable, false, 4)
}

func TestATextThatTheServerFailsOnDoesNotCostTheOthers(t *testing.T) {
	server := newFake(t, func(w http.ResponseWriter, a received, nth int) {
		if a.input[0] == "poison" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		answerWell(w, a, nth)
	})
	c := newClient(t, Options{BaseURL: server.URL})
	for range failuresToOpen {
		if _, err := c.Passages(t.Context(), []string{"poison"}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("the poison gives %v; want an error of kind Unavailable", err)
		}
	}
	if _, err := c.Query(t.Context(), "refund"); err != nil {
		t.Errorf("after it a query gives %v", err)
	}
}

func TestNobodyThere(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	c := newClient(t, Options{BaseURL: server.URL, APIKey: secret})
	_, err := c.Query(t.Context(), "x")
	if !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), secret) {
		t.Errorf("nobody there gives %v; want an error of kind Unavailable and no secret in it", err)
	}
	if err := c.Ping(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Ping gives %v; want an error of kind Unavailable", err)
	}
}

func TestDimensionsAreLearnedOnce(t *testing.T) {
	server := newFake(t, answerWell)
	c := newClient(t, Options{BaseURL: server.URL})
	for range 2 {
		if n, err := c.Dimensions(t.Context()); err != nil || n != 2 {
			t.Errorf("%d, %v, want 2", n, err)
		}
	}
	if server.count() != 1 {
		t.Errorf("%d requests, want 1", server.count())
	}
}

func TestClosedClient(t *testing.T) {
	c := newClient(t, Options{BaseURL: "http://127.0.0.1:1"})
	c.Close()
	if _, err := c.Query(t.Context(), "x"); !fault.Is(err, fault.Canceled) {
		t.Errorf("a closed client gives %v; want an error of kind Canceled", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	f := func(options Options, wantField string) {
		t.Helper()
		_, err := New(options)
		var known *fault.Error
		if !errors.As(err, &known) || known.Field != wantField || strings.Contains(err.Error(), secret) {
			t.Errorf("%+v gives %v, want a complaint about %s", options, err, wantField)
		}
	}
	good := "http://h"
	f(Options{Model: "m"}, "embedding.url")
	f(Options{Model: "m", BaseURL: "localhost:8080"}, "embedding.url")
	f(Options{Model: "m", BaseURL: "ftp://h"}, "embedding.url")
	f(Options{Model: "m", BaseURL: "http://h?key=" + secret}, "embedding.url")
	f(Options{Model: "m", BaseURL: "http://u:" + secret + "@h"}, "embedding.url")
	f(Options{Model: "m", BaseURL: "http://h\x00" + secret}, "embedding.url")
	f(Options{BaseURL: good}, "embedding.model")
	f(Options{BaseURL: good, Model: "m", Dimensions: -1}, "embedding.dimensions")
	f(Options{BaseURL: good, Model: "m", SendDimensions: true}, "embedding.dimensions")
	f(Options{BaseURL: good, Model: "m", BatchSize: -1}, "embedding.batch_size")
	f(Options{BaseURL: good, Model: "m", MaxRunes: -1}, "embedding.max_runes")
	f(Options{BaseURL: good, Model: "m", Timeout: -1}, "embedding.timeout")
	f(Options{BaseURL: good, Model: "m", Cooldown: -1}, "embedding.cooldown")
	f(Options{BaseURL: good, Model: "m", CacheSize: -1}, "embedding.cache_size")
	f(Options{BaseURL: good, Model: "m", QueryExtra: map[string]any{"input": 1}}, "embedding.query_extra")
	f(Options{BaseURL: good, Model: "m", PassageExtra: map[string]any{"model": 1}}, "embedding.passage_extra")
}

func TestEndpoint(t *testing.T) {
	f := func(base, want string) {
		t.Helper()
		got, err := Options{BaseURL: base, Model: "m"}.withDefaults().validate()
		if err != nil || got != want {
			t.Errorf("%s sends to %s (%v), want %s", base, got, err, want)
		}
	}
	f("http://h:1", "http://h:1/v1/embeddings")
	f("http://h:1/", "http://h:1/v1/embeddings")
	f("http://h:1/v1", "http://h:1/v1/embeddings")
	f("https://h/proxy/v1/", "https://h/proxy/v1/embeddings")
}
