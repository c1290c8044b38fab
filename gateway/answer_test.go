package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/rag/answer"
	"github.com/hybridge-search/hybridge/search"
)

// scriptedModel is a server of chat completions that says what its script has next.
type scriptedModel struct {
	script chan string
	asked  chan string   // bodies
	gone   chan struct{} // takes one where a client left within an answer
	client *answer.Client
}

const (
	hang     = "hang"
	fail     = "fail"
	modelEnd = "data: [DONE]\n\n"
)

func newScriptedModel(t *testing.T, script ...string) *scriptedModel {
	t.Helper()
	m := &scriptedModel{script: make(chan string, len(script)), asked: make(chan string, 10), gone: make(chan struct{}, 10)}
	for _, s := range script {
		m.script <- s
	}
	server := httptest.NewServer(m)
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		server.Close()
	})
	m.client = answer.New(answer.Options{URL: server.URL, Model: "m", APIKey: "secret", Timeout: time.Minute})
	return m
}

// ServeHTTP says the pieces of a script, which | separates.
func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	m.asked <- string(body)
	for piece := range strings.SplitSeq(<-m.script, "|") {
		switch piece {
		case hang:
			<-r.Context().Done()
			m.gone <- struct{}{}
			return
		case fail:
			return
		}
		if _, err := fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", piece); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush() // a client that has gone shows by the context
	}
	_, _ = io.WriteString(w, modelEnd)
}

// eventsIn gives names and data of the events of an answer.
func eventsIn(t *testing.T, got reply) (names, data []string) {
	t.Helper()
	if got.status != 200 || got.header.Get("Content-Type") != endpoint.EventStream {
		t.Fatalf(`%d %v %s; want got.status 200 and got.header.Get("Content-Type") endpoint.EventStream`, got.status, got.header, brief.Of(got.body))
	}
	for event := range strings.SplitSeq(strings.TrimSuffix(got.body, "\n\n"), "\n\n") {
		name, text, ok := strings.Cut(event, "\ndata: ")
		if !ok || !strings.HasPrefix(name, "event: ") || strings.Contains(text, "\n") {
			t.Fatalf(`no event: %q; want ok and one that begins with "event: " and no "\n" in it`, event)
		}
		names, data = append(names, strings.TrimPrefix(name, "event: ")), append(data, text)
	}
	return names, data
}

func TestAnswers(t *testing.T) {
	model := newScriptedModel(t, "Within four|teen days. [1] Per|haps. [7]", "Yes. B|"+fail, "Yes. B|"+fail, "NOT_IN_|SOURCES")
	g := start(t, Options{Answers: model.client})
	f := func(body string, language string, want ...string) {
		t.Helper()
		names, data := eventsIn(t, g.ask("POST", "/v1/answer", body, asJSON, "Accept-Language: "+language))
		for i, name := range names {
			if i >= len(want) {
				t.Fatalf("events %v, data %v", names, data)
			}
			if got := name + " " + data[i]; !strings.HasPrefix(got, want[i]) {
				t.Errorf("event %d is %s, want %s", i+1, got, want[i])
			}
		}
		if len(names) != len(want) {
			t.Errorf("events %v", names)
		}
	}
	const sources = `sources {"query_id":"q","cached":false,"sources":[{"number":1,"id":"c1","knowledge_base":"manuals","document_id":"d1","source":"guide.md","page":1,`
	f(question, "en", sources, `sentence {"text":"Within fourteen days. ","citations":[1],"cited":true}`,
		`sentence {"text":"Perhaps.","citations":[],"cited":false}`, `done {"sentences":2,"truncated":false,"took_ms":`)
	if asked := <-model.asked; !strings.Contains(asked, `"stream":true`) || !strings.Contains(asked, `<b>& so on</b>`) &&
		!strings.Contains(asked, `\u003cb\u003e\u0026 so on`) {
		t.Errorf("asked %s; want `\"stream\":true` in it and `<b>& so on</b>` in it or `\\u003cb\\u003e\\u0026 so on` in it", asked)
	}
	f(question, "en", sources, `sentence {"text":"Yes. "`, `error {"type":"about:blank","title":"Service Unavailable","status":503,`+
		`"code":"unavailable","detail":"the answer service's answer ended before it was complete"}`)
	f(question, "zh", sources, `sentence {"text":"Yes. "`, `error {"type":"about:blank","title":"Service Unavailable","status":503,`+
		`"code":"unavailable","detail":"answer 服务`)
	f(question, "en", sources,
		`unknown {"code":"not_in_sources","reason":"I don't know: what was found does not answer this."}`, `done {"sentences":0,`)
	if got := g.log.String(); !strings.Contains(got, "ended before it was complete") || strings.Contains(got, "secret") {
		t.Errorf(`log %s; want "ended before it was complete" in it and no "secret" in it`, got)
	}
	for len(model.asked) > 0 {
		<-model.asked
	}
	g.canned = &search.Response{QueryID: "q", Answerable: new(0.1), Empty: rag.NothingRelevant}
	const none = `sources {"query_id":"q","cached":false,"sources":[],"truncated":false,"answerable":0.1,`
	f(question, "en", none, `unknown {"code":"nothing_relevant","reason":"I don't know: nothing in these knowledge bases answers this."}`,
		`done {"sentences":0,"truncated":false,`)
	f(question, "zh-CN", none, `unknown {"code":"nothing_relevant","reason":"我不知道：`, `done {`)
	if len(model.asked) > 0 {
		t.Errorf("the model was asked about nothing: %s", <-model.asked)
	}
}

// Where a request says nothing of relevance, auto holds.
func TestAnswersHaveAThreshold(t *testing.T) {
	g := start(t, Options{})
	f := func(members string, want search.Threshold) {
		t.Helper()
		g.ask("POST", "/v1/answer", `{"query": "refund", "knowledge_bases": ["manuals"]`+members+`}`, asJSON)
		value := func(p *float64) float64 {
			if p == nil {
				return -1
			}
			return *p
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		got := g.searched.Threshold
		if value(got.Answerable) != value(want.Answerable) || value(got.Relevance) != value(want.Relevance) ||
			value(got.Score) != value(want.Score) {
			t.Errorf("%s: %v %v %v", members, value(got.Answerable), value(got.Relevance), value(got.Score))
		}
	}
	auto := search.AutoThreshold()
	f("", auto)
	f(`, "threshold": "auto"`, auto)
	f(`, "min_relevance": 0.5`, search.Threshold{Answerable: new(0.5), Relevance: auto.Relevance})
	f(`, "threshold": {"score": 0.2}`, search.Threshold{Score: new(0.2)})
	f(`, "threshold": {"answerable": 0}`, search.Threshold{Answerable: new(0.0)})
}

// What is wrong before the answer begins is an ordinary problem.
func TestAnswersRefuse(t *testing.T) {
	g := start(t, Options{})
	f := func(body string, status int, code, field string) {
		t.Helper()
		got := g.ask("POST", "/v1/answer", body, asJSON)
		if p := got.problem(t); got.status != status || p.Code != code || p.Field != field {
			t.Errorf("%s: %d %s", brief.Of(body), got.status, brief.Of(got.body))
		}
	}
	f(`{"query": "a", "knowledge_bases": ["nothing"]}`, 404, "not_found", "")
	f(`{"query": "a", "knowledge_bases": ["manuals"], "max_chars": 0}`, 400, "invalid_argument", "max_chars")
	f(`{"query": "a", "knowledge_bases": ["manuals"], "min_relevance": 2}`, 400, "invalid_argument", "min_relevance")
	f(`{"query": "a", "knowledge_bases": ["manuals"], "format": "tool"}`, 400, "invalid_argument", "format")
	f(`{"query": "a", "query": "b"}`, 400, "invalid_argument", "query")
	if got := g.ask("GET", "/", ""); !strings.Contains(got.body, `"answers":true`) {
		t.Errorf("the index does not tell: %s", brief.Of(got.body))
	}
}

// A model is not asked to go on for a client that has gone, although it says nothing.
func TestAClientThatGoesEndsTheModel(t *testing.T) {
	deadline.Set(t, time.Minute)
	model := newScriptedModel(t, "Yes. B|"+hang)
	g := start(t, Options{Options: endpoint.Options{Limits: endpoint.Limits{Answers: 1}}, Answers: model.client})
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	request, err := http.NewRequestWithContext(ctx, "POST", g.url+"/v1/answer", strings.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := g.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // its connection is gone by then
	lines := bufio.NewReader(response.Body)
	for line := ""; !strings.Contains(line, `"text":"Yes. "`); {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err) // each event comes as soon as it is known
		}
	}
	busy := g.ask("POST", "/v1/answer", question, asJSON)
	if p := busy.problem(t); busy.status != 503 || p.Code != "overloaded" {
		t.Errorf(`a second answer at a time: %d %s; want busy.status 503 and p.Code "overloaded"`, busy.status, brief.Of(busy.body))
	}
	leave()
	select {
	case <-model.gone:
	case <-time.After(10 * time.Second):
		t.Fatal("the model goes on for nobody")
	}
}
