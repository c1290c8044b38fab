package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/fieldcheck"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// fasthttp keeps one clock for the whole process, and a stopped pool of
		// workers notices so only when it wakes up from ten seconds of sleep.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// gatewayUnderTest is a whole server on a port of its own, with its log.
type gatewayUnderTest struct {
	*fakes
	t      testing.TB
	url    string
	client *http.Client
	log    *lockedBuffer
	server *Server
	stop   func() error
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// start serves with fakes until the test ends; change replaces some of them.
func start(t testing.TB, options Options, change ...func(*fakes, *Options)) *gatewayUnderTest {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return startOn(t, listener, options, change...)
}

func startOn(
	t testing.TB, listener net.Listener, options Options, change ...func(*fakes, *Options),
) *gatewayUnderTest {
	t.Helper()
	g := &gatewayUnderTest{fakes: &fakes{}, t: t, log: &lockedBuffer{}}
	options.Searcher, options.Catalog, options.Ingester = g.fakes, g.fakes, g.fakes
	options.Embedder = fakeEmbedder{}
	options.Synonyms, options.Rules = fakeSynonyms{fakeSets{"car, auto"}}, fakeSets{"[]"}
	options.Drafts = fakeDrafts{}
	options.Presets = fakePresets{fakeSets{`{"base":"rrf"}`}}
	options.Mappings, options.Jobs, options.Recall = fakeMappings{g.fakes}, fakeJobs{}, g.fakes
	options.Demo, options.AuditLog = g.fakes, fakeAudit{g.fakes}
	options.Settings = []Setting{{Key: "listen", Source: "default"}}
	options.Library, options.Evaluations = fakeLibrary{g.fakes}, fakeEvaluations{g.fakes}
	options.Gradings = fakeGradings{g.fakes}
	options.Tunings, options.Experiments = fakeTunings{g.fakes}, fakeExperiments{g.fakes}
	if options.Answers == nil {
		options.Answers = fakeAnswers{}
	}
	if options.Events == nil {
		options.Events, options.Clicks = fakeEvents{g.fakes}, fakeEvents{g.fakes}
	}
	options.Limits.WrongKeys = 10_000 // the tests are one address
	if options.Logger == nil {
		options.Logger = slog.New(slog.NewJSONHandler(g.log, nil))
	}
	for _, change := range change {
		change(g.fakes, &options)
	}
	g.url = "http://" + listener.Addr().String()
	transport := &http.Transport{}
	checked := &fieldcheck.Transport{Transport: transport, T: t, API: described(t)}
	g.client = &http.Client{Transport: checked, Timeout: 5 * time.Minute}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	g.server = New(options)
	go func() { ended <- g.server.Serve(ctx, listener) }()
	g.stop = sync.OnceValue(func() error {
		transport.CloseIdleConnections()
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := g.stop(); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return g
}

var (
	describing  sync.Mutex
	description *fieldcheck.API
)

// described is what the API says of its requests, read once.
func described(t testing.TB) *fieldcheck.API {
	describing.Lock()
	defer describing.Unlock()
	if description == nil {
		description = fieldcheck.Read(t, "testdata/openapi.json")
	}
	return description
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// problem decodes a problem document and demands that it is one.
func (r reply) problem(t testing.TB) endpoint.Problem {
	t.Helper()
	var p endpoint.Problem
	if got := r.header.Get("Content-Type"); got != endpoint.ProblemType {
		t.Errorf("Content-Type is %q, want %s; body: %s", got, endpoint.ProblemType, brief.Of(r.body))
	}
	if err := json.Unmarshal([]byte(r.body), &p); err != nil {
		t.Errorf("no problem document: %v in %q", err, brief.Of(r.body))
	}
	if p.Status != r.status || p.Type != "about:blank" || p.Title != http.StatusText(r.status) || p.Code == "" || p.Detail == "" {
		t.Errorf("incomplete problem document for status %d: %s", r.status, brief.Of(r.body))
	}
	return p
}

// ask sends a request; headers are "Name: value".
func (g *gatewayUnderTest) ask(method, path, body string, headers ...string) reply {
	g.t.Helper()
	return g.send(method, path, strings.NewReader(body), headers...)
}

func (g *gatewayUnderTest) send(method, path string, body io.Reader, headers ...string) reply {
	g.t.Helper()
	request, err := http.NewRequest(method, g.url+path, body)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, header := range headers {
		name, value, ok := strings.Cut(header, ": ")
		if !ok {
			continue
		}
		request.Header.Set(name, value)
		if name == "Host" {
			request.Host = value
		}
	}
	response, err := g.client.Do(request)
	if err != nil {
		g.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer shut(g.t, response.Body)
	content, err := io.ReadAll(response.Body)
	if err != nil {
		g.t.Fatalf("%s %s: read the answer: %v", method, path, err)
	}
	return reply{status: response.StatusCode, header: response.Header, body: string(content)}
}

func shut(t testing.TB, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

const (
	asJSON   = "Content-Type: application/json"
	asNDJSON = "Content-Type: application/x-ndjson"
	question = `{"query": "refund", "knowledge_bases": ["manuals"]}`
)

func key(secret, tenant string, bases ...string) endpoint.Key {
	return endpoint.Key{Name: secret, Tenant: tenant, KnowledgeBases: bases, Hash: sha256.Sum256([]byte(secret))}
}
