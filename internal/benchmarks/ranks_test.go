package benchmarks

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/golden"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/internal/skips"
	planners "github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// givenTokens stands in for jieba where the Python program is given tokens.
const givenTokens = "../../scripts/bench/given_tokens"

// twoWays is rrf over the same chunks by a search here and by the Python program,
// which is given the tokens of here and scores by rank_bm25, as the knowledge base
// does.
type twoWays struct {
	analyzer *tokens.Analyzer
	searcher *search.Searcher
	kb       string
	asked    []question
}

// place is a hit of the answer, the best first.
type place struct {
	id    string
	score float64
}

// okapiKB is a knowledge base that scores text as the Python program does.
func okapiKB(id string) engine.KnowledgeBase {
	kb := postgresKB(id, dims)
	kb.BM25 = engine.BM25Okapi
	return kb
}

func newTwoWays(e engine.Engine, analyzer *tokens.Analyzer, kb string, asked []question) *twoWays {
	return &twoWays{analyzer: analyzer, kb: kb, asked: asked, searcher: search.New(search.Options{
		Catalog: catalog.New([]engine.Engine{e}, catalog.Options{}), Analyzer: analyzer,
		Planners: planners.Builtin(), DefaultPreset: planners.Default,
	})}
}

func (w *twoWays) search(t testing.TB, i int, preset string, topK int) *search.Response {
	t.Helper()
	request := search.Request{
		Query: w.asked[i].Text, Plain: true, Vector: w.asked[i].Vector,
		KnowledgeBases: []string{w.kb}, Preset: preset, TopK: &topK, Explain: true,
	}
	response, err := w.searcher.Search(t.Context(), access.Scope{Tenant: tenant}, request)
	if err != nil || len(response.Degraded) > 0 {
		t.Fatalf("%q: %v, %+v; want no error and len(response.Degraded) 0", request.Query, err, response)
	}
	return response
}

const dualPathTopK = 5

// here gives the answers of this search.
func (w *twoWays) here(t testing.TB) [][]place {
	t.Helper()
	all := make([][]place, len(w.asked))
	for i := range w.asked {
		for _, h := range w.search(t, i, "rrf", dualPathTopK).Hits {
			all[i] = append(all[i], place{h.ID, h.RawScore})
		}
	}
	return all
}

// ties says whether either path has equal scores among the candidates of a
// question, or where they are cut: their order is then anybody's.
func (w *twoWays) ties(t testing.TB, i int) bool {
	t.Helper()
	for _, leg := range []string{"text", "vector"} {
		hits := w.search(t, i, leg, 3*dualPathTopK+1).Hits
		for j := 1; j < len(hits); j++ {
			if a, b := hits[j-1].RawScore, hits[j].RawScore; a-b <= 1e-6*math.Abs(a) { // one float32, two float64
				return true
			}
		}
	}
	return false
}

// python gives the answers of the Python program, which compares every vector.
func (w *twoWays) python(t testing.TB, url string, chunks []engine.Chunk) [][]place {
	t.Helper()
	if _, err := os.Stat(dualPath); err != nil {
		skips.Missing(t, err.Error())
	}
	if _, err := os.Stat(givenTokens); err != nil { // Python would take the real jieba and say nothing
		t.Fatal(err)
	}
	folder := t.TempDir()
	w.writeTokens(t, folder, chunks)
	ranks := filepath.Join(folder, "ranks.jsonl")
	joint := "?"
	if strings.Contains(url, "?") {
		joint = "&"
	}
	cmd := exec.Command(peersPython(t), dualPath, folder, url+joint+"options=-c%20enable_indexscan%3Doff",
		"--queries", fmt.Sprint(len(w.asked)), "--top-k", fmt.Sprint(dualPathTopK), "--out", ranks)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+givenTokens)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, brief.Of(out))
	}
	return readRanks(t, ranks)
}

// writeTokens writes the chunks and questions as sets of tokens. The question has
// those that are asked for, as often as it says them.
func (w *twoWays) writeTokens(t testing.TB, folder string, chunks []engine.Chunk) {
	t.Helper()
	var texts, vectors []any
	for _, c := range chunks {
		tokens := w.analyzer.Terms(c.Title + " " + c.Content)
		texts = append(texts, entry{ID: c.ID, Text: strings.Join(tokens, " ")})
		vectors = append(vectors, c.Vectors[engine.FieldVector])
	}
	writeSet(t, filepath.Join(folder, "corpus"), texts, vectors)
	texts, vectors = nil, nil
	for i, q := range w.asked {
		var tokens []string
		for _, term := range w.analyzer.ParsePlain(q.Text).Terms {
			for range term.Count {
				tokens = append(tokens, term.Text)
			}
		}
		texts = append(texts, entry{ID: fmt.Sprint(i), Text: strings.Join(tokens, " ")})
		vectors = append(vectors, q.Vector)
	}
	writeSet(t, filepath.Join(folder, "queries"), texts, vectors)
}

func readRanks(t testing.TB, path string) (all [][]place) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var answer struct{ Hits [][2]any }
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatal(err)
		}
		var places []place
		for _, h := range answer.Hits {
			places = append(places, place{h[0].(string), h[1].(float64)})
		}
		all = append(all, places)
	}
	return all
}

// shown is an answer as a line; scores that differ by rounding alone look the same.
func shown(answer []place) string {
	var line strings.Builder
	for _, p := range answer {
		fmt.Fprintf(&line, " %s %.12f", p.id, p.score)
	}
	return strings.TrimSpace(line.String())
}

// compared gives the questions whose answers differ, of those without ties, and
// counts the others.
func (w *twoWays) compared(t testing.TB, here, there [][]place) (different []int, tied int) {
	t.Helper()
	if len(here) != len(there) {
		t.Fatalf("%d answers and %d", len(here), len(there))
	}
	for i := range here {
		switch {
		case shown(here[i]) == shown(there[i]):
		case w.ties(t, i):
			tied++
		default:
			different = append(different, i)
		}
	}
	return different, tied
}

// ranks compares the best 5 with those of the Python program on chunks of which
// none is a copy: with every vector compared, and by the vector index.
func (p *onPostgres) ranks(b *testing.B) {
	chunks, asked := distinct(b, chunkCount), questions(b, dualQuestions)
	kb := okapiKB("ranks")
	exact, err := postgres.Open(b.Context(), postgres.Options{Settings: postgres.Settings{ExactLimit: 2 * chunkCount, KeywordWait: time.Minute}, URL: p.url, Tokenizer: p.analyzer})
	if err != nil {
		b.Fatal(err)
	}
	copied(b, exact, kb, chunks)
	w := newTwoWays(exact, p.analyzer, kb.ID, asked)
	here, there := w.here(b), w.python(b, p.url, chunks)
	different, tied := w.compared(b, here, there)
	for _, i := range different {
		b.Logf("%q:\n here %s\nthere %s", asked[i].Text, shown(here[i]), shown(there[i]))
	}
	if err := exact.Close(); err != nil {
		b.Fatal(err)
	}
	indexing := p.open(b)
	waitForIndex(b, indexing, kb)
	byIndex := newTwoWays(indexing, p.analyzer, kb.ID, asked)
	missed, _ := byIndex.compared(b, byIndex.here(b), there)
	show(
		b, figure{"questions", float64(len(asked))}, figure{"different", float64(len(different))},
		figure{"tied", float64(tied)}, figure{"different-by-index", float64(len(missed))},
	)
}

// distinct gives n chunks of which none has another's text: the data sets' own,
// and then the latter halves of their texts.
func distinct(b *testing.B, n int) []engine.Chunk {
	b.Helper()
	all := corpus(b, 0)
	random := rand.New(rand.NewPCG(7, 7))
	for _, c := range all[:n-len(all)] {
		text := []rune(c.Content)
		c.ID, c.Title, c.Content = c.ID+"-half", "", string(text[len(text)/2:])
		c.Vectors = map[string][]float32{engine.FieldVector: near(random, c.Vectors[engine.FieldVector])}
		all = append(all, c)
	}
	return all
}

// TestRRFRanksAsTheDualPath holds rrf on PostgreSQL to what the Python program
// answered on the same made-up chunks; -update asks it again.
func TestRRFRanksAsTheDualPath(t *testing.T) {
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	url := devservices.NewDatabase(t).URL
	e, err := postgres.Open(t.Context(), postgres.Options{Settings: postgres.Settings{KeywordWait: time.Minute}, URL: url, Tokenizer: analyzer})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	chunks, asked := madeUp()
	kb := okapiKB("made-up")
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Write(context.Background(), engine.WriteRequest{KB: kb, Chunks: chunks}); err != nil {
		t.Fatal(err)
	}
	w := newTwoWays(e, analyzer, kb.ID, asked)
	var lines strings.Builder
	answers := w.here(t)
	if golden.Updating() {
		answers = w.python(t, url, chunks)
	}
	untied := 0
	for i, answer := range answers {
		line := "its candidates tie"
		if !w.ties(t, i) {
			line = shown(answer)
			untied++
		}
		fmt.Fprintf(&lines, "%s: %s\n", asked[i].Text, line)
	}
	if untied < len(asked)/2 {
		t.Errorf("only %d of %d questions have no ties", untied, len(asked))
	}
	golden.Bytes(t, "dual_path.txt", []byte(lines.String()))
}

// madeUp are chunks and questions of English and Chinese words, with vectors that
// have nothing to do with them.
func madeUp() (chunks []engine.Chunk, asked []question) {
	random := rand.New(rand.NewPCG(11, 11))
	words := strings.Fields("refund warranty delivery invoice account password printer coffee engine vector " +
		"退款 保修 发票 订单 密码 北京 大学 咖啡 火车 数据库")
	for i := range 400 {
		words = append(words, fmt.Sprintf("word%d", i))
	}
	sentence := func(n int) string {
		var text []string
		for range n {
			often := math.Pow(random.Float64(), 2) // the first words are in many chunks
			text = append(text, words[int(often*float64(len(words)))])
		}
		return strings.Join(text, " ")
	}
	direction := func() []float32 { return near(random, make([]float32, dims)) }
	for i := range 300 {
		chunks = append(chunks, engine.Chunk{
			ID: fmt.Sprintf("c%03d", i), DocumentID: "d", Title: sentence(1), Content: sentence(10 + random.IntN(80)),
			Vectors: map[string][]float32{engine.FieldVector: direction()}, Available: true,
		})
	}
	for range 40 {
		asked = append(asked, question{sentence(2 + random.IntN(4)), direction()})
	}
	return chunks, asked
}
