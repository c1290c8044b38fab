package elastic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/mappings"
)

// fake is an Elasticsearch that holds one knowledge base. It records the requests.
type fake struct {
	t        *testing.T
	server   *httptest.Server
	mu       sync.Mutex
	requests []request
	// replies are by the end of the path; to others it answers otherwise: an empty response, which knows no document.
	replies   map[string]http.HandlerFunc
	otherwise string
}

type request struct {
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Body   []json.RawMessage `json:"body"` // one value a line, as JSON
}

const nothing = `{"took": 1, "hits": {"total": {"value": 0}, "hits": []}, "aggregations": {}}`

func newFake(t *testing.T, kb *engine.KnowledgeBase) *fake {
	t.Helper()
	f := &fake{t: t, replies: map[string]http.HandlerFunc{}, otherwise: nothing}
	index, err := mappings.Desired(kb, enginetest.Words{}.Fingerprint())
	if err != nil {
		t.Fatal(err)
	}
	live, err := json.Marshal(map[string]mappings.Index{"the-index": index})
	if err != nil {
		t.Fatal(err)
	}
	f.reply("_mapping", http.StatusOK, string(live))
	f.server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.server.Close)
	return f
}

// reply sets the response to requests by the end of their path.
func (f *fake) reply(end string, status int, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replies[end] = func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may have gone
	}
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // what is cut off shows in the golden
	a := request{Method: r.Method, Path: r.URL.RequestURI()}
	lines := string(body)
	if r.Header.Get("Content-Type") == "application/smile" {
		lines = elastic.LinesAsJSON(f.t, lines)
	}
	for line := range strings.Lines(lines) {
		a.Body = append(a.Body, json.RawMessage(line))
	}
	f.mu.Lock()
	f.requests = append(f.requests, a)
	reply := f.replies[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]
	f.mu.Unlock()
	w.Header().Set("X-Elastic-Product", "Elasticsearch")
	w.Header().Set("Content-Type", "application/json")
	switch {
	case reply != nil:
		reply(w, r)
	case strings.HasSuffix(r.URL.Path, "/_mget"):
		_, _ = io.WriteString(w, `{"docs": [`+strings.TrimSuffix(strings.Repeat(`{"found": false},`, strings.Count(lines, `"_id"`)), ",")+`]}`)
	default:
		_, _ = io.WriteString(w, f.otherwise)
	}
}

// received returns the requests since the last call.
func (f *fake) received() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.requests
	f.requests = nil
	return all
}

func (f *fake) engine(t *testing.T, change func(*elastic.Options)) *elastic.Engine {
	t.Helper()
	options := elastic.Options{
		Settings: elastic.Settings{Timeout: 2 * time.Second},
		URLs:     []string{f.server.URL}, Tokenizer: enginetest.Words{}, Transport: &http.Transport{DisableKeepAlives: true},
	}
	if change != nil {
		change(&options)
	}
	e, err := elastic.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func manuals() engine.KnowledgeBase {
	return engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "acme", ID: "manuals"}, Kind: engine.KindChunks, Dimensions: 2,
		Analyzer: engine.AnalyzerJieba,
	}
}
