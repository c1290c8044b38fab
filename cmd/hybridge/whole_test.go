package main

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/docs"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/gateway/searches"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

// bilingual are chunks of which no two are about the same.
const bilingual = `{"id": "refund-zh", "document_id": "shop", "document_name": "商店.md", "title": "退款", "content": "收到货后七天内可以在订单页面申请退款，款项原路退回。", "metadata": {"category": "billing"}}
{"id": "warranty-en", "document_id": "shop", "title": "Warranty", "content": "Every device is guaranteed for two years from the day of purchase.", "metadata": {"category": "legal"}}
{"id": "coffee-en", "document_id": "kitchen", "title": "Coffee", "content": "Grind the beans finely and brew them for four minutes."}
{"id": "train-zh", "document_id": "travel", "title": "火车", "content": "开往北京的高速列车每小时一班，请提前十分钟检票。"}
`

// wholeProgram is what every engine must do with the real embedding model.
func wholeProgram(t *testing.T, c *config.Config) {
	r := run(t, c)
	if ready := r.readiness(); ready.Status != "ready" {
		t.Fatalf(`readiness %+v; want ready.Status "ready"`, ready)
	}
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop"}, nil)
	t.Cleanup(func() {
		again := run(t, c)
		again.must(http.MethodDelete, cli.BasePath("shop"), nil, nil)
		again.stop()
	})
	if status, answer := r.ask(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", bilingual); status != 200 ||
		strings.Count(string(answer), `"created"`) != 4 {
		t.Fatalf("ingest: %d %s; want status 200 and strings.Count(string(answer), `\"created\"`) 4", status, brief.Of(answer))
	}
	questions := map[string]string{
		"如何申请退款":                               "refund-zh",
		"how do I get my money back":           "refund-zh",
		"guarantee of a device":                "warranty-en",
		"怎么煮咖啡":                                "coffee-en",
		"when does the train to Beijing leave": "train-zh",
	}
	for question, want := range questions {
		if got := r.best("shop", question); got != want {
			t.Errorf("%q finds %s, want %s", question, got, want)
		}
	}
	r.answersOnlyWhatItKnows("shop", "how do I get my money back", "refund-zh")
	r.embedsAgain()
	filtered := r.search(search.Request{
		Query: "退款", KnowledgeBases: []string{"shop"}, Filter: filter.Expression{"category": []byte(`"legal"`)},
		Facets: []string{"category"},
	})
	if len(filtered.Hits) != 1 || filtered.Hits[0].ID != "warranty-en" {
		t.Errorf(`filtered to %+v; want 1 filtered.Hits and filtered.Hits[0].ID "warranty-en"`, filtered.Hits)
	}
	r.stop()

	again := run(t, c)
	if n := again.chunks("shop"); n != 4 {
		t.Errorf("%d chunks after a restart; want n 4", n)
	}
	for question, want := range questions {
		if got := again.best("shop", question); got != want {
			t.Errorf("after a restart %q finds %s, want %s", question, got, want)
		}
	}
	again.stop()
}

// answersOnlyWhatItKnows asks for text for a prompt: of a question that the chunks answer,
// and of one about something else, which gets none.
func (r *running) answersOnlyWhatItKnows(kb, question, want string) {
	r.t.Helper()
	ask := func(query, format string) (c searches.ContextAnswer) {
		r.must(http.MethodPost, "/v1/context", map[string]any{
			"query": query, "knowledge_bases": []string{kb}, "min_relevance": 0.35, "format": format,
		}, &c)
		return c
	}
	if c := ask(question, "context"); len(c.Citations) == 0 || c.Citations[0].ID != want || c.Answerable == nil {
		r.t.Errorf("%q has the context %+v", question, c)
	}
	for _, other := range []string{"best pizza in naples", "那不勒斯哪家披萨最好吃"} {
		none, tool := ask(other, "context"), ask(other, "tool")
		if none.Text != "" || none.Empty != rag.NothingRelevant || tool.Text != "Nothing in the knowledge bases answers this question." {
			r.t.Errorf(`%q: context %+v, as a tool %q; want none.Text "" and none.Empty NothingRelevant and tool.Text "Nothing in the knowledge bases answers this question."`, other, none, tool.Text)
		}
	}
}

func TestWholeProgramEmbedded(t *testing.T) {
	t.Parallel()
	wholeProgram(t, withModel(settingsIn(t.TempDir()), devservices.Embedding(t)))
}

func TestWholeProgramElasticsearch(t *testing.T) {
	t.Parallel()
	c := withModel(settingsIn(t.TempDir()), devservices.Embedding(t))
	c.Elasticsearch.URL = make([]string, 1)
	c.Elasticsearch.URL[0], c.Elasticsearch.IndexPrefix = devservices.Indices(t)
	wholeProgram(t, c)
}

// TestASplitFileIsCitedByItsLines, and a chunk with the place on a page by its page.
func TestASplitFileIsCitedByItsLines(t *testing.T) {
	t.Parallel()
	r := run(t, settingsIn(t.TempDir()))
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 0}, nil)
	uploaded, err := r.http.Post(r.url+cli.BasePath("k")+"/files?name=guide.md", "application/octet-stream",
		strings.NewReader("# Guide\n\nWelcome.\n\n## Refunds\n\nA refund takes\na week.\n"))
	if err != nil || uploaded.StatusCode != http.StatusOK {
		t.Fatalf("uploading: %+v, %v; want no error and uploaded.StatusCode StatusOK", uploaded, err)
	}
	_ = uploaded.Body.Close()
	r.must(http.MethodPost, cli.BasePath("k")+"/documents",
		`{"id": "p", "document_name": "guide.pdf", "title": "Fees", "content": "a fee", "positions": [[3, 72, 520, 90, 140]]}`, nil)
	f := func(query, want string) {
		t.Helper()
		var answer searches.ContextAnswer
		r.must(http.MethodPost, "/v1/context", map[string]any{"query": query, "knowledge_bases": []string{"k"}}, &answer)
		if !strings.HasPrefix(answer.Text, want) {
			t.Errorf("%s: %q, want %q", query, answer.Text, want)
		}
	}
	f("refund", `[1] guide.md, "Guide > Refunds", lines 7–8 (score`)
	f("welcome", `[1] guide.md, "Guide", line 3 (score`)
	f("fee", `[1] guide.pdf, page 3 (score`)
}

// guidePages are some pages of the guide: a demo that is filled in seconds.
func guidePages(t *testing.T, names ...string) fs.FS {
	t.Helper()
	pages := fstest.MapFS{}
	for _, name := range names {
		text, err := fs.ReadFile(docs.Demo(), name)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = &fstest.MapFile{Data: text}
	}
	return pages
}

// A Chinese question finds the page of the English guide that answers it, and the other way
// round, by the vectors of the real model alone. (The browser tests ask the whole demo.)
func TestDemo(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Demo = true
	c.Embedding.Local.Command = devservices.EmbeddingCommand(t)
	pages := guidePages(t, "en/elasticsearch.md", "en/chinese.md", "en/backup.md", "zh/chinese.md", "zh/backup.md", "zh/presets.md")
	r := runDemo(t, c, pages)
	eventually(t, "the demo is ready", func() bool { return strings.Contains(r.log.String(), "the demo is ready") })
	if ready := r.readiness(); ready.Status != "ready" || ready.BackEnds["embedding"] != "ok" {
		t.Errorf(`readiness %+v; want ready.Status "ready" and ready.BackEnds["embedding"] "ok"`, ready)
	}
	finds := func(question, language, want string) {
		t.Helper()
		response := r.search(search.Request{
			Query: question, KnowledgeBases: []string{app.DemoID}, Preset: "vector",
			Filter: filter.Expression{"document_id": json.RawMessage(`{"starts_with": "` + language + `/"}`)},
		})
		if len(response.Hits) == 0 || response.Hits[0].DocumentID != want {
			t.Errorf("%q finds %+v, want %s", question, response.Documents, want)
		}
	}
	finds("怎样用环境变量保存 Elasticsearch 密码", "en", "en/elasticsearch.md")
	finds("user dictionary for product names", "zh", "zh/chinese.md")
	finds("moving the data to another computer", "zh", "zh/backup.md")
	response := r.search(search.Request{Query: app.DemoQuestion, KnowledgeBases: []string{app.DemoID}})
	if len(response.Hits) == 0 || response.Hits[0].DocumentID != "zh/presets.md" {
		t.Errorf(`the question of the example finds %+v; want some response.Hits and response.Hits[0].DocumentID "zh/presets.md"`, response.Documents)
	}
	before := r.chunks(app.DemoID)
	r.stop()

	again := runDemo(t, c, pages)
	eventually(t, "the demo is ready", func() bool { return strings.Contains(again.log.String(), "the demo is ready") })
	if log := again.log.String(); !strings.Contains(log, "written=0 removed=0") {
		t.Errorf("the second start wrote the demo again:\n%s; want \"written=0 removed=0\" in it", brief.Of(log))
	}
	if n := again.chunks(app.DemoID); n != before || n == 0 {
		t.Errorf("%d chunks, before the restart %d", n, before)
	}
}

// Without the model the demo is one for keywords; with it, it gets its vectors.
func TestDemoGetsItsVectorsLater(t *testing.T) {
	t.Parallel()
	folder, pages := t.TempDir(), guidePages(t, "en/presets.md", "zh/presets.md", "zh/backup.md")
	c := settingsIn(folder)
	c.Demo = true
	c.Embedding.Local.Command = "/nonexistent/model"
	r := runDemo(t, c, pages)
	eventually(t, "the demo is ready", func() bool { return strings.Contains(r.log.String(), "the demo is ready") })
	if !strings.Contains(r.log.String(), "keyword search only") || r.readiness().Status != "ready" {
		t.Errorf("readiness %+v, log\n%s; want \"keyword search only\" in it and r.readiness().Status \"ready\"", r.readiness(), r.log)
	}
	if welcome := r.app.Welcome(r.url); !strings.Contains(welcome, "keyword search only") {
		t.Errorf(`described as %q; want "keyword search only" in it`, welcome)
	}
	if got := r.best(app.DemoID, "倒数排名融合"); !strings.HasPrefix(got, "zh/") {
		t.Errorf(`by keywords: %s; want one that begins with "zh/"`, got)
	}
	r.stop()

	c = withModel(settingsIn(folder), devservices.Embedding(t))
	c.Demo = true
	again := runDemo(t, c, pages)
	eventually(t, "the demo is ready", func() bool { return strings.Contains(again.log.String(), "the demo is ready") })
	var described struct{ Chunks, Vectors int }
	again.must(http.MethodGet, cli.BasePath(app.DemoID), nil, &described)
	if described.Vectors == 0 || described.Vectors != described.Chunks {
		t.Errorf("%+v", described)
	}
	again.stop()

	c = settingsIn(folder)
	c.Demo = true
	last := runDemo(t, c, pages)
	eventually(t, "the demo is left alone", func() bool {
		return strings.Contains(last.log.String(), "searched by keywords only")
	})
	response := last.search(search.Request{Query: "倒数排名融合", KnowledgeBases: []string{app.DemoID}})
	if len(response.Hits) == 0 || len(response.Degraded) != 1 {
		t.Errorf("%d hits, degraded %+v; want some response.Hits and 1 response.Degraded", len(response.Hits), response.Degraded)
	}
}
