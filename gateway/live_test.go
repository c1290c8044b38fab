package gateway

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

const inLines = "Accept: application/x-ndjson"

// The last line is the result, or why there is none.
func TestAFileInLines(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{FileBytes: 1000}}})
	f := func(content string, want ...string) {
		t.Helper()
		got := g.ask("POST", uploadPath+"a.md", content, asFile, inLines)
		lines := strings.Split(got.body, "\n")
		if got.status != 200 || got.header.Get("Content-Type") != endpoint.NDJSON || len(lines) != len(want)+1 || lines[len(want)] != "" {
			t.Fatalf("%d %s %s", got.status, got.header.Get("Content-Type"), brief.Of(got.body))
		}
		for i := range want {
			if !strings.HasPrefix(lines[i], want[i]) {
				t.Errorf("line %d is %s, want %s", i+1, lines[i], want[i])
			}
		}
	}
	const title = `{"type":"about:blank","title":`
	f("ab", `{"chunks":2,"ready":0}`, `{"chunks":2,"ready":1}`, `{"chunks":2,"ready":2}`,
		`{"document_id":"a.md","status":"written","chunks":2,"created":2,"updated":0}`)
	f("", `{"document_id":"a.md","status":"written","chunks":0,"created":0,"updated":0}`)
	f("cut", `{"chunks":3,"ready":0}`, `{"chunks":3,"ready":1}`, `{"chunks":3,"ready":2}`, `{"chunks":3,"ready":3}`,
		title+`"Service Unavailable","status":503,"code":"unavailable","detail":"the engine is away"}`)
	f("panic", `{`, `{`, `{`, `{`, `{`, `{`, title+`"Internal Server Error","status":500,"code":"internal"`)
	chinese := g.ask("POST", uploadPath+"a.md", "panic", asFile, inLines, "Accept-Language: zh-CN")
	if !strings.Contains(chinese.body, "网关") || chinese.header.Get("Content-Language") == "" {
		t.Errorf("the last line is not Chinese: %s", brief.Of(chinese.body))
	}
	if log := g.log.String(); !strings.Contains(log, "of the work") || !strings.Contains(log, "the engine is away") {
		t.Errorf("the log does not tell what failed: %s", brief.Of(log))
	}
	got := g.ask("GET", "/metrics", "")
	if !strings.Contains(got.body, `hybridge_ingested_chunks_total{status="created"} 2`) {
		t.Error("the metrics do not count the chunks")
	}
}

// What ends before its first line, and who asks for no lines, is answered as ever.
func TestAFileNotInLines(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{FileBytes: 1000}}})
	refused := func(path, content string, status int, code string) {
		t.Helper()
		got := g.ask("POST", path, content, asFile, inLines)
		if p := got.problem(t); got.status != status || p.Code != code {
			t.Errorf("%s: %d %s", path, got.status, brief.Of(got.body))
		}
	}
	refused("/v1/knowledge-bases/nothing/files?name=a.md", "x", 404, "not_found")
	refused(uploadPath+"a.md", strings.Repeat("x", 1001), 413, "too_large")
	for _, accept := range []string{"", "Accept: */*", "Accept: application/json", "Accept: text/html", "Accept: ;;q=,/"} {
		got := g.ask("POST", uploadPath+"a.md", "ab", asFile, accept)
		want := `{"document_id":"a.md","status":"written","chunks":2,"created":2,"updated":0}` + "\n"
		if got.status != 200 || got.body != want || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%q: %d %s %s", accept, got.status, got.header.Get("Content-Type"), brief.Of(got.body))
		}
	}
}

// begin starts an upload that has no end, and reads its first two lines.
func begin(ctx context.Context, t *testing.T, g *gatewayUnderTest) *bufio.Reader {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, "POST", g.url+uploadPath+"a.md", strings.NewReader("endless"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/octet-stream")
	request.Header.Set("Accept", endpoint.NDJSON)
	response, err := g.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() }) // its connection is gone by then
	lines := bufio.NewReader(response.Body)
	for _, want := range []string{`{"chunks":7,"ready":0}` + "\n", `{"chunks":7,"ready":1}` + "\n"} {
		if line, err := lines.ReadString('\n'); line != want || err != nil {
			t.Fatalf("%q %v", line, err)
		}
	}
	return lines
}

func TestAClientThatGoesEndsTheWork(t *testing.T) {
	deadline.Set(t, time.Minute)
	g := start(t, Options{})
	ctx, leave := context.WithCancel(context.Background())
	begin(ctx, t, g)
	leave()
	for end := time.Now().Add(10 * time.Second); g.ended.Load() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the work goes on for nobody")
		}
	}
	if err, _ := g.ended.Load().(error); !fault.Is(err, fault.Canceled) {
		t.Errorf("it ended by %v; want an error of kind Canceled", err)
	}
}

func TestTheEndOfTheServerEndsTheWork(t *testing.T) {
	deadline.Set(t, time.Minute)
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{ShutdownGrace: 10 * time.Millisecond}}})
	lines := begin(context.Background(), t, g)
	go func() { _ = g.stop() }() // its error is reported when the test ends
	last := ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		last = line
	}
	if !strings.Contains(last, `"code":"canceled"`) {
		t.Errorf("the last line is %s; want `\"code\":\"canceled\"` in it", last)
	}
}
