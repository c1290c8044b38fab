package gateway

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// ui is a web application of three files.
var ui = fstest.MapFS{
	"index.html":          {Data: []byte("<!doctype html>" + strings.Repeat("<p>Hybridge</p>", 99))},
	"docs.html":           {Data: []byte("<!doctype html><p>API</p>")},
	"assets/app-1a2b.js":  {Data: []byte(strings.Repeat("export const a = 1;", 99))},
	"assets/mark-1a.svg":  {Data: []byte("<svg/>")},
	"assets/.placeholder": {Data: []byte("not served")},
}

// A file that the binary has compressed is sent so, and as it was to those who do not take that.
func TestPackedFiles(t *testing.T) {
	code := strings.Repeat("export const a = 1;", 99)
	files := fstest.MapFS{"index.html": ui["index.html"], "assets/app-1a2b.js.gz": {Data: pack([]byte(code))}}
	g := start(t, Options{UI: files})
	for encoding, want := range map[string]string{"gzip, br": string(pack([]byte(code))), "identity": code} {
		got := g.ask("GET", "/assets/app-1a2b.js", "", "Accept-Encoding: "+encoding)
		if got.status != 200 || got.body != want || got.header.Get("Content-Type") != "text/javascript; charset=utf-8" ||
			(got.header.Get("Content-Encoding") == "gzip") != (encoding != "identity") || got.header.Get("ETag") == "" {
			t.Errorf("%s: %d %v", encoding, got.status, got.header)
		}
	}
	if got := g.ask("GET", "/assets/app-1a2b.js.gz", ""); got.status != 404 {
		t.Errorf("the packed name answers %d; want got.status 404", got.status)
	}
	files["assets/bad-1a2b.js.gz"] = &fstest.MapFile{Data: []byte("no gzip")}
	if _, err := readUI(files); err == nil {
		t.Error("a damaged file is served")
	}
}

const asBrowser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"

func TestUI(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("secret", "acme")}}, UI: ui})
	f := func(path string, status int, contentType, caching string) {
		t.Helper()
		got := g.ask("GET", path, "", asBrowser)
		if got.status != status || got.header.Get("Content-Type") != contentType ||
			got.header.Get("Cache-Control") != caching {
			t.Errorf("%s: %d %s %s", path, got.status, got.header.Get("Content-Type"), got.header.Get("Cache-Control"))
		}
	}
	const html, forever = "text/html; charset=utf-8", "public, max-age=31536000, immutable"
	f("/", 200, html, "no-cache")
	for _, page := range pages {
		f(page, 200, html, "no-cache")
	}
	f("/assets/app-1a2b.js", 200, "text/javascript; charset=utf-8", forever)
	f("/assets/mark-1a.svg", 200, "image/svg+xml", forever)
	f("/assets/.placeholder", 404, endpoint.ProblemType, "no-store")
	f("/assets/../index.html", 404, endpoint.ProblemType, "no-store")
}

// The gateway serves the pages that the application has.
func TestPagesAreThoseOfTheApplication(t *testing.T) {
	source, err := os.ReadFile("../web/src/routes.tsx")
	if err != nil {
		t.Fatal(err)
	}
	found := []string{"/"}
	for _, match := range regexp.MustCompile(`path: '(/[^']+)'`).FindAllStringSubmatch(string(source), -1) {
		found = append(found, match[1])
	}
	want := append([]string{"/"}, pages...)
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Errorf("the application has %v, the gateway serves %v", found, want)
	}
}

// Who asks for what is not there gets the page that says so, or a problem; both are 404.
func TestUnknownAddresses(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("secret", "acme")}}, UI: ui})
	const html, asProgram, anything = "text/html; charset=utf-8", "Accept: application/json", "Accept: */*"
	f := func(method, path, accept, contentType string) {
		t.Helper()
		got := g.ask(method, path, "", accept)
		if got.status != 404 || got.header.Get("Content-Type") != contentType {
			t.Errorf("%s %s, %s: %d %s, want 404 %s", method, path, accept, got.status, got.header.Get("Content-Type"), contentType)
		}
		if got.header.Get("Cache-Control") != "no-store" || got.header.Get("ETag") != "" {
			t.Errorf(`%s %s: caching %v; want got.header.Get("Cache-Control") "no-store" and got.header.Get("ETag") ""`, method, path, got.header)
		}
		isPage := strings.Contains(got.body, "<p>Hybridge</p>")
		if want := method == "GET" && contentType == html; isPage != want {
			t.Errorf("%s %s: the page is there: %v, want %v", method, path, isPage, want)
		}
	}
	for _, path := range []string{"/nothing", "/mappings/manuals", "/v10", "/apis", "/healthz/", "/%E9%80%80%E6%AC%BE"} {
		f("GET", path, asBrowser, html)
		f("HEAD", path, asBrowser, html)
		f("GET", path, asProgram, endpoint.ProblemType)
		f("GET", path, anything, endpoint.ProblemType)
		f("POST", path, asBrowser, endpoint.ProblemType)
	}
	for _, path := range []string{"/v1", "/v1/nothing", "/api/v1/dify/nothing", "/api", "/mcp/x", "/assets/gone-1a2b.js"} {
		f("GET", path, asBrowser, endpoint.ProblemType)
	}
	got := g.ask("GET", "/nothing", "", asBrowser, "If-None-Match: "+g.ask("GET", "/", "", asBrowser).header.Get("ETag"))
	if got.status != 404 || got.body == "" || !strings.Contains(got.header.Get("Vary"), "Accept") ||
		!strings.Contains(got.header.Get("Content-Security-Policy"), "script-src 'self'") {
		t.Errorf(`%d %v; want got.status 404 and got.body other than "" and "Accept" in it and "script-src 'self'" in it`, got.status, got.header)
	}
}

// A binary without the web application has no page to say so with.
func TestUnknownAddressWithoutUI(t *testing.T) {
	g := start(t, Options{})
	if p := g.ask("GET", "/nothing", "", asBrowser).problem(t); p.Status != 404 || p.Code != "not_found" {
		t.Errorf(`%+v; want p.Status 404 and p.Code "not_found"`, p)
	}
}

// The page that shows the API has a policy of its own; what it is made of has none of that.
func TestDocsPage(t *testing.T) {
	g := start(t, Options{UI: ui})
	got := g.ask("GET", "/docs", "", asBrowser)
	policy := got.header.Get("Content-Security-Policy")
	if got.status != 200 || !strings.Contains(policy, "script-src 'self'; style-src 'self' 'unsafe-inline'") {
		t.Errorf(`%d %s; want got.status 200 and "script-src 'self'; style-src 'self' 'unsafe-inline'" in it`, got.status, policy)
	}
	for _, forbidden := range []string{"unsafe-eval", "http:", "https:", "*"} {
		if strings.Contains(policy, forbidden) {
			t.Errorf("the policy %q has %s", policy, forbidden)
		}
	}
	if page := g.ask("GET", "/docs.html", "", "Accept: application/json"); page.status != 404 {
		t.Errorf("/docs.html: %d; want page.status 404", page.status)
	}
}

func TestUIHeaders(t *testing.T) {
	g := start(t, Options{UI: ui})
	got := g.ask("GET", "/compare", "", asBrowser, "Accept-Encoding: gzip")
	policy := got.header.Get("Content-Security-Policy")
	for _, forbidden := range []string{"unsafe", "http:", "https:", "*"} {
		if strings.Contains(policy, forbidden) {
			t.Errorf("the policy %q has %s", policy, forbidden)
		}
	}
	if !strings.Contains(policy, "script-src 'self'") || got.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf(`headers: %v; want "script-src 'self'" in it and got.header.Get("X-Content-Type-Options") "nosniff"`, got.header)
	}
	if got.header.Get("Content-Encoding") != "gzip" || !strings.Contains(got.header.Get("Vary"), "Accept-Encoding") {
		t.Errorf("not compressed: %v", got.header)
	}
	again := g.ask("GET", "/compare", "", asBrowser, "If-None-Match: "+got.header.Get("ETag"))
	if again.status != 304 || again.body != "" {
		t.Errorf(`asked again: %d %q; want again.status 304 and again.body ""`, again.status, brief.Of(again.body))
	}
}

// Programs that ask / for JSON keep getting the list of routes.
func TestIndexBesideUI(t *testing.T) {
	g := start(t, Options{UI: ui})
	got := g.ask("GET", "/", "", "Accept: application/json")
	if got.status != 200 || !strings.Contains(got.body, `"POST /v1/search"`) || !strings.Contains(got.body, `"ui":true`) {
		t.Errorf("%d %s; want got.status 200 and `\"POST /v1/search\"` in it and `\"ui\":true` in it", got.status, brief.Of(got.body))
	}
}

func TestWithoutUI(t *testing.T) {
	g := start(t, Options{UI: fstest.MapFS{"placeholder.txt": {}}})
	if got := g.ask("GET", "/", "", asBrowser); got.status != 200 || !strings.Contains(got.body, `"ui":false`) {
		t.Errorf("%d %s; want got.status 200 and `\"ui\":false` in it", got.status, brief.Of(got.body))
	}
	got := g.ask("GET", "/compare", "", asBrowser)
	if p := got.problem(t); p.Status != 404 || !strings.Contains(p.Detail, "not in this binary") {
		t.Errorf(`%+v; want p.Status 404 and "not in this binary" in it`, p)
	}
}
