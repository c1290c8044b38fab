package gateway

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/golden"
)

// documentedError is an error as the guide lists it.
type documentedError struct {
	code     string
	status   int
	retry    string // Retry-After
	en, zh   string
	provoked func(g *gatewayUnderTest) reply // nil: a handler fails so
}

// documentedErrors are what the guide's table of errors is made of, and what callers are answered.
var documentedErrors = []documentedError{
	{"invalid_argument", 400, "", "the request is at fault; `field` names the member", "请求有误；`field` 指出是哪一项", nil},
	{"unsupported", 400, "", "this engine, or this gateway, cannot do that", "该引擎或该网关做不到", nil},
	{
		"unauthenticated", 401, "", "no key, or an unknown one; `WWW-Authenticate` says how to send it",
		"没有密钥或密钥未知；`WWW-Authenticate` 说明如何发送", askWithoutKey,
	},
	{"forbidden", 403, "", "the key may not do this", "该密钥不可以这样做", nil},
	{"not_found", 404, "", "it does not exist, or the key does not see it", "不存在，或该密钥看不到", nil},
	{
		"method_not_allowed", 405, "", "the route does not take the method; `Allow` lists those it takes",
		"该路径不接受此方法；`Allow` 列出可用的方法",
		func(g *gatewayUnderTest) reply { return g.ask(http.MethodDelete, "/v1/search", "") },
	},
	{"request_timeout", 408, "", "the request did not arrive in time", "请求未能及时到达", nil},
	{"conflict", 409, "", "it exists already, or is another version by now", "已经存在，或已是另一个版本", nil},
	{"read_only", 409, "", "an attached index is never written to", "接入的索引从不写入", nil},
	{"too_large", 413, "", "beyond a limit of size", "超过大小限制", nil},
	{
		"unsupported_media_type", 415, "", "the body is of another `Content-Type` than the route reads",
		"请求体的 `Content-Type` 不是该路径能读取的",
		func(g *gatewayUnderTest) reply {
			return g.ask(http.MethodPost, "/v1/search", question, "Content-Type: text/csv")
		},
	},
	{
		"too_many_requests", 429, "1", "more than the key or the tenant may ask for or store; where only a deletion helps the wait is 10 s, " +
			"of bytes until midnight (UTC)", "超过密钥或租户的请求或存储上限；只有删除才有用时等待 10 秒，字节数则到午夜（UTC）", nil,
	},
	{
		"headers_too_large", 431, "", "the request line and headers are over 16 KiB", "请求行和头超过 16 KiB",
		func(g *gatewayUnderTest) reply {
			return g.ask(http.MethodGet, "/v1/presets", "", "X-Long: "+strings.Repeat("x", 17<<10))
		},
	},
	{"internal", 500, "", "a fault of the gateway; its log says more, under `X-Request-Id`", "网关自身的故障；日志按 `X-Request-Id` 说明原因", nil},
	{"corrupt", 500, "", "stored data failed its checksum", "存储的数据校验失败", nil},
	{
		"not_implemented", 501, "", "no route has the method", "没有任何路径使用此方法",
		func(g *gatewayUnderTest) reply { return g.ask("BREW", "/v1/search", "") },
	},
	{"unavailable", 503, "2", "an engine or a model is away", "引擎或模型不可用", nil},
	{"overloaded", 503, "1", "an engine, a model or the gateway has too much to do", "引擎、模型或网关过于繁忙", nil},
	{"canceled", 503, "1", "the gateway is shutting down", "网关正在关闭", nil},
	{"timeout", 504, "", "it took longer than it may", "耗时超过允许的时间", nil},
	{"disk_full", 507, "", "a write found no room", "写入时没有空间", nil},
}

func askWithoutKey(g *gatewayUnderTest) reply {
	closed := start(g.t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k1", "acme")}}})
	defer func() { _ = closed.stop() }()
	return closed.ask(http.MethodGet, "/v1/presets", "")
}

// TestDocumentedErrors asks for each error that the guide lists.
//
// Promise: "Every error is a problem document" (docs/guide/en/limits.md).
func TestDocumentedErrors(t *testing.T) {
	g := start(t, Options{})
	extra := map[string][2]string{
		"unauthenticated": {"WWW-Authenticate", `Bearer realm="hybridge"`}, "method_not_allowed": {"Allow", "POST"},
	}
	for _, e := range documentedErrors {
		g.answer = func(context.Context) error { return fault.New(fault.Kind(e.code), "as documented") }
		provoke := e.provoked
		if provoke == nil {
			provoke = func(g *gatewayUnderTest) reply { return g.ask(http.MethodPost, "/v1/search", question, asJSON) }
		}
		got := provoke(g)
		if p := got.problem(t); got.status != e.status || p.Code != e.code || got.header.Get("Retry-After") != e.retry {
			t.Errorf("%s is answered %d %q, Retry-After %q; the guide has %d, %q", e.code, got.status, p.Code,
				got.header.Get("Retry-After"), e.status, e.retry)
		}
		if header := extra[e.code]; header[0] != "" && got.header.Get(header[0]) != header[1] {
			t.Errorf("%s has %s %q, want %q", e.code, header[0], got.header.Get(header[0]), header[1])
		}
	}
}

// TestEveryErrorIsDocumented: the guide has a row for each kind of error that the sources know, in both languages.
func TestEveryErrorIsDocumented(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	kind := regexp.MustCompile(`\bKind += "([a-z_]+)"`)
	for _, file := range append(files, "../fault/fault.go") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range kind.FindAllStringSubmatch(string(text), -1) {
			if !slices.ContainsFunc(documentedErrors, func(e documentedError) bool { return e.code == found[1] }) {
				t.Errorf("%s has the error %s, which documentedErrors lacks", file, found[1])
			}
		}
	}
	written := func(language, head string, means func(documentedError) string) {
		t.Helper()
		var table strings.Builder
		table.WriteString(head + "\n|---|---|---|---|\n")
		for _, e := range documentedErrors {
			fmt.Fprintf(&table, "| `%s` | %d | %s | %s |\n", e.code, e.status, e.retry, means(e))
		}
		page := filepath.Join("..", "docs", "guide", language, "limits.md")
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, _ := strings.Cut(string(text), head)
		_, after, _ := strings.Cut(rest, "\n\n")
		want := before + table.String() + "\n" + after
		if string(text) == want {
			return
		}
		if !golden.Updating() {
			t.Errorf("%s has another table of errors; -update writes it:\n%s", brief.Of(page), table.String())
		} else if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written("en", "| code | status | `Retry-After` | what happened |", func(e documentedError) string { return e.en })
	written("zh", "| 代码 | 状态 | `Retry-After` | 发生了什么 |", func(e documentedError) string { return e.zh })
}
