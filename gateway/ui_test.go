package gateway

import (
	"strings"
	"testing"
	"testing/fstest"
)

// ui is a web application of three files.
var ui = fstest.MapFS{
	"index.html":          {Data: []byte("<!doctype html>" + strings.Repeat("<p>Hybridge</p>", 99))},
	"assets/app-1a2b.js":  {Data: []byte(strings.Repeat("export const a = 1;", 99))},
	"assets/mark-1a.svg":  {Data: []byte("<svg/>")},
	"assets/.placeholder": {Data: []byte("not served")},
}

const asBrowser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"

func TestUI(t *testing.T) {
	g := start(t, Options{UI: ui, Keys: []Key{key("secret", "acme")}})
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
	f("/assets/.placeholder", 404, problemType, "no-store")
	f("/assets/../index.html", 404, problemType, "no-store")
	f("/nothing", 404, problemType, "no-store")
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
		t.Errorf("headers: %v", got.header)
	}
	if got.header.Get("Content-Encoding") != "gzip" || !strings.Contains(got.header.Get("Vary"), "Accept-Encoding") {
		t.Errorf("not compressed: %v", got.header)
	}
	again := g.ask("GET", "/compare", "", asBrowser, "If-None-Match: "+got.header.Get("ETag"))
	if again.status != 304 || again.body != "" {
		t.Errorf("asked again: %d %q", again.status, again.body)
	}
}

// Programs that ask / for JSON keep getting the list of routes.
func TestIndexBesideUI(t *testing.T) {
	g := start(t, Options{UI: ui})
	got := g.ask("GET", "/", "", "Accept: application/json")
	if got.status != 200 || !strings.Contains(got.body, `"POST /v1/search"`) || !strings.Contains(got.body, `"ui":true`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestWithoutUI(t *testing.T) {
	g := start(t, Options{UI: fstest.MapFS{"placeholder.txt": {}}})
	if got := g.ask("GET", "/", "", asBrowser); got.status != 200 || !strings.Contains(got.body, `"ui":false`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	got := g.ask("GET", "/compare", "", asBrowser)
	if p := got.problem(t); p.Status != 404 || !strings.Contains(p.Detail, "not in this binary") {
		t.Errorf("%+v", p)
	}
}
