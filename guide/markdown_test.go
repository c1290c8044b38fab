package guide

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/realtokens"
)

// small is a guide of three pages and one of reference.
func small() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"guide/contents.yaml": file("- part: {en: Start, zh: 入门}\n  pages: [first, second]\n"),
		"guide/glossary.yaml": file("terms:\n  - term: {en: part, zh: 部分}\n"),
		"guide/en/first.md": file("# First\n\nSee [the second](second.md#a-heading), [more](../../limits.md#limits), " +
			"[an example](../../../config/example.yaml), [elsewhere](https://a.example/x.md) and [here](#a-part).\n\n" +
			"![a map](../pictures/map.svg) ![lost](../pictures/lost.svg)\n\n## A part\n\ntext\n"),
		"guide/en/second.md":     file("# Second\n\n## A heading\n\n| a | |\n|--:|---|\n| 1 | two |\n"),
		"guide/zh/first.md":      file("# 第一页\n\n这是一个\n很长的句子，\n与 `code`\n相邻。\n"),
		"guide/pictures/map.svg": file("<svg/>"),
		"decisions/0001.md":      file("# Not served\n"),
		"limits.md":              file("# Limits\n\n[The guide](guide/en/first.md#a-part), [why](decisions/0001.md)\n"),
	}
}

func readSmall(t *testing.T, change func(fstest.MapFS)) (*Guide, error) {
	t.Helper()
	words, err := realtokens.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	files := small()
	change(files)
	return Read(files, words)
}

func asItIs(fstest.MapFS) {}

func TestLinksOfFilesBecomeLinksOfPages(t *testing.T) {
	g, err := readSmall(t, asItIs)
	if err != nil {
		t.Fatal(err)
	}
	f := func(file string, want ...string) {
		t.Helper()
		body := string(g.pages[file].body)
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s lacks %s:\n%s", file, w, brief.Of(body))
			}
		}
	}
	f("guide/en/first.md",
		`<a href="/guide/en/second#a-heading">the second</a>`, `<a href="/guide/reference/limits#limits">more</a>`,
		", an example, ", `<a href="https://a.example/x.md">elsewhere</a>`, `<a href="#a-part">here</a>`,
		`<img src="/guide/pictures/map.svg" alt="a map">`, " lost</p>")
	f("limits.md", `<a href="/guide/en/first#a-part">The guide</a>, why`)
	f("guide/en/second.md", `<h2 id="a-heading">`, `<th align="right">a</th>`, "<td></td>", `<div class="wide" tabindex="0">`)
	f("guide/zh/first.md", "<p>这是一个很长的句子，与 <code>code</code>\n相邻。</p>")
}

// A page that is there in one language alone has no twin: the other language begins at its first page.
func TestPageOfOneLanguage(t *testing.T) {
	g, err := readSmall(t, asItIs)
	if err != nil {
		t.Fatal(err)
	}
	pages := g.Pages()
	if page := string(pages["/guide/en/second"]); !strings.Contains(page, `href="/guide/zh/" hreflang="zh-CN"`) {
		t.Errorf("no way to the Chinese guide:\n%s; want `href=\"/guide/zh/\" hreflang=\"zh-CN\"` in it", brief.Of(page))
	}
	if page := string(pages["/guide/en/first"]); !strings.Contains(page, `href="/guide/zh/first" hreflang="zh-CN"`) {
		t.Errorf("no way to the same page in Chinese:\n%s; want `href=\"/guide/zh/first\" hreflang=\"zh-CN\"` in it", brief.Of(page))
	}
	if page := string(pages["/guide/zh/first"]); strings.Contains(page, `rel="next"`) {
		t.Errorf("a page after the last:\n%s; want no `rel=\"next\"` in it", brief.Of(page))
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	f := func(change func(fstest.MapFS), want string) {
		t.Helper()
		if _, err := readSmall(t, change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	f(func(m fstest.MapFS) { delete(m, "guide/contents.yaml") }, "guide/contents.yaml")
	f(func(m fstest.MapFS) { m["guide/glossary.yaml"].Data = []byte("terms:\n  - term: {en: part}\n") }, `lacks its "zh"`)
	f(func(m fstest.MapFS) { m["guide/en/third.md"] = m["guide/en/first.md"] }, "does not list the page guide/en/third.md")
	f(func(m fstest.MapFS) { m["guide/en/first.md"].Data = []byte("text") }, "guide/en/first.md: the first line is no title")
	f(func(m fstest.MapFS) { m["guide/contents.yaml"].Data = []byte("- pages: [first]") }, "part 1 has no name")
	f(func(m fstest.MapFS) { m["guide/contents.yaml"].Data = []byte("- page: first") }, "field page not found")
	f(func(m fstest.MapFS) { delete(m, "guide/zh/first.md") }, "no page that is in guide/zh")
}

func TestHeadingsHaveTheIdsOfGitHub(t *testing.T) {
	ids := slugs{}
	f := func(heading, want string) {
		t.Helper()
		if got := ids.of(heading); got != want {
			t.Errorf("%q: %q, want %q", heading, got, want)
		}
	}
	f("The smallest request", "the-smallest-request")
	f("The smallest request", "the-smallest-request-1")
	f("The smallest request", "the-smallest-request-2")
	f("Agents (Model Context Protocol)", "agents-model-context-protocol")
	f("Signals: what is new, popular or of a kind", "signals-what-is-new-popular-or-of-a-kind")
	f("result_cache", "result_cache")
	f("A - b", "a---b")
	f("从 Elasticsearch 的索引导入", "从-elasticsearch-的索引导入")
	f("怎样判断“没有相关内容”", "怎样判断没有相关内容")
	f("Python：安装", "python安装")
}

func TestSectionsAreTextsWithoutMarkup(t *testing.T) {
	g, err := readSmall(t, func(m fstest.MapFS) {
		m["guide/en/first.md"].Data = []byte("# First\n\n## *One*\n\n- **a** `b`\n- [c](#one)\n\n```sh\nx <y>\nz\n```\n\n" +
			"| h | i |\n|---|---|\n| j | k |\n\n#### Deep\n\nend\n")
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []section{
		{level: 1, id: "first", heading: "First"},
		{level: 2, id: "one", heading: "One", text: "a b\nc\nx <y>\nz\nh · i\nj · k\nDeep\nend"},
	}
	if diff := cmp.Diff(want, g.pages["guide/en/first.md"].sections, cmp.AllowUnexported(section{})); diff != "" {
		t.Error(diff)
	}
}

// What is quoted must be in a section, what is excluded must not.
func TestQuotedAndExcludedWords(t *testing.T) {
	g := site(t)
	f := func(question string, holds func(text string) bool) {
		t.Helper()
		hits := g.in("en").index().search(t.Context(), question, shownHits)
		if len(hits) == 0 {
			t.Errorf("%s finds nothing", question)
		}
		for _, h := range hits {
			text := strings.ToLower(h.page.title + "\n" + h.section.heading + "\n" + h.section.text)
			if !holds(text) {
				t.Errorf("%s finds %s#%s", question, h.page.address, h.id)
			}
		}
	}
	spaced := strings.NewReplacer("_", " ", "-", " ", "\n", " ")
	f(`filter "knowledge base"`, func(text string) bool { return strings.Contains(spaced.Replace(text), "knowledge base") })
	f(`filter -elasticsearch`, func(text string) bool { return !strings.Contains(text, "elasticsearch") })
}
