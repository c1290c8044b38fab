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
	compressed bool       // the gateway asks for gzip
	detained   *detention // of the next search
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
	if d := r.note(in, body); d != nil {
		close(d.begun)
		select {
		case <-d.ended:
		case <-in.Context().Done():
		}
	}
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
// bases and for migrations to take up. One that is to be detained is not kept.
func (r *recorder) note(in *http.Request, body []byte) *detention {
	if path := in.URL.Path; !strings.HasSuffix(path, "search") ||
		strings.Contains(path, "-mappings/") || strings.Contains(path, "-catalog/") {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.detained; d != nil {
		r.detained = nil
		return d
	}
	r.compressed = in.Header.Get("Accept-Encoding") != ""
	r.statements = append(r.statements, statement{
		in.URL.RequestURI(), in.Header.Get("Content-Type"), in.Header.Get("Accept"), body,
	})
	return nil
}

// detention is of one search, which is held up so that others find it under way.
type detention struct{ begun, ended chan struct{} }

// detain asks for a search and holds its first request up until it is released.
func (r *recorder) detain(b *testing.B, ask func() error) (release func()) {
	b.Helper()
	d := &detention{make(chan struct{}), make(chan struct{})}
	r.mu.Lock()
	r.detained = d
	r.mu.Unlock()
	answered := make(chan error, 1)
	go func() { answered <- ask() }()
	select {
	case <-d.begun:
	case err := <-answered:
		b.Fatalf("a search that was to be held up asked nothing: %v", err)
	}
	return func() {
		close(d.ended)
		if err := <-answered; err != nil {
			b.Fatal(err)
		}
	}
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
