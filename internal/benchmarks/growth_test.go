package benchmarks

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/internal/skips"
)

// sizesVariable names the sizes that a knowledge base grows to, per engine, as
// "embedded=1000,10000 elasticsearch=1000"; without it nothing grows.
const sizesVariable = "HYBRIDGE_TEST_SIZES"

const (
	growthQuestions = 40
	growthBatch     = 1000 // chunks of a request
	syntheticWords  = 92   // of a synthetic chunk
)

// growthPresets are those that differ in what they ask of an engine: technical,
// general and conversational are script_score with other weights.
var growthPresets = []string{"script_score", "balanced", "linear", "rrf", "text", "vector"}

// BenchmarkGrowth lets a knowledge base grow on each engine and asks the same
// questions at each size, over HTTP, by every preset.
func BenchmarkGrowth(b *testing.B) {
	wanted, given := os.LookupEnv(sizesVariable)
	if !given {
		skips.ByDesign(b, "`make growth` says how large: "+sizesVariable+" is not set")
	}
	made := newMaker(b)
	asked := questions(b, growthQuestions)
	for _, of := range strings.Fields(wanted) {
		engineName, list, _ := strings.Cut(of, "=")
		sizes := numbers(b, list)
		b.Run(engineName, func(b *testing.B) {
			w := &world{kb: fmt.Sprint("growth", os.Getpid()), questions: asked}
			if engineName == "elasticsearch" {
				w.target = strings.TrimSuffix(devservices.Elasticsearch(b), "/")
			}
			folder := b.TempDir()
			w.gateway = startGatewayIn(b, folder, w.target)
			g := &growth{world: w, maker: made, whole: b, engine: engineName, folder: folder}
			w.gateway.makeBase(b, engineName, w.kb)
			for _, size := range sizes {
				g.growTo(b, size)
			}
			w.gateway.remove(b, w.kb)
		})
	}
}

func numbers(b *testing.B, list string) (all []int) {
	b.Helper()
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			b.Fatalf("%s: %q is no size", sizesVariable, text)
		}
		all = append(all, n)
	}
	return all
}

// maker makes the chunks of a growing knowledge base: first those of the data
// sets, then any number of synthetic ones. Their words are drawn from all the
// words of the data sets, so each is as frequent as there, which is about Zipf's
// law; their vectors are random directions.
type maker struct {
	real  []engine.Chunk
	words []string
}

func newMaker(b *testing.B) *maker {
	b.Helper()
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		b.Fatal(err)
	}
	m := &maker{real: corpus(b, 0)}
	for i := range m.real {
		m.words = append(m.words, analyzer.Terms(m.real[i].Content)...)
	}
	return m
}

// between gives the i-th to the last before the j-th chunk, the same ones always.
func (m *maker) between(i, j int) []engine.Chunk {
	var all []engine.Chunk
	for n := i; n < j; n++ {
		if n < len(m.real) {
			all = append(all, m.real[n])
			continue
		}
		random := rand.New(rand.NewPCG(9, uint64(n)))
		words := make([]string, syntheticWords)
		for w := range words {
			words[w] = m.words[random.IntN(len(m.words))]
		}
		id := strconv.Itoa(n)
		all = append(all, engine.Chunk{
			ID: "synthetic-" + id, DocumentID: "synthetic-" + strconv.Itoa(n/10), Content: strings.Join(words, " "),
			Vectors: map[string][]float32{engine.FieldVector: randomDirection(random)}, Available: true,
		})
	}
	return all
}

func randomDirection(random *rand.Rand) []float32 {
	v := make([]float32, dims)
	square := 0.0
	for i := range v {
		x := random.NormFloat64()
		v[i] = float32(x)
		square += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

// growth is a knowledge base that grows.
type growth struct {
	*world
	*maker

	whole          *testing.B // of all sizes
	engine, folder string
	written        int
	building       time.Duration
}

// growTo writes up to a size and measures there.
func (g *growth) growTo(b *testing.B, size int) {
	for g.written < size {
		to := min(g.written+growthBatch, size)
		body := lines(b, g.between(g.written, to))
		start := time.Now()
		g.gateway.addLines(b, g.kb, addition{body: body, count: to - g.written, refresh: to == size})
		g.building += time.Since(start)
		g.written = to
	}
	b.Run(strconv.Itoa(size), func(b *testing.B) {
		figures := []figure{{"build-s", g.building.Seconds()}}
		if g.engine == "elasticsearch" {
			g.awaitMerges(b)
		}
		took := g.latencies(b)
		for _, preset := range growthPresets {
			figures = append(figures, figure{preset + "-p50-ms", milliseconds(took[preset].percentile(50))},
				figure{preset + "-p99-ms", milliseconds(took[preset].percentile(99))})
		}
		figures = append(figures, figure{"gateway-MB", g.gateway.resident(b)})
		if g.engine == "elasticsearch" {
			figures = append(figures, figure{"stored-MB", g.stored(b)})
		} else {
			figures = append(figures, figure{"stored-MB", sizeMB(b, g.folder)}, figure{"load-s", g.restart(b).Seconds()})
		}
		show(b, figures...)
	})
}

// latencies gives what each preset's searches took, question by question in turn, after
// one round to warm up.
func (g *growth) latencies(b *testing.B) map[string]times {
	b.Helper()
	presets := make([]contestant, len(growthPresets))
	for i, preset := range growthPresets {
		bodies := g.bodies(b, preset, g.questions)
		presets[i] = contestant{preset, func(i int) error { return g.gateway.search(bodies[i]) }}
		warmUp(b, len(bodies), presets[i].run)
	}
	return inTurn(b, len(g.questions), presets...)
}

// mergesWait is how long Elasticsearch may merge what was written before it is asked.
const mergesWait = 15 * time.Minute

// awaitMerges waits until Elasticsearch has had nothing to merge for some seconds: while
// it builds vector indexes of merged segments a search takes twice as long. A million
// chunks are merged for longer than anybody waits.
func (w *world) awaitMerges(b *testing.B) {
	b.Helper()
	const seconds = 5
	until := time.Now().Add(mergesWait)
	for quiet := 0; quiet < seconds && time.Now().Before(until); time.Sleep(time.Second) {
		var stats struct {
			All struct {
				Total struct {
					Merges struct {
						Current int `json:"current"`
					} `json:"merges"`
				} `json:"total"`
			} `json:"_all"`
		}
		w.ask(b, "/_stats/merge", &stats)
		quiet++
		if stats.All.Total.Merges.Current > 0 {
			quiet = 0
		}
	}
}

// restart ends the gateway as a service manager does, and gives the time that a
// new one takes from its start to its first answer.
func (g *growth) restart(b *testing.B) time.Duration {
	b.Helper()
	if err := g.gateway.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	_ = g.gateway.cmd.Wait()
	begun := time.Now()
	g.gateway = startGatewayIn(g.whole, g.folder, g.target)
	body := g.bodies(b, "text", g.questions[:1])[0]
	if err := g.gateway.search(body); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun)
}

// stored is the size of the knowledge base's index in MB.
func (w *world) stored(b *testing.B) float64 {
	b.Helper()
	var indices []struct {
		Size float64 `json:"store.size,string"`
	}
	w.ask(b, "/_cat/indices/*"+w.kb+"*?format=json&bytes=b&h=store.size", &indices)
	if len(indices) != 1 {
		b.Fatalf("%d indices of %s; want 1 indices", len(indices), w.kb)
	}
	return indices[0].Size / 1e6
}

// ask reads what Elasticsearch answers.
func (w *world) ask(b *testing.B, path string, into any) {
	b.Helper()
	res, err := http.Get(w.target + path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s, %v; want no error and res.StatusCode StatusOK", path, res.Status, err)
	}
}

// sizeMB is what the files of a folder take.
func sizeMB(b *testing.B, folder string) float64 {
	b.Helper()
	total := int64(0)
	err := filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return float64(total) / 1e6
}
