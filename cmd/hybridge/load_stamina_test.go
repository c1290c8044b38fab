package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

const (
	loadDimensions = 64
	loadSteady     = 2000 // chunks that nobody changes
	loadPool       = 1000 // chunks that are written again and again
	loadDocuments  = 20   // documents that are replaced and deleted
	loadParts      = 10   // chunks of each of them
)

// TestMixedLoad searches, writes and deletes without pause, with every preset in
// two languages: no answer is an error or degraded, a document that is replaced
// is never seen half, and the process needs no more in the end than at first.
func TestMixedLoad(t *testing.T) {
	lasting := durationOf(t, durationVariable, 5*time.Second)
	p := serve(t, racing(t), t.TempDir(), asProgram+"=yes", "HYBRIDGE_LOG_LEVEL=warn", "GORACE=halt_on_error=1")
	l := &load{process: p, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
	defer l.http.CloseIdleConnections()
	l.fill()
	l.book = newLogbook(lasting)
	until := time.Now().Add(lasting)
	var group sync.WaitGroup
	for i, work := range []func(*worker){(*worker).search, (*worker).search, (*worker).write, (*worker).administer} {
		w := &worker{load: l, number: i, random: rand.New(rand.NewPCG(uint64(i), 5))}
		group.Go(func() {
			for time.Now().Before(until) && !t.Failed() {
				work(w)
			}
		})
	}
	group.Go(func() {
		for time.Now().Before(until) && !t.Failed() {
			l.book.sample(p)
			time.Sleep(min(time.Second, lasting/50))
		}
	})
	group.Wait()
	if text := p.out.String(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic") {
		t.Errorf("the gateway says\n%s; want no \"DATA RACE\" in it and no \"panic\" in it", text)
	}
	l.book.judge(t)
}

// racing is the program, with the race detector when the test has it.
func racing(t *testing.T) string {
	t.Helper()
	if !raceDetector {
		return copied(t)
	}
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// load is what goes on at the same time.
type load struct {
	*process
	http *http.Client
	book *logbook
}

// worker does one thing after the other.
type worker struct {
	*load
	number int
	random *rand.Rand
	round  int
}

var loadWords = map[string][]string{
	"en": strings.Fields("refund order device warranty coffee train invoice customer delivery account password search " +
		"engine vector keyword fusion answer question document station ticket guarantee payment market garden"),
	"zh": strings.Fields("退款 订单 设备 保修 咖啡 火车 发票 客户 快递 账户 密码 搜索 引擎 向量 关键词 融合 答案 问题 文档 车站 车票 支付 市场 花园"),
}

func sentence(random *rand.Rand, words int) string {
	language, separator := "en", " "
	if random.IntN(2) == 0 {
		language, separator = "zh", ""
	}
	all := make([]string, words)
	for i := range all {
		all[i] = loadWords[language][random.IntN(len(loadWords[language]))]
	}
	return strings.Join(all, separator)
}

func direction(random *rand.Rand) []float32 {
	v := make([]float32, loadDimensions)
	for i := range v {
		v[i] = float32(math.Round(random.NormFloat64()*1000) / 1000)
	}
	return v
}

func loadLine(out *bytes.Buffer, random *rand.Rand, id, document, content string) {
	_ = json.NewEncoder(out).Encode(map[string]any{
		"id": id, "document_id": document, "content": content, "vector": direction(random),
		"metadata": map[string]any{"shelf": random.IntN(5)},
	})
}

func (l *load) fill() {
	l.t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	l.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": loadDimensions}, nil)
	var lines bytes.Buffer
	for i := range loadSteady {
		loadLine(&lines, random, fmt.Sprint("steady", i), fmt.Sprint("s", i/10), sentence(random, 30))
	}
	l.must(http.MethodPost, cli.BasePath("k")+"/documents", lines.String(), nil)
}

// do sends a request; every answer that is none of the statuses is an error.
func (w *worker) do(what, method, path string, body any, statuses ...int) []byte {
	reader, contentType := io.Reader(nil), cli.AsJSON
	switch b := body.(type) {
	case nil:
	case *bytes.Buffer:
		reader, contentType = b, cli.AsNDJSON
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			w.t.Error(err)
			return nil
		}
		reader = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, w.url+path, reader)
	if err != nil {
		w.t.Error(err)
		return nil
	}
	request.Header.Set("Content-Type", contentType)
	begun := time.Now()
	response, err := w.http.Do(request)
	if err != nil {
		w.t.Errorf("%s: %v", what, err)
		return nil
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Errorf("%s: %v", what, err)
		return nil
	}
	w.book.note(what, time.Since(begun))
	for _, status := range append(statuses, http.StatusOK) {
		if response.StatusCode == status {
			return text
		}
	}
	w.t.Errorf("%s: %d %s", what, response.StatusCode, brief.Of(text))
	return nil
}

// search asks by each preset in turn, every fourth time for a document that is
// being replaced.
func (w *worker) search() {
	w.round++
	preset := allPresets[w.round%len(allPresets)]
	request := search.Request{
		Query: sentence(w.random, 4), KnowledgeBases: []string{"k"}, Preset: preset, Vector: direction(w.random),
		Facets: []string{"shelf"}, Highlight: &search.Highlight{},
	}
	if w.round%4 == 0 {
		w.seeWhole(request)
		return
	}
	var response search.Response
	w.decode(w.do("search "+preset, http.MethodPost, "/v1/search", request), &response)
	if len(response.Degraded) > 0 {
		w.t.Errorf("%s is degraded: %+v; want len(response.Degraded) 0", preset, response.Degraded)
	}
}

func (w *worker) decode(text []byte, into any) {
	if text == nil {
		return
	}
	if err := json.Unmarshal(text, into); err != nil {
		w.t.Errorf("%v in %s", err, brief.Of(text))
	}
}

// seeWhole wants all chunks of a document in one edition, or none.
func (w *worker) seeWhole(request search.Request) {
	all := 1000
	document, _ := json.Marshal(fmt.Sprint("moving", w.random.IntN(loadDocuments)))
	request.Preset, request.TopK, request.Candidates = "vector", &all, &all
	request.Filter = filter.Expression{"document_id": document}
	var response search.Response
	w.decode(w.do("search one document", http.MethodPost, "/v1/search", request), &response)
	editions := map[string]int{}
	for _, h := range response.Hits {
		edition, _, _ := strings.Cut(h.Content, " ")
		editions[edition]++
	}
	if len(editions) > 1 || len(response.Hits) != 0 && len(response.Hits) != loadParts {
		w.t.Errorf("the document %s of %d chunks is seen as %v", brief.Of(document), loadParts, editions)
	}
}

// write replaces, adds and deletes.
func (w *worker) write() {
	w.round++
	document := w.random.IntN(loadDocuments)
	path := fmt.Sprintf("%s/documents/moving%d", cli.BasePath("k"), document)
	var lines bytes.Buffer
	switch w.round % 8 {
	case 0:
		w.do("delete", http.MethodDelete, path, nil, http.StatusNotFound)
	case 1, 2:
		for range 50 {
			id := fmt.Sprint("pool", w.random.IntN(loadPool))
			loadLine(&lines, w.random, id, "of-"+id, sentence(w.random, 30))
		}
		w.accepted(w.do("write", http.MethodPost, cli.BasePath("k")+"/documents", &lines))
	case 3:
		id := fmt.Sprint("pool", w.random.IntN(loadPool))
		w.do("delete", http.MethodDelete, cli.BasePath("k")+"/documents/of-"+id, nil, http.StatusNotFound)
	default:
		for part := range loadParts {
			content := fmt.Sprintf("edition%d %s", w.round, sentence(w.random, 30))
			loadLine(&lines, w.random, fmt.Sprintf("moving%d-%d", document, part), fmt.Sprint("moving", document), content)
		}
		w.accepted(w.do("replace", http.MethodPut, path, &lines))
	}
}

func (w *worker) accepted(results []byte) {
	if bytes.Contains(results, []byte(`"failed"`)) {
		w.t.Errorf("not written: %s", brief.Of(results))
	}
}

// administer makes a knowledge base, uses it and deletes it.
func (w *worker) administer() {
	w.round++
	id := fmt.Sprint("short", w.round)
	spec := map[string]any{"id": id, "dimensions": loadDimensions}
	w.do("create knowledge base", http.MethodPost, "/v1/knowledge-bases", spec, http.StatusCreated)
	var lines bytes.Buffer
	for i := range 50 {
		loadLine(&lines, w.random, fmt.Sprint("c", i), "d", sentence(w.random, 30))
	}
	w.accepted(w.do("write", http.MethodPost, cli.BasePath(id)+"/documents", &lines))
	var response search.Response
	request := search.Request{Query: "refund 退款", KnowledgeBases: []string{id, "k"}, Vector: direction(w.random)}
	w.decode(w.do("search two", http.MethodPost, "/v1/search", request), &response)
	if len(response.Hits) == 0 || len(response.Degraded) > 0 {
		w.t.Errorf("%d hits, degraded %+v; want some response.Hits and len(response.Degraded) 0", len(response.Hits), response.Degraded)
	}
	var described struct{ engine.Description }
	w.decode(w.do("describe", http.MethodGet, cli.BasePath(id), nil), &described)
	if described.Chunks != 50 {
		w.t.Errorf("%s has %d chunks, want 50", id, described.Chunks)
	}
	w.do("delete knowledge base", http.MethodDelete, cli.BasePath(id), nil, http.StatusNoContent)
}
