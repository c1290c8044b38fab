package benchmarks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/skips"
	"github.com/hybridge-search/hybridge/textquery"
)

const (
	// textGenerator makes 100,000 documents of 92 tokens and 300 queries of 6.
	textGenerator = "../../../shared/tools/bm25_peers.py"
	searchRounds  = 7
	buildRounds   = 3
	topHits       = 100
	slowQueries   = 20 // of those that take a third of a second
)

// BenchmarkBM25 compares package bm25 with its peers on one processor, all in
// turn: every round each of them answers all queries, and the figures are the
// medians over the rounds.
func BenchmarkBM25(b *testing.B) {
	onOneProcessor(b)
	folder := generatedText(b)
	docs, textBytes := readDocs(b, filepath.Join(folder, "docs.txt"))
	queries := readQueries(b, filepath.Join(folder, "queries.txt"))
	peers := startPeers(b, folder)
	b.Run("build", func(b *testing.B) { benchmarkBuild(b, docs, peers) })
	b.Run("search", func(b *testing.B) { benchmarkSearch(b, build(b, docs, bm25.Options{}), queries, peers) })
	b.Run("stored", func(b *testing.B) { benchmarkStored(b, docs, textBytes) })
}

// onOneProcessor binds the process, and those it starts from now on, to one
// processor until the benchmark ends.
func onOneProcessor(b *testing.B) {
	b.Helper()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		b.Fatal(err)
	}
	last := 0
	for cpu := range 1024 {
		if before.IsSet(cpu) {
			last = cpu
		}
	}
	var one unix.CPUSet
	one.Set(last)
	bind(b, &one)
	procs := runtime.GOMAXPROCS(1)
	b.Cleanup(func() {
		runtime.GOMAXPROCS(procs)
		bind(b, &before)
	})
}

// bind sets the processors of every thread; new ones inherit them.
func bind(b *testing.B, set *unix.CPUSet) {
	b.Helper()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		b.Fatal(err)
	}
	for _, thread := range threads {
		var id int
		if _, err := fmt.Sscan(thread.Name(), &id); err != nil {
			b.Fatal(err)
		}
		if err := unix.SchedSetaffinity(id, set); err != nil {
			b.Fatal(err)
		}
	}
}

// generatedText makes the documents once and keeps them in the cache.
func generatedText(b *testing.B) string {
	b.Helper()
	if _, err := os.Stat(textGenerator); err != nil {
		skips.Missing(b, err.Error())
	}
	python := peersPython(b)
	folder := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(python))), "bm25-text")
	if _, err := os.Stat(filepath.Join(folder, "complete")); err == nil {
		return folder
	}
	cmd := exec.Command(python, textGenerator, "--dump", folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, brief.Of(out))
	}
	if err := os.WriteFile(filepath.Join(folder, "complete"), nil, 0o600); err != nil {
		b.Fatal(err)
	}
	return folder
}

func peersPython(b testing.TB) string {
	b.Helper()
	out, err := exec.Command("../../scripts/bench/install-peers").Output()
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func readLines(b *testing.B, path string) [][]string {
	b.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	var all [][]string
	for line := range strings.Lines(string(data)) {
		all = append(all, strings.Fields(line))
	}
	return all
}

func readDocs(b *testing.B, path string) (docs []bm25.Doc, size int) {
	b.Helper()
	for i, tokens := range readLines(b, path) {
		docs = append(docs, bm25.Doc{Key: uint32(i), Tokens: tokens})
		for _, token := range tokens {
			size += len(token) + 1
		}
	}
	return docs, size
}

func readQueries(b *testing.B, path string) []*textquery.Query {
	b.Helper()
	var all []*textquery.Query
	for _, tokens := range readLines(b, path) {
		weights := map[string]float64{} // a word that stands twice counts twice
		for _, token := range tokens {
			weights[token]++
		}
		q := &textquery.Query{}
		for _, token := range tokens {
			if w := weights[token]; w > 0 {
				q.Terms = append(q.Terms, textquery.Term{Text: token, Weight: w})
				delete(weights, token)
			}
		}
		all = append(all, q)
	}
	return all
}

func build(b *testing.B, docs []bm25.Doc, o bm25.Options) *bm25.Index {
	b.Helper()
	x := bm25.New(o)
	if err := x.Add(docs); err != nil {
		b.Fatal(err)
	}
	return x
}

func benchmarkBuild(b *testing.B, docs []bm25.Doc, p *peers) {
	own, tantivy, bm25s, without := []float64{}, []float64{}, []float64{}, []float64{}
	for range buildRounds {
		runtime.GC()
		start := time.Now()
		build(b, docs, bm25.Options{})
		own = append(own, time.Since(start).Seconds())
		start = time.Now()
		build(b, docs, bm25.Options{WithoutPositions: true})
		without = append(without, time.Since(start).Seconds())
		tantivy = append(tantivy, p.build(b, "tantivy"))
		bm25s = append(bm25s, p.build(b, "bm25s"))
	}
	rank := p.build(b, "rank_bm25")
	show(
		b,
		figure{"s", median(own)}, figure{"without-positions-s", median(without)},
		figure{"tantivy-s", median(tantivy)}, figure{"bm25s-s", median(bm25s)}, figure{"rank_bm25-s", rank},
		figure{"of-tantivy", median(ratios(own, tantivy))},
		figure{"times-faster-bm25s", median(ratios(bm25s, own))},
	)
}

func benchmarkSearch(b *testing.B, x *bm25.Index, queries []*textquery.Query, p *peers) {
	s := x.Snapshot()
	p50, p99 := map[string][]float64{}, map[string][]float64{}
	note := func(name string, took times) {
		p50[name] = append(p50[name], milliseconds(took.percentile(50)))
		p99[name] = append(p99[name], milliseconds(took.percentile(99)))
	}
	for range searchRounds {
		runtime.GC()
		var took times
		for _, q := range queries {
			start := time.Now()
			s.Search(b.Context(), q, topHits, nil)
			took = append(took, time.Since(start))
		}
		note("own", took)
		note("tantivy", p.search(b, "tantivy", len(queries)))
		note("bm25s", p.search(b, "bm25s", len(queries)))
	}
	note("rank_bm25", p.search(b, "rank_bm25", slowQueries))
	show(
		b,
		figure{"p50-ms", median(p50["own"])}, figure{"p99-ms", median(p99["own"])},
		figure{"tantivy-p50-ms", median(p50["tantivy"])}, figure{"tantivy-p99-ms", median(p99["tantivy"])},
		figure{"bm25s-p50-ms", median(p50["bm25s"])}, figure{"bm25s-p99-ms", median(p99["bm25s"])},
		figure{"rank_bm25-p50-ms", p50["rank_bm25"][0]},
		figure{"of-tantivy-p50", median(ratios(p50["own"], p50["tantivy"]))},
		figure{"of-tantivy-p99", median(ratios(p99["own"], p99["tantivy"]))},
		figure{"times-faster-rank_bm25", p50["rank_bm25"][0] / median(p50["own"])},
	)
}

func benchmarkStored(b *testing.B, docs []bm25.Doc, textBytes int) {
	figures := []figure{{"text-MB", float64(textBytes) / 1e6}}
	for name, o := range map[string]bm25.Options{"": {}, "without-positions-": {WithoutPositions: true}} {
		x := build(b, docs, o)
		var stored bytes.Buffer
		if _, err := x.Snapshot().WriteTo(&stored); err != nil {
			b.Fatal(err)
		}
		var took []float64
		for range searchRounds {
			start := time.Now()
			if _, err := bm25.Read(stored.Bytes(), o); err != nil {
				b.Fatal(err)
			}
			took = append(took, milliseconds(time.Since(start)))
		}
		figures = append(
			figures,
			figure{name + "%-of-text", 100 * float64(stored.Len()) / float64(textBytes)},
			figure{name + "read-ms", median(took)},
			figure{name + "memory-MB", float64(x.Snapshot().Bytes()) / 1e6},
		)
	}
	show(b, figures...)
}

// peers is the process that holds the other indexes.
type peers struct {
	commands io.Writer
	answers  *bufio.Reader
}

func startPeers(b *testing.B, folder string) *peers {
	b.Helper()
	cmd := exec.Command(peersPython(b), "../../scripts/bench/bm25_peers.py", folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close() // it ends with its input
		_ = cmd.Wait()
	})
	p := &peers{commands: in, answers: bufio.NewReader(out)}
	if _, err := p.answers.ReadBytes('\n'); err != nil {
		b.Fatal(err)
	}
	return p
}

func (p *peers) ask(b *testing.B, command string, answer any) {
	b.Helper()
	if _, err := fmt.Fprintln(p.commands, command); err != nil {
		b.Fatal(err)
	}
	line, err := p.answers.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, answer)
	}
	if err != nil {
		b.Fatalf("%s: %v", command, err)
	}
}

func (p *peers) build(b *testing.B, name string) (seconds float64) {
	b.Helper()
	p.ask(b, "build "+name, &seconds)
	return seconds
}

func (p *peers) search(b *testing.B, name string, n int) times {
	b.Helper()
	var ms []float64
	p.ask(b, fmt.Sprintf("search %s %d", name, n), &ms)
	took := make(times, len(ms))
	for i := range ms {
		took[i] = time.Duration(ms[i] * float64(time.Millisecond))
	}
	return took
}
