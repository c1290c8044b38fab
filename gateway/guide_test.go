package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/docs"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/guide"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/realtokens"
)

// readGuide reads the guide of this repository.
func readGuide() (*guide.Guide, error) {
	words, err := realtokens.Analyzer()
	if err != nil {
		return nil, err
	}
	return guide.Read(docs.Files(), words)
}

// follow asks without following where an answer leads.
func follow(g *gatewayUnderTest, path string, headers ...string) reply {
	g.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return g.ask("GET", path, "", headers...)
}

// The guide needs no key, as the page does not, and is served whole.
func TestGuide(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("secret", "acme")}}, UI: ui, Guide: readGuide})
	read, err := readGuide()
	if err != nil {
		t.Fatal(err)
	}
	for address := range read.Pages() {
		got := g.ask("GET", address, "", asBrowser)
		if got.status != 200 || got.header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(got.body, "<h1") ||
			got.header.Get("Content-Security-Policy") != guidePolicy || got.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %v", address, got.status, got.header)
		}
	}
	for address := range read.Files() {
		got := g.ask("GET", address, "")
		if got.status != 200 || got.header.Get("ETag") == "" || strings.Contains(got.header.Get("Content-Security-Policy"), "script") {
			t.Errorf(`%s: %d %v; want got.status 200 and got.header.Get("ETag") other than "" and no "script" in it`, address, got.status, got.header)
		}
	}
	for _, forbidden := range []string{"script", "unsafe", "http:", "https:", "*"} {
		if strings.Contains(guidePolicy, forbidden) {
			t.Errorf("the policy %q has %s", guidePolicy, forbidden)
		}
	}
}

func TestGuideLeadsOn(t *testing.T) {
	g := start(t, Options{Guide: readGuide})
	f := func(path, accept string, status int, location string) {
		t.Helper()
		got := follow(g, path, "Accept-Language: "+accept)
		if got.status != status || got.header.Get("Location") != location {
			t.Errorf("%s for %q: %d %q, want %d %q", path, accept, got.status, got.header.Get("Location"), status, location)
		}
	}
	f("/guide", "", 302, "/guide/en/")
	f("/guide/", "de, en;q=0.8", 302, "/guide/en/")
	f("/guide/", "zh-TW, zh;q=0.9, en;q=0.8", 302, "/guide/zh/")
	f("/guide/zh", "en", 301, "/guide/zh/")
	f("/guide/en/searching.md", "", 301, "/guide/en/searching")
	f("/guide/en/", "zh", 200, "")
	if vary := follow(g, "/guide/").header.Get("Vary"); !strings.Contains(vary, "Accept-Language") {
		t.Errorf(`Vary: %q; want "Accept-Language" in it`, vary)
	}
}

func TestGuideIsCached(t *testing.T) {
	g := start(t, Options{Guide: readGuide})
	for _, path := range []string{"/guide/en/", "/guide/style.css", "/guide/en/search?q=filter"} {
		got := g.ask("GET", path, "", "Accept-Encoding: gzip")
		if got.header.Get("Content-Encoding") != "gzip" || !strings.Contains(got.header.Get("Vary"), "Accept-Encoding") {
			t.Errorf("%s is not compressed: %v", path, got.header)
		}
		again := g.ask("GET", path, "", "If-None-Match: "+got.header.Get("ETag"))
		if again.status != 304 || again.body != "" {
			t.Errorf(`%s asked again: %d %q; want again.status 304 and again.body ""`, path, again.status, brief.Of(again.body))
		}
		if head := g.ask("HEAD", path, ""); head.status != 200 || head.body != "" || head.header.Get("ETag") != got.header.Get("ETag") {
			t.Errorf("HEAD %s: %d %v", path, head.status, head.header)
		}
	}
}

// What a reader gets for a question, and for an address that there is not.
func TestGuideAnswers(t *testing.T) {
	g := start(t, Options{UI: ui, Guide: readGuide})
	f := func(path string, status int, has ...string) {
		t.Helper()
		got := g.ask("GET", path, "", asBrowser)
		if got.status != status || got.header.Get("Content-Security-Policy") != guidePolicy {
			t.Errorf("%s: %d %v", path, got.status, got.header)
		}
		for _, want := range has {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
	}
	f("/guide/en/search?q=facets", 200, "Results for", "<mark>", `value="facets"`, `href="/guide/zh/search?q=facets"`)
	f("/guide/zh/search?q=%E7%B4%A2%E5%BC%95", 200, "的结果", "<mark>索引</mark>", `lang="zh-CN"`)
	f("/guide/en/search", 200, "Ask in your own words")
	f("/guide/en/search?q=%20", 200, "Ask in your own words")
	f("/guide/en/search?q=qwxyzzy", 200, "Nothing in the guide matches “qwxyzzy”")
	f("/guide/en/search?q=%3Cscript%3E", 200, "“&lt;script&gt;”", `value="&lt;script&gt;"`)
	f("/guide/en/search?q="+strings.Repeat("facets+", 1000), 200, "cut after 200 characters")
	f("/guide/en/search?q=%ff%fe", 200)
	f("/guide/en/facets-of-hits", 404, "There is no such page", `value="facets of hits"`, `class="hits"`)
	f("/guide/zh/%E7%B4%A2%E5%BC%95", 404, "没有这个页面", `value="索引"`, `class="hits"`)
	f("/guide/nothing", 404, "There is no such page")
	f("/guide/en/../../etc", 404)
}

// A gateway without a guide has none, and one that cannot be read is not half there.
func TestWithoutGuide(t *testing.T) {
	g := start(t, Options{UI: ui})
	if got := g.ask("GET", "/guide/en/", ""); got.status != 404 {
		t.Errorf("%d %s; want got.status 404", got.status, brief.Of(got.body))
	}
}
