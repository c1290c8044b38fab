package rag_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

func manual() []search.Hit {
	return []search.Hit{
		{
			ID: "c1", DocumentID: "d1", DocumentName: "guide.md", KnowledgeBase: "manuals", Score: 0.874,
			Content: "Refunds take a week. Ask for one by mail.", Positions: [][]float64{{3, 1, 2, 3, 4}, {4, 1, 2, 3, 4}},
		},
		{ID: "empty", DocumentID: "d2", Content: " \n"},
		{
			ID: "q1", DocumentID: "faq", Title: "Refunds", Score: 0.5, QA: &engine.QA{
				Question: "退款多久？", Answer: "一周。", FullAnswer: "退款需要一周。请发邮件申请。", URL: "https://example.com",
			},
		},
	}
}

func TestFormatForContext(t *testing.T) {
	const whole = "[1] guide.md, page 3 (score 0.87)\nRefunds take a week. Ask for one by mail.\n\n" +
		"[2] Refunds (score 0.50)\n退款多久？\n退款需要一周。请发邮件申请。"
	f := func(maxChars int, want string, truncated bool) {
		t.Helper()
		got := rag.FormatForContext(manual(), maxChars)
		if got.Text != want || got.Truncated != truncated {
			t.Errorf("%d characters: truncated %v\n got %q\nwant %q", maxChars, got.Truncated, got.Text, want)
		}
	}
	f(1000, whole, false)
	f(utf8.RuneCountInString(whole), whole, false)
	f(utf8.RuneCountInString(whole)-1, strings.TrimSuffix(whole, "请发邮件申请。"), true)
	f(100, "[1] guide.md, page 3 (score 0.87)\nRefunds take a week. Ask for one by mail.", true)
	f(60, "[1] guide.md, page 3 (score 0.87)\nRefunds take a week.", true)
	f(44, "[1] guide.md, page 3 (score 0.87)\nRefunds ta", true)
	f(34, "", true)
	f(0, "", true)
	f(-1, "", true)

	c := rag.FormatForContext(manual(), 1000).Citations
	if len(c) != 2 || c[0].Number != 1 || c[0].ID != "c1" || *c[0].Page != 3 || c[0].Score != 0.874 ||
		c[1].Number != 2 || c[1].Page != nil || c[1].URL != "https://example.com" || c[1].Source != "Refunds" {
		t.Errorf("citations %+v", c)
	}
	if none := rag.FormatForContext(nil, 100); none.Text != "" || none.Citations == nil || none.Truncated {
		t.Errorf(`no hits: %+v; want none.Text "" and a none.Citations and not none.Truncated`, none)
	}
}

// TestWhereAHitWas: pages are cited where positions are pages, lines where they are lines.
// The Python client is held to the same cases.
func TestWhereAHitWas(t *testing.T) {
	text, err := os.ReadFile("testdata/cite.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Hit      search.Hit   `json:"hit"`
		Head     string       `json:"head"`
		Citation rag.Citation `json:"citation"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		c.Hit.Content = "x"
		found := rag.FormatForContext([]search.Hit{c.Hit}, 1000)
		if head, _, _ := strings.Cut(found.Text, "\n"); head != "[1] "+c.Head+" (score 0.00)" {
			t.Errorf("%+v: %s, want %s", c.Hit.Positions, head, c.Head)
		}
		c.Citation.Number, c.Citation.DocumentID = 1, c.Hit.DocumentID
		if diff := cmp.Diff(c.Citation, found.Citations[0]); diff != "" {
			t.Errorf(`%s: %s; want diff ""`, c.Head, diff)
		}
	}
	nowhere := search.Hit{DocumentName: "guide.pdf", Positions: [][]float64{{math.NaN()}}}
	if got := rag.Cite(&nowhere, 1); got.Page != nil {
		t.Errorf("page %d; want no got.Page", *got.Page)
	}
}

func TestANameCannotLookLikeAPart(t *testing.T) {
	hit := search.Hit{DocumentName: "a\n[2] b\x00\u2028c" + strings.Repeat("字", 500), Content: "x"}
	head, _, _ := strings.Cut(rag.FormatForContext([]search.Hit{hit}, 1000).Text, "\n")
	if !strings.HasPrefix(head, "[1] a [2] b c字") || utf8.RuneCountInString(head) > 250 {
		t.Errorf(`head %q; want one that begins with "[1] a [2] b c字" and utf8.RuneCountInString(head) at most 250`, head)
	}
}

func TestFormatForToolOutput(t *testing.T) {
	f := func(hits []search.Hit, n int, want string) {
		t.Helper()
		if got := rag.FormatForToolOutput(hits, n); got != want {
			t.Errorf("%d chunks:\n got %q\nwant %q", n, got, want)
		}
	}
	f(manual()[:1], 5, "Results: 1 of 1.\n\n[1] guide.md, page 3 (score 0.87)\nRefunds take a week. Ask for one by mail.")
	f(manual(), 1, "Results: 1 of 3.\n\n[1] guide.md, page 3 (score 0.87)\nRefunds take a week. Ask for one by mail.")
	f(manual(), -1, "Results: 0 of 3.")
	f(nil, 3, "No results.")
}

// TestNothingRelevant: a program's model is told that nothing answers the question.
func TestNothingRelevant(t *testing.T) {
	least := 0.1
	none := &search.Response{Answerable: &least, Empty: rag.NothingRelevant, EmptyReason: "nothing here answers that"}
	tool, text := rag.FormatAnswerForTool(none, 5), rag.FormatAnswer(none, 1000)
	if tool.Text != "Nothing in the knowledge bases answers this question." || text.Text != "" {
		t.Errorf(`as a tool's output %q, for a prompt %q; want tool.Text "Nothing in the knowledge bases answers this question." and text.Text ""`, tool.Text, text.Text)
	}
	for _, c := range []rag.Context{tool, text} {
		if c.Empty != rag.NothingRelevant || c.EmptyReason != none.EmptyReason || *c.Answerable != least || c.Citations == nil {
			t.Errorf("%+v", c)
		}
	}
	if got := rag.FormatAnswerForTool(&search.Response{Empty: "match"}, 5); got.Text != "No results." || got.Empty != "match" {
		t.Errorf("nothing matches: %+v", got)
	}
	hits := manual()
	hits[0].Relevance = &least
	some := rag.FormatAnswerForTool(&search.Response{Hits: hits, Answerable: &least}, 2)
	if !strings.HasPrefix(some.Text, "Results: 2 of 3.\n\n[1] guide.md") || len(some.Citations) != 2 || !some.Truncated ||
		*some.Citations[0].Relevance != least || some.Citations[1].Relevance != nil {
		t.Errorf("%+v", some)
	}
}

var heads = regexp.MustCompile(`(?m)^\[(\d+)\] §`)

func TestContextHoldsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.String(),
			rapid.StringOf(rapid.RuneFrom([]rune("ab 。.！? \n字👨‍👩‍👧é"))),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		)
		hits := make([]search.Hit, rapid.IntRange(0, 6).Draw(t, "hits"))
		for i := range hits {
			hits[i] = search.Hit{DocumentName: "§" + text.Draw(t, "name"), Content: text.Draw(t, "content")}
		}
		limit := rapid.IntRange(-5, 200).Draw(t, "limit")
		c := rag.FormatForContext(hits, limit)
		if n := utf8.RuneCountInString(c.Text); n > max(limit, 0) {
			t.Fatalf("%d characters of %d", n, limit)
		}
		if !utf8.ValidString(c.Text) {
			t.Fatalf("not UTF-8: %q", c.Text)
		}
		for i, citation := range c.Citations {
			if citation.Number != i+1 || !strings.Contains(c.Text, fmt.Sprintf("[%d] §", i+1)) {
				t.Fatalf("citation %d has number %d in %q", i, citation.Number, c.Text)
			}
		}
		if !c.Truncated && len(heads.FindAllString(c.Text, -1)) < len(c.Citations) {
			t.Fatalf("%d citations in %q", len(c.Citations), c.Text)
		}
	})
}

// asked keeps the request and answers.
type asked struct {
	scope access.Scope
	req   search.Request
	err   error
}

func (a *asked) Search(_ context.Context, scope access.Scope, req search.Request) (*search.Response, error) {
	a.scope, a.req = scope, req
	return &search.Response{Hits: manual()}, a.err
}

func TestServiceAsks(t *testing.T) {
	inner := &asked{}
	service := rag.New(rag.In(inner, access.Scope{Tenant: "acme"}))
	hits, err := service.Search(t.Context(), rag.Query{
		Text: "-refunds", KnowledgeBases: []string{"a", "b"}, User: "u", TopK: 3, ScoreThreshold: 0.4, MinRelevance: 0.25,
		Request: search.Request{Preset: "rrf"},
	})
	if err != nil || len(hits) != 3 {
		t.Fatalf("%d hits, %v; want no error and 3 hits", len(hits), err)
	}
	got, err := json.Marshal(inner.req)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"query":"-refunds","plain":true,"knowledge_bases":["a","b"],"preset":"rrf","top_k":3,"user":"u",` +
		`"threshold":{"answerable":0.25,"score":0.4},"highlight":{"fragments":0}}`
	if string(got) != want || inner.scope.Tenant != "acme" {
		t.Errorf("asked %s in %+v, want %s", brief.Of(got), inner.scope, want)
	}
	inner.err = fault.New(fault.NotFound, "gone")
	if _, err := service.Search(t.Context(), rag.Query{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v; want an error of kind NotFound", err)
	}
}

// late is a gateway that does not answer in time.
type late struct{}

func (late) RoundTrip(*http.Request) (*http.Response, error) { return nil, os.ErrDeadlineExceeded }

func TestClient(t *testing.T) {
	var status int
	var asked atomic.Int64
	var body string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/search" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf(`asked %s with %q; want r.URL.Path "/v1/search" and r.Header.Get("Authorization") "Bearer secret"`, r.URL, r.Header.Get("Authorization"))
		}
		if asked.Add(1); status == 0 {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer gateway.Close()
	service := rag.New(rag.At(gateway.URL+"/", rag.ClientOptions{APIKey: "secret"}))
	query := rag.Query{Text: "x", KnowledgeBases: []string{"a"}}

	status, body = 200, `{"hits": [], "answerable": 0.02, "empty": "nothing_relevant", "empty_reason": "nothing here answers that"}`
	query.MinRelevance = 0.25
	if c, err := service.Context(t.Context(), query, 1000); err != nil || c.Text != "" || c.Empty != rag.NothingRelevant {
		t.Errorf(`%+v, %v; want no error and c.Text "" and c.Empty NothingRelevant`, c, err)
	}
	status, body = 200, `{"hits": [{"id": "c1", "score": 0.5, "question": "why", "answer": "so"}]}`
	hits, err := service.Search(t.Context(), query)
	if err != nil || len(hits) != 1 || hits[0].ID != "c1" || rag.Text(&hits[0]) != "why\nso" {
		t.Errorf(`%+v, %v; want no error and 1 hits and hits[0].ID "c1" and rag.Text(&hits[0]) "why\nso"`, hits, err)
	}
	f := func(with int, text string, kind fault.Kind, field string) {
		t.Helper()
		status, body = with, text
		asked.Store(0)
		_, err := service.Search(t.Context(), query)
		if n := asked.Load(); n != 1 {
			t.Errorf("%d %s: asked %d times, want once: whoever asks knows whether it is worth a second time", with, text, n)
		}
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != kind || e.Field != field {
			t.Errorf("%d %s: %v, want %s at %q", with, text, err, kind, field)
		}
	}
	f(400, `{"code": "invalid_argument", "field": "top_k", "detail": "top_k is 0"}`, fault.InvalidArgument, "top_k")
	f(502, `<html>`, fault.Unavailable, "")
	f(200, `<html>`, fault.Unavailable, "")
	f(429, `{"code": "too_many_requests", "detail": "slow down"}`, fault.TooMany, "")
	f(0, "", fault.Unavailable, "")

	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := service.Search(gone, query); !fault.Is(err, fault.Canceled) {
		t.Errorf("given up: %v; want an error of kind Canceled", err)
	}
	slow := rag.New(rag.At(gateway.URL, rag.ClientOptions{HTTP: &http.Client{Transport: late{}}}))
	if _, err := slow.Search(t.Context(), query); !fault.Is(err, fault.Timeout) {
		t.Errorf("a gateway that takes too long: %v; want an error of kind Timeout", err)
	}
	gateway.Close()
	if _, err := service.Search(t.Context(), query); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without a gateway: %v", err)
	}
}
