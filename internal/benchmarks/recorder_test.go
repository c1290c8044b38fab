package benchmarks

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// statement is one request that the gateway sent to Elasticsearch.
type statement struct {
	Path        string `json:"path"` // with its parameters
	ContentType string `json:"content_type"`
	Accept      string `json:"accept"`
	Body        []byte `json:"body"`
}

// recorder stands between a gateway and Elasticsearch and notes what passes.
type recorder struct {
	url    string
	target string
	client *http.Client

	mu         sync.Mutex
	statements []statement
	compressed bool // the gateway asks for gzip
}

func startRecorder(b *testing.B, target string) *recorder {
	b.Helper()
	r := &recorder{target: strings.TrimSuffix(target, "/"), client: newClient(false)}
	server := httptest.NewServer(r)
	b.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// ServeHTTP forwards the request as it came.
func (r *recorder) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.note(in, body)
	out, err := http.NewRequestWithContext(in.Context(), in.Method, r.target+in.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	out.Header = in.Header.Clone()
	res, err := r.client.Do(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = res.Body.Close() }()
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body) // the gateway notices what is missing
}

// note keeps searches, but for what a gateway does on its own: looking for knowledge
// bases and for migrations to take up.
func (r *recorder) note(in *http.Request, body []byte) {
	if path := in.URL.Path; !strings.HasSuffix(path, "search") ||
		strings.Contains(path, "-mappings/") || strings.Contains(path, "-catalog/") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.compressed = in.Header.Get("Accept-Encoding") != ""
	r.statements = append(r.statements, statement{
		in.URL.RequestURI(), in.Header.Get("Content-Type"), in.Header.Get("Accept"), body,
	})
}

// taken gives what passed since it was asked last.
func (r *recorder) taken() []statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.statements
	r.statements = nil
	return out
}

// direct sends recorded statements to Elasticsearch and throws the answers away.
type direct struct {
	target string
	client *http.Client
}

func (d *direct) send(statements []statement) error {
	for i := range statements {
		s := &statements[i]
		if _, err := sendFor(d.client, s.Accept, d.target+s.Path, s.ContentType, s.Body); err != nil {
			return err
		}
	}
	return nil
}
