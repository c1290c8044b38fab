package convert_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest/convert"
	"github.com/hybridge-search/hybridge/ingest/parse"
)

// answering starts a service and returns a parser that asks it.
func answering(t *testing.T, shape string, serve http.HandlerFunc) *convert.Parser {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	return convert.New(convert.Options{
		URL: server.URL, APIKey: "secret", Shape: shape, Timeout: 5 * time.Second, Formats: []string{".odt", ".pdf"},
		Inner: parse.Here{},
	})
}

// write answers with a text.
func write(w http.ResponseWriter, status int, contentType, text string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// A file reaches the service as each shape says, and what comes back is split at its headings.
func TestShapes(t *testing.T) {
	t.Parallel()
	cases := []struct{ shape, asked, contentType, answer string }{
		{
			"plain", `POST application/octet-stream attachment; filename*=utf-8''%E9%80%80%E6%AC%BE.odt bytes`,
			"text/markdown; charset=utf-8", "# Refunds\n\nWithin seven days.",
		},
		{"plain", "", "text/plain", "# Refunds\n\nWithin seven days."},
		{
			"tika", `PUT application/octet-stream attachment; filename*=utf-8''%E9%80%80%E6%AC%BE.odt bytes`,
			"text/html", "<html><head><title>&#0;</title></head><body><h1>Refunds</h1><p>Within seven days.",
		},
		{
			"docling", "POST files=退款.odt:bytes image_export_mode=placeholder to_formats=md", "application/json",
			`{"document":{"filename":"x","md_content":"# Refunds\n\nWithin seven days."},"status":"success","errors":[]}`,
		},
		{
			"mineru", "POST files=退款.odt:bytes return_md=true", "application/json",
			`{"backend":"pipeline","results":{"退款":{"md_content":"# Refunds\n\nWithin seven days."}}}`,
		},
	}
	for _, c := range cases {
		t.Run(c.shape+" "+c.contentType, func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 1)
			p := answering(t, c.shape, func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != "Bearer secret" {
					t.Errorf(`Authorization is %q; want got "Bearer secret"`, got)
				}
				asked <- told(t, r)
				write(w, http.StatusOK, c.contentType, c.answer)
			})
			document, err := p.Parse(t.Context(), "guides/退款.odt", []byte("bytes"), parse.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := []parse.Passage{{Title: "Refunds", Content: "Within seven days."}}
			if len(document.Passages) != 1 || fmt.Sprint(document.Passages) != fmt.Sprint(want) {
				t.Errorf("passages are %+v, want %+v", document.Passages, want)
			}
			if got := <-asked; c.asked != "" && got != c.asked {
				t.Errorf("asked\n%s, want\n%s", got, c.asked)
			}
		})
	}
}

// told writes down what a request says.
func told(t *testing.T, r *http.Request) string {
	t.Helper()
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		h := r.Header
		return strings.Join([]string{r.Method, h.Get("Content-Type"), h.Get("Content-Disposition"), string(body)}, " ")
	}
	if err := r.ParseMultipartForm(1 << 20); err != nil {
		t.Error(err)
	}
	var parts []string
	for name, files := range r.MultipartForm.File {
		for _, f := range files {
			opened, err := f.Open()
			if err != nil {
				t.Error(err)
				continue
			}
			content, _ := io.ReadAll(opened)
			parts = append(parts, name+"="+f.Filename+":"+string(content))
		}
	}
	for name, values := range r.MultipartForm.Value {
		parts = append(parts, name+"="+strings.Join(values, ","))
	}
	slices.Sort(parts)
	return r.Method + " " + strings.Join(parts, " ")
}

// A file that the service refuses is refused; a service that fails is an outage of all files.
func TestFailures(t *testing.T) {
	t.Parallel()
	const asJSON = "application/json"
	cases := []struct {
		shape       string
		status      int
		contentType string
		answer      string
		kind        fault.Kind
		field, want string
	}{
		{"tika", 422, "text/plain", "", fault.InvalidArgument, "file", "refused it with HTTP 422"},
		{"plain", 415, "text/plain", "", fault.InvalidArgument, "file", "refused it with HTTP 415"},
		{"plain", 404, "text/plain", "", fault.Unavailable, "", "the converter service answered HTTP 404"},
		{"plain", 429, "text/plain", "", fault.Overloaded, "", "HTTP 429"},
		{"plain", 500, "text/plain", "", fault.Unavailable, "", "HTTP 500"},
		{"plain", 200, "application/pdf", "%PDF", fault.Unavailable, "", "must be Markdown or HTML"},
		{"plain", 200, ";", "", fault.Unavailable, "", "no Content-Type"},
		{
			"docling", 200, asJSON, `{"status":"failure","errors":[{"error_message":"no such font"}]}`,
			fault.InvalidArgument, "file", "could not read it: no such font",
		},
		{"docling", 200, asJSON, `[]`, fault.Unavailable, "", "not what was expected"},
		{"mineru", 200, asJSON, `{"results":{}}`, fault.InvalidArgument, "file", "could not read it"},
		{"mineru", 200, asJSON, `nothing`, fault.Unavailable, "", "not what was expected"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.shape, c.status, c.answer), func(t *testing.T) {
			t.Parallel()
			p := answering(t, c.shape, func(w http.ResponseWriter, _ *http.Request) {
				write(w, c.status, c.contentType, c.answer)
			})
			_, err := p.Parse(t.Context(), "x.odt", []byte("bytes"), parse.Options{})
			var known *fault.Error
			if !errors.As(err, &known) || known.Kind != c.kind || known.Field != c.field ||
				!strings.Contains(known.Detail, c.want) {
				t.Errorf("error is %v, want %v of %q with %q", err, c.kind, c.field, c.want)
			}
		})
	}
}

// Files of other formats never leave the gateway.
func TestOtherFormats(t *testing.T) {
	t.Parallel()
	p := answering(t, "plain", func(w http.ResponseWriter, _ *http.Request) {
		t.Error("asked about a file that the gateway reads")
	})
	if _, err := p.Parse(t.Context(), "x.md", []byte("Text."), parse.Options{}); err != nil {
		t.Error(err)
	}
	if _, err := p.Parse(t.Context(), "x.exe", []byte("Text."), parse.Options{}); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("error of x.exe is %v; want fault.KindOf(err) Unsupported", err)
	}
	if parse.ReaderOf(p, "x.PDF") == "" || parse.ReaderOf(p, "x.md") != "" || parse.ReaderOf(p, "x.exe") != "" {
		t.Errorf(`readers are %v; want parse.ReaderOf(p, "x.PDF") other than "" and parse.ReaderOf(p, "x.md") "" and parse.ReaderOf(p, "x.exe") ""`, p.Formats())
	}
}
