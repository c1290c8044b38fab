package gateway

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
)

// TestTextsAreInTheReadersLanguage asks for the same answers in both languages: texts
// differ, codes and values do not, and English is what it always was.
//
// Promise: "every other text for readers" (docs/guide/en/troubleshooting.md).
// Promise: "values never change" (docs/guide/en/troubleshooting.md).
func TestTextsAreInTheReadersLanguage(t *testing.T) {
	g := start(t, Options{})
	f := func(method, path, body, contentType, english, chinese string) {
		t.Helper()
		headers := []string{}
		if contentType != "" {
			headers = append(headers, contentType)
		}
		plain := g.ask(method, path, body, headers...)
		if !strings.Contains(plain.body, english) || plain.header.Get("Content-Language") != "" {
			t.Errorf("%s: %q %s, want %s", path, plain.header.Get("Content-Language"), brief.Of(plain.body), english)
		}
		if again := g.ask(method, path, body, append(headers, "Accept-Language: en-GB, zh;q=0.5")...); again.status != plain.status ||
			again.body != plain.body {
			t.Errorf("%s: %s to an English reader, %s to one who does not say", path, brief.Of(again.body), brief.Of(plain.body))
		}
		said := g.ask(method, path, body, append(headers, "Accept-Language: zh-CN,zh;q=0.9,en;q=0.8")...)
		if said.status != plain.status || said.header.Get("Content-Type") != plain.header.Get("Content-Type") {
			t.Errorf("%s: %d %v to a Chinese reader", path, said.status, said.header)
		}
		if want := strings.ReplaceAll(plain.body, english, chinese); said.body != want {
			t.Errorf("%s:\n got %s\nwant %s", path, brief.Of(said.body), want)
		}
	}
	f("GET", "/nowhere", "", "", "there is no such route; GET / lists them", "没有这个路径；GET / 可列出全部路径")
	f("POST", "/v1/search", `{"top_k": 1.5}`, asJSON, "top_k is 1.5; it must be a whole number", "top_k 的值为 1.5；应为整数")
	f("POST", "/v1/search", question, asJSON, `"code":"unavailable","reason":"embedding service unavailable"`,
		`"code":"unavailable","reason":"向量服务不可用"`)
	f("POST", "/v1/mappings/manuals/diff", `{}`, asJSON, `"code":"setting","reason":"can be set while the index is in use"`,
		`"code":"setting","reason":"可在索引使用期间设置"`)
	f("POST", bulkPath, "{\"id\": \"a\"}\nnonsense\n", asNDJSON, "the line is not valid UTF-8", "该行不是有效的 UTF-8")
	f("POST", bulkPath, "{\"id\": \"a\"}\ncut\n", asNDJSON, "Elasticsearch cannot be reached", "无法连接 Elasticsearch")
	f("GET", "/v1/jobs/j1", "", "", "Elasticsearch took too long", "Elasticsearch 超时")
	f("GET", "/v1/jobs/j1/events", "", "", "Elasticsearch took too long", "Elasticsearch 超时")
	if said := g.ask("GET", "/nowhere", "", "Accept-Language: zh"); said.header.Get("Content-Language") != "zh" {
		t.Errorf(`Content-Language is %q; want said.header.Get("Content-Language") "zh"`, said.header.Get("Content-Language"))
	}
}
