package benchmarks

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/internal/skips"
	"github.com/hybridge-search/hybridge/textquery"
)

const (
	// dualPath is rrf as a Python program without a gateway does it.
	dualPath       = "../../../shared/tools/dual_path_reference.py"
	dualQuestions  = 300
	copyBatch      = 1000
	databaseLoads  = 5
	postgresRounds = 6
)

// BenchmarkPostgres measures rrf on 20,000 chunks, beside the same in Python on the
// same PostgreSQL; how fast chunks go in; and loading a large keyword index.
func BenchmarkPostgres(b *testing.B) {
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		b.Fatal(err)
	}
	p := &onPostgres{analyzer: analyzer, url: devservices.NewDatabase(b).URL}
	b.Run("ingest", p.ingest)
	b.Run("rrf", p.rrf)
	b.Run("ranks", p.ranks)
	b.Run("load", p.load)
}

// onPostgres is a database with a knowledge base, once ingest has run.
type onPostgres struct {
	analyzer *tokens.Analyzer
	url      string
}

const postgresBase = "bench"

func (p *onPostgres) open(b *testing.B) *postgres.Engine {
	b.Helper()
	e, err := postgres.Open(b.Context(), postgres.Options{Settings: postgres.Settings{KeywordWait: time.Minute}, URL: p.url, Tokenizer: p.analyzer})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	return e
}

// copied makes a knowledge base of chunks and tells how long writing them took: one
// batch is made ready while PostgreSQL takes the other.
func copied(b *testing.B, e *postgres.Engine, kb engine.KnowledgeBase, chunks []engine.Chunk) time.Duration {
	b.Helper()
	if err := e.CreateKnowledgeBase(b.Context(), kb); err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	var writers errgroup.Group
	writers.SetLimit(2)
	for part := range slices.Chunk(chunks, copyBatch) {
		writers.Go(func() error {
			_, err := e.Write(b.Context(), engine.WriteRequest{KB: kb, Chunks: part})
			return err
		})
	}
	if err := writers.Wait(); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun)
}

func postgresKB(id string, dimensions int) engine.KnowledgeBase {
	return engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: tenant, ID: id}, Name: id, Engine: postgres.Name,
		Kind: engine.KindChunks, Dimensions: dimensions, Analyzer: engine.AnalyzerJieba,
	}
}

// ingest writes by COPY without a vector index, and waits for the index.
func (p *onPostgres) ingest(b *testing.B) {
	chunks := corpus(b, chunkCount)
	e, kb := p.open(b), postgresKB(postgresBase, dims)
	begun := time.Now()
	wrote := copied(b, e, kb, chunks)
	waitForIndex(b, e, kb)
	whole := time.Since(begun)
	rate := func(took time.Duration) float64 { return float64(len(chunks)) / took.Seconds() }
	show(
		b, figure{"copied/s", rate(wrote)},
		figure{"with-index/s", rate(whole)}, figure{"index-s", (whole - wrote).Seconds()},
	)
}

func waitForIndex(b *testing.B, e *postgres.Engine, kb engine.KnowledgeBase) {
	b.Helper()
	for !indexed(b, e, kb) {
		time.Sleep(50 * time.Millisecond)
	}
}

func indexed(b *testing.B, e *postgres.Engine, kb engine.KnowledgeBase) bool {
	b.Helper()
	d, err := e.Describe(b.Context(), kb)
	if err != nil {
		b.Fatal(err)
	}
	state, _ := d.Details["vector_index"].(map[string]string)
	return state[engine.FieldVector] == "hnsw"
}

// serve is the real binary on the database, without Redis.
func (p *onPostgres) serve(b *testing.B) *gateway {
	b.Helper()
	binary, err := buildBinary()
	if err != nil {
		b.Fatal(err)
	}
	address := freeAddress(b)
	g := &gateway{url: "http://" + address, client: newClient(false)}
	g.cmd = exec.Command(binary, "serve", "--listen", address, "--data-dir", b.TempDir(), "--log-level", "warn",
		"--postgres-url", p.url)
	g.cmd.Env = append(os.Environ(), "HYBRIDGE_RESULT_CACHE_TTL=0s")
	startProcess(b, g.cmd, g.url+"/readyz")
	return g
}

// rrf measures the gateway over HTTP, and then the Python program on the same
// chunks, questions and server; it asks one question after the other.
func (p *onPostgres) rrf(b *testing.B) {
	asked := questions(b, dualQuestions)
	g := p.serve(b)
	bodies := make([][]byte, len(asked))
	for i, q := range asked {
		body, err := json.Marshal(map[string]any{
			"query": q.Text, "plain": true, "knowledge_bases": []string{postgresBase}, "preset": "rrf", "vector": q.Vector,
		})
		if err != nil {
			b.Fatal(err)
		}
		bodies[i] = body
	}
	warmUp(b, 20, func(i int) error { return g.search(bodies[i]) })
	took := inTurn(b, len(bodies), contestant{"gateway", func(i int) error { return g.search(bodies[i]) }})
	served := rates(b, clients, postgresRounds, saturation,
		contestant{"gateway", func(i int) error { return g.search(bodies[i%len(bodies)]) }})
	python := p.dualPath(b, asked)
	show(
		b, append(noise(took),
			figure{"p50-ms", milliseconds(took["gateway"].percentile(50))},
			figure{"p99-ms", milliseconds(took["gateway"].percentile(99))},
			figure{"qps", median(served["gateway"])},
			figure{"python-p50-ms", python.p50}, figure{"python-p99-ms", python.p99}, figure{"python-qps", python.qps},
			figure{"times-python", median(served["gateway"]) / python.qps},
		)...)
}

type dualPathFigures struct{ p50, p99, qps float64 }

// dualPath gives the program the chunks as a data set of its own form.
func (p *onPostgres) dualPath(b *testing.B, asked []question) (f dualPathFigures) {
	b.Helper()
	if _, err := os.Stat(dualPath); err != nil {
		skips.Missing(b, err.Error())
	}
	folder := b.TempDir()
	var texts, vectors []any
	for _, c := range corpus(b, chunkCount) {
		texts = append(texts, entry{ID: c.ID, Title: c.Title, Text: c.Content})
		vectors = append(vectors, c.Vectors[engine.FieldVector])
	}
	writeSet(b, filepath.Join(folder, "corpus"), texts, vectors)
	texts, vectors = nil, nil
	for i, q := range asked {
		texts = append(texts, entry{ID: fmt.Sprint(i), Text: q.Text})
		vectors = append(vectors, q.Vector)
	}
	writeSet(b, filepath.Join(folder, "queries"), texts, vectors)
	out, err := exec.Command(peersPython(b), dualPath, folder, p.url, "--queries", fmt.Sprint(len(asked))).CombinedOutput()
	if err == nil {
		_, after, _ := bytes.Cut(out, []byte("search p50 "))
		_, err = fmt.Sscanf(string(after), "%f ms, p99 %f ms, %f searches/s", &f.p50, &f.p99, &f.qps)
	}
	if err != nil {
		b.Fatalf("%v\n%s", err, brief.Of(out))
	}
	return f
}

func writeSet(b testing.TB, path string, texts, vectors []any) {
	b.Helper()
	var lines, numbers bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for i := range texts {
		if err := encoder.Encode(texts[i]); err != nil {
			b.Fatal(err)
		}
		if err := binary.Write(&numbers, binary.LittleEndian, vectors[i]); err != nil {
			b.Fatal(err)
		}
	}
	for end, content := range map[string][]byte{".jsonl": lines.Bytes(), ".e5.f32": numbers.Bytes()} {
		if err := os.WriteFile(path+end, content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// load is what the first search of a new process waits for when only PostgreSQL has
// the keyword index, of 100,000 chunks.
func (p *onPostgres) load(b *testing.B) {
	texts := keywordTexts(b, keywordChunks)
	chunks := make([]engine.Chunk, len(texts))
	for i, text := range texts {
		chunks[i] = engine.Chunk{ID: fmt.Sprint("c", i), DocumentID: fmt.Sprint("d", i/10), Content: text, Available: true}
	}
	kb, first := postgresKB("large", 0), p.open(b)
	copied(b, first, kb, chunks)
	build := p.firstSearch(b, first, kb)
	for n, _ := first.Keywords().Totals(); n.Saves == 0; n, _ = first.Keywords().Totals() {
		time.Sleep(50 * time.Millisecond)
	}
	var took []float64
	for range databaseLoads {
		e := p.open(b)
		if _, err := e.Describe(b.Context(), kb); err != nil { // it is connected
			b.Fatal(err)
		}
		took = append(took, milliseconds(p.firstSearch(b, e, kb)))
		if n, _ := e.Keywords().Totals(); n.Builds != 0 {
			b.Fatal("the index was built, not loaded")
		}
		_ = e.Close()
	}
	show(b, figure{"build-s", build.Seconds()}, figure{"load-ms", median(took)})
}

func (p *onPostgres) firstSearch(b *testing.B, e *postgres.Engine, kb engine.KnowledgeBase) time.Duration {
	b.Helper()
	query := &textquery.Query{}
	for _, term := range p.analyzer.Terms("how to apply for a refund 如何申请退款") {
		query.Terms = append(query.Terms, textquery.Term{Text: term, Weight: 1})
	}
	begun := time.Now()
	result, err := e.Search(b.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{
		{Name: "text", Field: engine.FieldText, K: 15, Text: query},
	}})
	if err != nil || len(result.Hits) == 0 || result.Legs[0].Err != nil {
		b.Fatalf("%v, %+v; want no error and some result.Hits and no error", err, result)
	}
	return time.Since(begun)
}
