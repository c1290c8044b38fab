package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

const bulkPath = "/v1/knowledge-bases/manuals/documents"

func TestBulkResultsAreLines(t *testing.T) {
	g := start(t, Options{})
	got := g.ask("POST", bulkPath, "{\"id\": \"a\"}\nnonsense\n{\"id\": \"<b>\"}\n", asNDJSON)
	want := `{"id":"a","line":1,"status":"created"}
{"line":2,"status":"failed","error":{"code":"invalid_argument","detail":"the line is not valid UTF-8"}}
{"id":"<b>","line":3,"status":"created"}
`
	if got.status != 200 || got.body != want || got.header.Get("Content-Type") != endpoint.NDJSON {
		t.Errorf("%d %s %s", got.status, got.header.Get("Content-Type"), brief.Of(got.body))
	}
	empty := g.ask("POST", bulkPath, "", asNDJSON)
	if empty.status != 200 || empty.body != "" {
		t.Errorf(`no chunk: %d %q; want empty.status 200 and empty.body ""`, empty.status, brief.Of(empty.body))
	}
}

// What broke off tells what is done and why the rest is not; what never began
// is an ordinary problem.
func TestBulkInterrupted(t *testing.T) {
	g := start(t, Options{})
	got := g.ask("POST", bulkPath, "{\"id\": \"a\"}\ncut\n{\"id\": \"b\"}\n", asNDJSON)
	want := `{"id":"a","line":1,"status":"created"}
{"line":0,"status":"failed","error":{"code":"unavailable","detail":"Elasticsearch cannot be reached"}}
`
	if got.status != 200 || got.body != want {
		t.Errorf("%d %s", got.status, brief.Of(got.body))
	}
	early := g.ask("POST", bulkPath, "cut\n", asNDJSON)
	if p := early.problem(t); p.Code != "unavailable" || early.header.Get("Retry-After") == "" {
		t.Errorf(`%d %s; want p.Code "unavailable" and early.header.Get("Retry-After") other than ""`, early.status, brief.Of(early.body))
	}
}

// A client that stalls is not waited for: the idle limit, the request's
// deadline and the server's end all interrupt the read.
func TestBulkStalls(t *testing.T) {
	deadline.Set(t, time.Minute)
	f := func(limits endpoint.Limits, code string, meanwhile func(*gatewayUnderTest)) {
		t.Helper()
		g := start(t, Options{Options: endpoint.Options{Limits: limits}})
		body, feed := io.Pipe()
		answered := make(chan reply)
		go func() { answered <- g.send("POST", bulkPath, body, asNDJSON) }()
		if _, err := io.WriteString(feed, "{\"id\": \"a\"}\n"); err != nil {
			t.Fatal(err)
		}
		meanwhile(g)
		got := <-answered
		if got.status != 200 || !strings.HasPrefix(got.body, `{"id":"a","line":1,"status":"created"}`) ||
			!strings.Contains(got.body, `{"line":0,"status":"failed","error":{"code":"`+code+`"`) {
			t.Errorf("%s: %d %s", code, got.status, brief.Of(got.body))
		}
		shut(t, feed)
	}
	nothing := func(*gatewayUnderTest) {}
	f(endpoint.Limits{Idle: 200 * time.Millisecond}, "request_timeout", nothing)
	f(endpoint.Limits{Ingest: 200 * time.Millisecond}, "timeout", nothing)
	f(endpoint.Limits{ShutdownGrace: 10 * time.Millisecond}, "canceled", func(g *gatewayUnderTest) {
		g.awaitEmitted()
		go func() { _ = g.stop() }() // its error is reported when the test ends
	})
}

var content = strings.Repeat("退款 refund ", 310)

// lines makes n lines of about 4 KB while they are read, and nothing before.
type lines struct {
	n, made int
	rest    []byte
	bytes   atomic.Int64
}

func (l *lines) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		if l.made == l.n {
			return 0, io.EOF
		}
		l.made++
		l.rest = fmt.Appendf(l.rest[:0], "{\"id\": \"%d\", \"content\": \"%s\"}\n", l.made, content)
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	l.bytes.Add(int64(n))
	return n, nil
}

// A client that reads nothing before it has sent everything, as most do, is
// served in bounded memory, however much it sends.
func TestBulkIsStreamed(t *testing.T) {
	const count = 24_000 // 100 MB, many times what the collector lets stand
	t.Setenv("TMPDIR", t.TempDir())
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{SpoolBytes: 4096}}})
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // what waits to be collected is not what is held
	var before, peak atomic.Uint64
	watchHeap(&before)()
	stop := watchHeap(&peak)
	defer stop()
	input := &lines{n: count}
	request, err := http.NewRequest("POST", g.url+bulkPath, input)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", endpoint.NDJSON)
	response, err := g.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, response.Body)
	results := 0
	for scanner := bufio.NewScanner(response.Body); scanner.Scan(); results++ {
		want := fmt.Sprintf(`{"id":"%d","line":%d,"status":"created"}`, results+1, results+1)
		if scanner.Text() != want {
			t.Fatalf("result %d is %s", results+1, scanner.Text())
		}
	}
	if results != count {
		t.Errorf("%d results of %d", results, count)
	}
	if sent, grown := input.bytes.Load(), int64(peak.Load()-before.Load()); grown > sent/2 {
		t.Errorf("the heap grew by %d MB for a body of %d MB", grown>>20, sent>>20)
	}
	leftovers, err := os.ReadDir(os.TempDir())
	if err != nil || len(leftovers) > 0 {
		t.Errorf("files left behind: %v %v; want no error and len(leftovers) 0", leftovers, err)
	}
}

// watchHeap notes the most that was live when a collection ended, once at least: what
// was allocated since is more on a busy machine, where this goroutine waits its turn.
func watchHeap(peak *atomic.Uint64) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			runtime.GC()
			live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
			runtimemetrics.Read(live)
			peak.Store(max(peak.Load(), live[0].Value.Uint64()))
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() { close(done); <-ended }
}
