package benchmarks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/devservices"
)

// sizes are the numbers of chunks that a knowledge base grows to.
var sizes = []int{1_000, 10_000, 100_000}

const growthQuestions = 40

// BenchmarkGrowth lets a knowledge base grow on each engine and asks the same
// questions at each size, over HTTP, by every preset.
func BenchmarkGrowth(b *testing.B) {
	target := strings.TrimSuffix(devservices.Elasticsearch(b), "/")
	chunks := corpus(b, sizes[len(sizes)-1])
	asked := questions(b, growthQuestions)
	for _, engineName := range []string{"embedded", "elasticsearch"} {
		b.Run(engineName, func(b *testing.B) {
			w := &world{target: target, kb: fmt.Sprint("growth", os.Getpid()), chunks: chunks, questions: asked}
			w.gateway = startGateway(b, target)
			w.gateway.create(b, engineName, w.kb)
			w.grow(b, engineName)
		})
	}
}

// grow writes up to each size and measures there.
func (w *world) grow(b *testing.B, engineName string) {
	written := 0
	var building time.Duration
	for _, size := range sizes {
		start := time.Now()
		w.gateway.add(b, w.kb, w.chunks[written:size])
		building += time.Since(start)
		written = size
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			figures := []figure{{"build-s", building.Seconds()}, {"gateway-MB", w.gateway.resident(b)}}
			if engineName == "elasticsearch" {
				figures = append(figures, figure{"stored-MB", w.stored(b)})
			}
			for _, preset := range append(presets, "vector") {
				figures = append(figures, figure{preset + "-p50-ms", w.latency(b, preset)})
			}
			show(b, figures...)
		})
	}
}

// latency is the median of the preset's searches, after one round to warm up.
func (w *world) latency(b *testing.B, preset string) float64 {
	b.Helper()
	bodies := w.bodies(b, preset, w.questions)
	search := func(i int) error { return w.gateway.search(bodies[i]) }
	warmUp(b, len(bodies), search)
	took := inTurn(b, len(bodies), contestant{preset, search})
	return milliseconds(took[preset].percentile(50))
}

// stored is the size of the knowledge base's index in MB.
func (w *world) stored(b *testing.B) float64 {
	b.Helper()
	res, err := http.Get(w.target + "/_cat/indices/*" + w.kb + "*?format=json&bytes=b&h=store.size")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var indices []struct {
		Size float64 `json:"store.size,string"`
	}
	if err := json.NewDecoder(res.Body).Decode(&indices); err != nil || len(indices) != 1 {
		b.Fatalf("%d indices: %v", len(indices), err)
	}
	return indices[0].Size / 1e6
}
