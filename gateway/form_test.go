package gateway

import (
	"bytes"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
)

// formOf is a form of these parts, in their order; file has a name.
func formOf(t *testing.T, parts ...[2]string) (body, contentType string) {
	t.Helper()
	var text bytes.Buffer
	form := multipart.NewWriter(&text)
	for _, part := range parts {
		create := func() (io.Writer, error) { return form.CreateFormField(part[0]) }
		if part[0] == "file" {
			create = func() (io.Writer, error) { return form.CreateFormFile("file", "guide.md") }
		}
		w, err := create()
		if err == nil {
			_, err = io.WriteString(w, part[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return text.String(), form.FormDataContentType()
}

func TestFilesAreTakenByForms(t *testing.T) {
	g := start(t, Options{})
	f := func(status int, contains string, query string, parts ...[2]string) {
		t.Helper()
		body, contentType := formOf(t, parts...)
		got := g.ask("POST", "/v1/knowledge-bases/manuals/files"+query, body, "Content-Type: "+contentType)
		if got.status != status || !strings.Contains(got.body, contains) {
			t.Errorf("%v: %d %.300s, want %d with %s", parts, got.status, got.body, status, contains)
		}
	}
	file := [2]string{"file", "# Hours\n\nNine to six."}
	f(200, `"document_id":"guide.md"`, "", file)
	f(200, `"document_id":"other.md"`, "", [2]string{"name", "other.md"}, file)
	f(200, `"document_id":"query.md"`, "?name=query.md", [2]string{"metadata", `{"lang": "en"}`}, [2]string{"folder", "all"}, file)
	f(400, `"metadata"`, "", [2]string{"metadata", "5"}, file)
	f(400, "part", "", [2]string{"other", "x"}, file)
	f(400, "part", "", file, [2]string{"metadata", "{}"})
	f(400, "file", "", [2]string{"metadata", "{}"})
	f(413, "part metadata", "", [2]string{"metadata", strings.Repeat("x", 64<<10+1)}, file)
	for _, wrong := range []string{"multipart/form-data", "multipart/form-data; boundary=none"} {
		got := g.ask("POST", "/v1/knowledge-bases/manuals/files?name=a.md", "text", "Content-Type: "+wrong)
		if got.status != 400 {
			t.Errorf("%s: %d %s; want got.status 400", wrong, got.status, brief.Of(got.body))
		}
	}
	body, contentType := formOf(t, file)
	got := g.ask("POST", "/v1/knowledge-bases/manuals/files", body[:len(body)-20], "Content-Type: "+contentType)
	if got.status != 400 {
		t.Errorf("a form that is cut off: %d %s; want got.status 400", got.status, brief.Of(got.body))
	}
}

func TestChunksAreTakenAsAnArray(t *testing.T) {
	g := start(t, Options{})
	f := func(body string, status int, want string) {
		t.Helper()
		got := g.ask("POST", bulkPath, body, asJSON)
		if got.status != status || !strings.Contains(got.body, want) {
			t.Errorf("%.80s: %d %.300s, want %d with %s", body, got.status, got.body, status, want)
		}
	}
	f("[{\"id\": \"a\"},\n {\n\"id\": \"<b>\"} ]\n", 200,
		`{"results":[{"id":"a","line":1,"status":"created"},{"id":"<b>","line":2,"status":"created"}]}`)
	f(" [] ", 200, `{"results":[]}`)
	f("", 400, "JSON array")
	f(`{"id": "a"}`, 400, "JSON array")
	f(`[{"id": "a"}] x`, 200, `"line":0,"status":"failed"`)
	f(`[{"id": "a"}, {"id": `, 200, `{"results":[{"id":"a","line":1,"status":"created"},{"line":0,"status":"failed"`)
	f("["+strings.Repeat("[", 100_000), 400, "JSON array")
}
