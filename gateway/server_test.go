package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

// lasting is an error that waiting does not mend.
type lasting struct{ error }

func (lasting) Lasting() bool { return true }

func TestErrorsBecomeProblems(t *testing.T) {
	g := start(t, Options{})
	f := func(err error, status int, code, retryAfter string) {
		t.Helper()
		g.answer = func(context.Context) error { return err }
		got := g.ask("POST", "/v1/search", question, asJSON)
		p := got.problem(t)
		if got.status != status || p.Code != code || got.header.Get("Retry-After") != retryAfter {
			t.Errorf("%v: %d %s, Retry-After %q", err, got.status, brief.Of(got.body), got.header.Get("Retry-After"))
		}
		if strings.Contains(got.body, "secret") {
			t.Errorf(`internals are shown: %s; want no "secret" in it`, brief.Of(got.body))
		}
	}
	secret := errors.New("dial tcp 10.0.0.5: secret")
	f(fault.Invalid("weights.text", -1, "a finite number >= 0"), 400, "invalid_argument", "")
	f(fault.Wrap(fault.Unsupported, secret, "this engine has no such leg"), 400, "unsupported", "")
	f(fault.Wrap(fault.Conflict, secret, "exists"), 409, "conflict", "")
	f(fault.Wrap(fault.ReadOnly, secret, "attached"), 409, "read_only", "")
	f(fault.Wrap(fault.Overloaded, secret, "busy"), 503, "overloaded", "1")
	f(fault.Wrap(fault.Unavailable, secret, "away"), 503, "unavailable", "2")
	f(fault.Wrap(fault.Timeout, secret, "slow"), 504, "timeout", "")
	f(fault.Wrap(fault.Canceled, secret, "gone"), 503, "canceled", "1")
	f(fault.Wrap(fault.Corrupt, secret, "checksum"), 500, "corrupt", "")
	f(fault.Wrap(fault.Internal, secret, "the secret"), 500, "internal", "")
	f(fault.Wrap("made up", secret, "the secret"), 500, "internal", "")
	f(secret, 500, "internal", "")
	f(fmt.Errorf("secret: %w", syscall.ENOSPC), 507, "disk_full", "")
	f(fault.Wrap(fault.Unavailable, lasting{secret}, "another setting"), 503, "unavailable", "")
	f(context.DeadlineExceeded, 504, "timeout", "")
	f(context.Canceled, 503, "canceled", "1")
	if !strings.Contains(g.log.String(), "10.0.0.5") {
		t.Error("the log does not say why")
	}
}

func TestPanicCostsOneRequest(t *testing.T) {
	g := start(t, Options{})
	g.answer = func(context.Context) error { panic("secret of the stack") }
	got := g.ask("POST", "/v1/search", question, asJSON)
	if p := got.problem(t); p.Code != "internal" || strings.Contains(got.body, "secret") {
		t.Errorf(`%d %s; want p.Code "internal" and no "secret" in it`, got.status, brief.Of(got.body))
	}
	if !strings.Contains(g.log.String(), "secret of the stack") || !strings.Contains(g.log.String(), "server_test.go") {
		t.Errorf("the log lacks the panic or its stack: %s", g.log.String())
	}
	g.answer = nil
	if got := g.ask("POST", "/v1/search", question, asJSON); got.status != 200 {
		t.Errorf("after the panic: %d; want got.status 200", got.status)
	}
}

func TestDeadline(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{Request: 100 * time.Millisecond}}})
	g.answer = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	got := g.ask("POST", "/v1/search", question, asJSON)
	if p := got.problem(t); p.Code != "timeout" {
		t.Errorf(`%d %s; want p.Code "timeout"`, got.status, brief.Of(got.body))
	}
}

func TestAccessLog(t *testing.T) {
	const query = `{"query": "my private question", "knowledge_bases": ["manuals"]}`
	const wrong = `{"query": "a", "top_k": 77777.5}`
	quiet := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k1", "acme")}}})
	quiet.ask("POST", "/v1/search", query, asJSON, "X-API-Key: k1", "X-Request-Id: id-7")
	quiet.ask("POST", "/v1/search", wrong, asJSON, "X-API-Key: k1")
	_, line, _ := strings.Cut(quiet.log.String(), "\n") // behind the warning that the answer is degraded
	line, _, _ = strings.Cut(line, "\n")
	var logged map[string]any
	if err := json.Unmarshal([]byte(line), &logged); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"msg": "request", "request_id": "id-7", "method": "POST", "route": "/v1/search", "path": "/v1/search",
		"status": 200.0, "key": "k1", "tenant": "acme", "preset": "balanced", "hits": 3.0, "bytes_in": float64(len(query)),
	} {
		if logged[name] != want {
			t.Errorf("%s is %v, want %v", name, logged[name], want)
		}
	}
	if text := quiet.log.String(); strings.Contains(text, "private") || strings.Contains(text, "77777") {
		t.Errorf(`the log repeats what was asked: %s; want no "private" in it and no "77777" in it`, text)
	}
	if !strings.Contains(quiet.log.String(), `"code":"invalid_argument","field":"top_k"`) {
		t.Errorf("the log does not name the mistake: %s", quiet.log.String())
	}
	talkative := start(t, Options{Options: endpoint.Options{LogQueries: true}})
	talkative.ask("POST", "/v1/search", query, asJSON)
	if !strings.Contains(talkative.log.String(), `"query":"my private question"`) {
		t.Errorf("the query is not logged: %s", talkative.log.String())
	}
}

func TestReadiness(t *testing.T) {
	g := start(t, Options{Readiness: func(context.Context) map[string]error {
		return map[string]error{"embedded": nil, "elasticsearch": errors.New("dial 10.0.0.5")}
	}})
	got := g.ask("GET", "/readyz", "")
	const want = `{"status":"unready","back_ends":{"elasticsearch":"unavailable","embedded":"ok"}}` + "\n"
	if got.status != 503 || got.body != want {
		t.Errorf("%d %s; want got.status 503 and got.body want", got.status, brief.Of(got.body))
	}
	if log := g.log.String(); !strings.Contains(log, "10.0.0.5") || strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("the log does not say why, or a probe is an error: %s", brief.Of(log))
	}
	spare := start(t, Options{Readiness: func(context.Context) map[string]error {
		return map[string]error{"embedded": nil, "embedding": Spare{errors.New("dial 10.0.0.5")}}
	}})
	got = spare.ask("GET", "/readyz", "")
	if got.status != 200 || got.body != `{"status":"ready","back_ends":{"embedded":"ok","embedding":"unavailable"}}`+"\n" {
		t.Errorf("keyword search serves: %d %s; want got.status 200 and got.body `{\"status\":\"ready\",\"back_ends\":{\"embedded\":\"ok\",\"embedding\":\"unavailable\"}}` + \"\\n\"", got.status, brief.Of(got.body))
	}
	if health := g.ask("GET", "/healthz", ""); health.status != 200 {
		t.Errorf("healthz: %d; want health.status 200", health.status)
	}
}

// A request in flight is answered, and Serve returns only then.
func TestGracefulShutdown(t *testing.T) {
	g := start(t, Options{})
	entered, release := make(chan struct{}), make(chan struct{})
	g.answer = func(ctx context.Context) error {
		close(entered)
		<-release
		return ctx.Err()
	}
	answered := make(chan reply)
	go func() { answered <- g.ask("POST", "/v1/search", question, asJSON) }()
	<-entered
	stopped := make(chan error)
	go func() { stopped <- g.stop() }()
	for { // until nothing listens any more
		conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
		if err != nil {
			break
		}
		shut(t, conn)
		time.Sleep(time.Millisecond)
	}
	close(release)
	if got := <-answered; got.status != 200 {
		t.Errorf("the request in flight: %d %s; want got.status 200", got.status, brief.Of(got.body))
	}
	if err := <-stopped; err != nil {
		t.Errorf("serve: %v", err)
	}
}

// When the grace is over, handlers see the end of their context.
func TestShutdownEndsWhatHangs(t *testing.T) {
	deadline.Set(t, time.Minute)
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{ShutdownGrace: 20 * time.Millisecond}}})
	entered := make(chan struct{})
	g.answer = func(ctx context.Context) error {
		close(entered)
		<-ctx.Done()
		return ctx.Err()
	}
	answered := make(chan reply)
	go func() { answered <- g.ask("POST", "/v1/search", question, asJSON) }()
	<-entered
	if err := g.stop(); err != nil {
		t.Errorf("serve: %v", err)
	}
	if got := <-answered; got.problem(t).Code != "canceled" {
		t.Errorf(`%d %s; want got.problem(t).Code "canceled"`, got.status, brief.Of(got.body))
	}
}

func TestServeEndsBeforeItBegan(t *testing.T) {
	deadline.Set(t, time.Minute)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fakes := &fakes{}
	if err := New(Options{Searcher: fakes, Catalog: fakes, Ingester: fakes}).Serve(ctx, listener); err != nil {
		t.Error(err)
	}
}

// What callers invent must not become labels.
func TestMetricsOfSearchesByPreset(t *testing.T) {
	g := start(t, Options{})
	ask := func(preset string, err error) {
		g.answer = nil
		if err != nil {
			g.answer = func(context.Context) error { return err }
		}
		g.ask("POST", "/v1/search", `{"query": "a", "knowledge_bases": ["manuals"], "preset": "`+preset+`"}`, asJSON)
	}
	ask("", nil)
	ask("rrf", fault.New(fault.Unavailable, "away"))
	ask("", fault.New(fault.Timeout, "slow"))
	ask("invented by a caller", fault.Invalid("preset", "invented", "another"))
	metrics := g.ask("GET", "/metrics", "").body
	for _, line := range []string{
		`hybridge_searches_total{outcome="degraded",preset="balanced"} 1`,
		`hybridge_searches_total{outcome="timeout",preset="balanced"} 1`,
		`hybridge_searches_total{outcome="unavailable",preset="rrf"} 1`,
		`hybridge_searches_total{outcome="invalid_argument",preset="unknown"} 1`,
		`hybridge_search_duration_seconds_count{preset="balanced"} 2`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if strings.Contains(metrics, "invented") {
		t.Error("a caller made a label")
	}
}
