package gateway

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

const (
	uploadPath = "/v1/knowledge-bases/manuals/files?name="
	asFile     = "Content-Type: application/octet-stream"
)

func TestUploadedFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{SpoolBytes: 10, FileBytes: 1000}}})
	written := func(name, content string, body io.Reader, want string) {
		t.Helper()
		if body == nil {
			body = strings.NewReader(content)
		}
		if got := g.send("POST", uploadPath+name, body, asFile); got.status != 200 || got.body != want+"\n" {
			t.Errorf("%s: %d %s, want %s", name, got.status, brief.Of(got.body), want)
		}
	}
	written("a.md", "# A", nil, `{"document_id":"a.md","status":"written","chunks":3,"created":3,"updated":0}`)
	written("%E9%80%80%E6%AC%BE/a%20b.md&refresh=true", strings.Repeat("x", 1000), nil,
		`{"document_id":"退款/a b.md","status":"written","chunks":1000,"created":1000,"updated":0}`)
	written("chunked.md", "", struct{ io.Reader }{strings.NewReader("of no announced size")},
		`{"document_id":"chunked.md","status":"written","chunks":20,"created":20,"updated":0}`)
	written("empty.md", "", nil, `{"document_id":"empty.md","status":"written","chunks":0,"created":0,"updated":0}`)

	if got := g.ask("GET", "/metrics", ""); !strings.Contains(got.body, `hybridge_ingested_chunks_total{status="created"} 1023`) {
		t.Error("the metrics do not count the chunks of files")
	}
	refused := func(path string, body io.Reader, header string, status int, code, field string) {
		t.Helper()
		got := g.send("POST", path, body, header)
		if p := got.problem(t); got.status != status || p.Code != code || p.Field != field {
			t.Errorf("%s: %d %s", path, got.status, brief.Of(got.body))
		}
	}
	refused(uploadPath+"a.md", strings.NewReader(strings.Repeat("x", 1001)), asFile, 413, "too_large", "file")
	refused(uploadPath+"a.md", struct{ io.Reader }{strings.NewReader(strings.Repeat("x", 1001))}, asFile, 413, "too_large", "file")
	refused(uploadPath+"a.md", strings.NewReader("x"), "Content-Type: text/plain", 415, "unsupported_media_type", "")
	refused(uploadPath+"a.md", strings.NewReader("x"), "", 415, "unsupported_media_type", "")
	refused(uploadPath+"a.md&title=b", strings.NewReader("x"), asFile, 400, "invalid_argument", "title")
	refused(uploadPath+"a.md&metadata=lang", strings.NewReader("x"), asFile, 400, "invalid_argument", "metadata")
	refused(uploadPath+"a.md&metadata=null", strings.NewReader("x"), asFile, 400, "invalid_argument", "metadata")
	refused("/v1/knowledge-bases/nothing/files?name=a.md", strings.NewReader("x"), asFile, 404, "not_found", "")
	if leftovers, err := os.ReadDir(os.TempDir()); err != nil || len(leftovers) > 0 {
		t.Errorf("files left behind: %v %v; want no error and len(leftovers) 0", leftovers, err)
	}
}

// The answer reaches a client that looks for it only when all is sent, and nothing
// is kept of what is too large.
func TestAnUploadOf200MB(t *testing.T) {
	g := start(t, Options{})
	request, err := http.NewRequest("POST", g.url+uploadPath+"large.md", &zeros{left: 200 << 20})
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = 200 << 20
	request.Header.Set("Content-Type", "application/octet-stream")
	response, err := g.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, response.Body)
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 413 || !strings.Contains(string(text), "larger than 16777216 bytes") {
		t.Errorf(`%d %s %v; want no error and response.StatusCode 413 and "larger than 16777216 bytes" in it`, response.StatusCode, brief.Of(text), err)
	}
}

type zeros struct{ left int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), z.left)
	z.left -= n
	return n, nil
}

func TestAnUploadThatStalls(t *testing.T) {
	deadline.Set(t, time.Minute)
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{Idle: 200 * time.Millisecond}}})
	body, feed := io.Pipe()
	answered := make(chan reply)
	go func() { answered <- g.send("POST", uploadPath+"a.md", body, asFile) }()
	if _, err := io.WriteString(feed, "# begun"); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; got.status != 408 || got.problem(t).Code != "request_timeout" {
		t.Errorf(`%d %s; want got.status 408 and got.problem(t).Code "request_timeout"`, got.status, brief.Of(got.body))
	}
	shut(t, feed)
}
