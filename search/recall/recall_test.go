package recall_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"math"
	random "math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/recall"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var scope = access.Scope{Tenant: "acme"}

const (
	exactLimit = 100 // so that indexes answer
	dims       = 256 // random vectors of so many dimensions are hard for a graph
	many       = 6000
)

// opened opens an engine with indexes of vectors for few chunks.
var opened = map[string]func(t *testing.T, tokens engine.Tokenizer) (engine.Engine, error){
	"embedded": func(t *testing.T, tokens engine.Tokenizer) (engine.Engine, error) {
		return embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: tokens})
	},
	"postgres": func(t *testing.T, tokens engine.Tokenizer) (engine.Engine, error) {
		return postgres.Open(t.Context(), postgres.Options{
			Settings: postgres.Settings{Schema: "recall_test_" + strings.ToLower(rand.Text()[:10]), ExactLimit: exactLimit, KeywordWait: 10 * time.Second, Timeout: time.Minute},
			URL:      devservices.Postgres(t), Tokenizer: tokens,
		})
	},
	"elasticsearch": func(t *testing.T, tokens engine.Tokenizer) (engine.Engine, error) {
		server, prefix := devservices.Indices(t)
		return elastic.New(elastic.Options{
			Settings: elastic.Settings{IndexPrefix: prefix, ExactLimit: exactLimit, Timeout: time.Minute},
			URLs:     []string{server}, Tokenizer: tokens, Transport: &http.Transport{DisableKeepAlives: true}, // leaves no goroutine behind
		})
	},
}

// bench is a measurer over a real engine with a knowledge base "kb".
type bench struct {
	*testing.T
	engine   engine.Engine
	searcher *search.Searcher
	measurer *recall.Measurer
	registry *prometheus.Registry
	kb       engine.KnowledgeBase
}

func newBench(t *testing.T, engineName string, chunks []engine.Chunk) *bench {
	t.Helper()
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, registry: prometheus.NewRegistry()}
	if b.engine, err = opened[engineName](t, analyzer); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.engine.Close() })
	all := catalog.New([]engine.Engine{b.engine}, catalog.Options{DefaultEngine: engineName})
	b.searcher = search.New(search.Options{
		Catalog: all, Analyzer: analyzer, Planners: presets.Builtin(), DefaultPreset: presets.Default,
	})
	b.measurer = recall.New(b.searcher, b.registry)
	for id, n := range map[string]int{"kb": dims, "words": 0} {
		kb, err := all.Create(t.Context(), scope, catalog.Spec{ID: id, Kind: engine.KindChunks, Dimensions: &n})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.engine.DeleteKnowledgeBase(context.Background(), kb.Ref) })
		if n > 0 {
			b.kb = kb
		}
	}
	for part := range slices.Chunk(chunks, 1000) {
		if _, err := b.engine.Write(t.Context(), engine.WriteRequest{KB: b.kb, Chunks: part, Refresh: true}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// scattered are chunks with random vectors, of which every third is marked.
func scattered(n int) []engine.Chunk {
	rng := random.New(random.NewPCG(3, 4))
	chunks := make([]engine.Chunk, n)
	for i := range chunks {
		chunks[i] = engine.Chunk{
			ID: fmt.Sprintf("c%05d", i), DocumentID: "d", Available: true, Content: fmt.Sprintf("chapter %d of the manual", i%50),
			Metadata: map[string]any{"third": i%3 == 0},
			Vectors:  map[string][]float32{engine.FieldVector: randomVector(rng)},
		}
	}
	return chunks
}

func randomVector(rng *random.Rand) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

// measure measures until the index of the knowledge base answers, which PostgreSQL builds when writers pause.
func (b *bench) measure(req *recall.Request, method string) *recall.Report {
	b.Helper()
	for began := time.Now(); ; time.Sleep(time.Second / 2) {
		r, err := b.measurer.Measure(b.Context(), scope, "kb", req)
		if err != nil {
			b.Fatal(err)
		}
		if r.Fields[0].Methods[method] == r.Measured {
			return r
		}
		if time.Since(began) > time.Minute {
			b.Fatalf("answered by %v, want %s", r.Fields[0].Methods, method)
		}
	}
}

func asking(preset string, sample int) *recall.Request {
	candidates := 10
	return &recall.Request{Preset: preset, Sample: &sample, Candidates: &candidates}
}

// TestIndexesLoseSomething: random vectors of many dimensions are where graphs miss some of the nearest, and the
// engine that compares all misses none. A preset that ranks by vectors alone loses as much as its field does.
func TestIndexesLoseSomething(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(opened)) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, name, scattered(many))
			method := map[string]string{"embedded": "exact", "postgres": "hnsw", "elasticsearch": "knn"}[name]
			r := b.measure(asking("vector", 40), method)
			f := &r.Fields[0]
			t.Logf("%s: recall %s, %d lost, usual %.1f ms, exact %.1f ms; moments %+v; answers %s; %s", name,
				f.Recall.Interval, f.Recall.Lost, f.ApproximateMS, f.ExactMS, *f.Moments, r.Answers.Kept.Interval, r.WayOut)
			if r.Asked != 40 || r.Measured != 40 || r.Why != "" || f.Vectors != many || r.Engine != name {
				t.Errorf("%+v", r)
			}
			lossless := f.Recall.Mean == 1 && f.Recall.Lost == 0 && f.Recall.Worst == nil && r.WayOut == ""
			if name == "embedded" && !lossless {
				t.Errorf(`lost %+v; %s; want name other than "embedded" or lossless`, f.Recall, r.WayOut)
			}
			if name != "embedded" && (f.Recall.Lost == 0 || f.Recall.Worst == nil) {
				t.Errorf("nothing is lost: %+v", f.Recall)
			}
			if told := strings.Contains(r.WayOut, name+".exact_limit from 6000 on"); told != (f.Recall.High < 0.99) {
				t.Errorf("recall %s; %s", f.Recall.Interval, r.WayOut)
			}
			if math.Abs(f.Recall.Mean-r.Answers.Kept.Mean) > 0.02 {
				t.Errorf("the field keeps %s, the answers keep %s; want math.Abs(f.Recall.Mean - r.Answers.Kept.Mean) at most 0.02", f.Recall.Interval, r.Answers.Kept.Interval)
			}
			m := f.Moments
			if m == nil || m.Sample != 500 || m.Mean <= 0 || m.WorstMean > 0.3 || math.Abs(m.WorstBy-1) > 0.2 {
				t.Errorf("moments %+v; want a m and m.Sample 500 and m.Mean above 0 and m.WorstMean at most 0.3 and math.Abs(m.WorstBy - 1) at most 0.2", m)
			}
			if got := gaugeOf(t, b); got != f.Recall.Mean {
				t.Errorf("the gauge is %v, want %v", got, f.Recall.Mean)
			}
			joint := b.measure(asking(presets.Default, 10), method)
			if s := joint.Answers.Statistics; s == nil || s.Mean < 0.8 {
				t.Errorf("sampled moments: %+v; want a s and s.Mean at least 0.8", s)
			}
			again := b.measure(asking("vector", 40), method)
			// Elasticsearch may have merged segments meanwhile, whose graph is another one.
			moved := math.Abs(again.Fields[0].Recall.Mean - f.Recall.Mean)
			if again.Fields[0].Recall.Interval != f.Recall.Interval && (name != "elasticsearch" || moved > 0.1) {
				t.Errorf("measured twice: %s, then %s", f.Recall.Interval, again.Fields[0].Recall.Interval)
			}
		})
	}
}

// gaugeOf is hybridge_recall, of the one engine and field that were measured.
func gaugeOf(t *testing.T, b *bench) float64 {
	t.Helper()
	families, err := b.registry.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "hybridge_recall" || len(families[0].GetMetric()) != 1 {
		t.Fatalf(`metrics %v, %v; want no error and 1 families and families[0].GetName() "hybridge_recall" and 1 families[0].GetMetric()`, families, err)
	}
	return families[0].GetMetric()[0].GetGauge().GetValue()
}

// TestMeasuresWithinTheScope: what a key is not for is neither asked nor found.
func TestMeasuresWithinTheScope(t *testing.T) {
	b := newBench(t, "embedded", scattered(900))
	bound := access.Scope{Tenant: "acme", Filter: []filter.Condition{{Field: "third", In: []filter.Value{{V: true}}}}}
	r, err := b.measurer.Measure(t.Context(), bound, "kb", asking("vector", 500))
	if err != nil {
		t.Fatal(err)
	}
	if r.Asked < 120 || r.Asked > 220 || r.Measured != r.Asked || r.Fields[0].Recall.Mean != 1 || r.Answers.Kept.Mean != 1 {
		t.Errorf("of 500 sampled, a third: %+v", r)
	}
	for _, other := range []access.Scope{{Tenant: "other"}, {Tenant: "acme", KnowledgeBases: []string{"words"}}} {
		if _, err := b.measurer.Measure(t.Context(), other, "kb", &recall.Request{}); !fault.Is(err, fault.NotFound) {
			t.Errorf("%+v: %v; want an error of kind NotFound", other, err)
		}
	}
	none := access.Scope{Tenant: "acme", Filter: []filter.Condition{{Field: "third", In: []filter.Value{{V: "no"}}}}}
	if _, err := b.measurer.Measure(t.Context(), none, "kb", &recall.Request{}); !fault.Is(err, fault.Conflict) {
		t.Errorf("nothing to ask for: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(t, "embedded", scattered(10))
	zero, much, one := 0, 501, 1
	f := func(kb string, req recall.Request, kind fault.Kind, detail string) {
		t.Helper()
		_, err := b.measurer.Measure(t.Context(), scope, kb, &req)
		if !fault.Is(err, kind) || !strings.Contains(err.Error(), detail) {
			t.Errorf("%+v: %v, want %s: %s", req, err, kind, detail)
		}
	}
	invalid := fault.InvalidArgument
	f("kb", recall.Request{Sample: &zero}, invalid, "sample is 0; it must be 1 to 500")
	f("kb", recall.Request{Sample: &much}, invalid, "sample is 501")
	f("kb", recall.Request{K: &zero}, invalid, "k is 0; it must be 1 to 100")
	f("kb", recall.Request{Candidates: &zero}, invalid, "candidates is 0")
	f("kb", recall.Request{Sample: &one, Queries: []string{"q"}}, invalid, "sample is 1; it must be left out with queries")
	f("kb", recall.Request{Queries: []string{"q", ""}}, invalid, `queries[1] is ""`)
	f("kb", recall.Request{Queries: make([]string, 501)}, invalid, "queries is a list of 501")
	f("kb", recall.Request{Preset: "nosuch"}, invalid, "preset")
	f("kb", recall.Request{Engine: "nosuch"}, invalid, "engine")
	f("kb", recall.Request{Preset: "text"}, fault.Unsupported, "nothing is approximate")
	f("words", recall.Request{}, fault.Unsupported, "nothing is approximate")
	f("nosuch", recall.Request{}, fault.NotFound, "nosuch")
	f("kb", recall.Request{Queries: []string{"q"}}, fault.Unavailable, "no embedding service")
}

// slow takes its time for each question.
type slow struct{ *search.Searcher }

func (slow) QueryVector(ctx context.Context, _ *engine.KnowledgeBase, _ string) ([]float32, error) {
	select {
	case <-time.After(100 * time.Millisecond):
		return randomVector(random.New(random.NewPCG(1, 1))), nil
	case <-ctx.Done():
		return nil, engines.ContextFault(ctx)
	}
}

// TestEndsInTime: a report says of how many queries it is.
func TestEndsInTime(t *testing.T) {
	deadline.Set(t, time.Minute)
	b := newBench(t, "embedded", scattered(100))
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	m := recall.New(slow{b.searcher}, nil)
	r, err := m.Measure(ctx, scope, "kb", &recall.Request{Queries: slices.Repeat([]string{"where is it?"}, 200)})
	if err != nil || ctx.Err() != nil {
		t.Fatal(err, ctx.Err())
	}
	if r.Measured < 1 || r.Measured >= 200 || !strings.Contains(r.Why, "limits.request_timeout") {
		t.Errorf(`%+v; want r.Measured at least 1 and r.Measured below 200 and "limits.request_timeout" in it`, r)
	}
	done := make(chan error, 1)
	busy, stop := context.WithCancel(t.Context())
	go func() {
		_, err := m.Measure(busy, scope, "kb", &recall.Request{Queries: slices.Repeat([]string{"q"}, 500)})
		done <- err
	}()
	time.Sleep(300 * time.Millisecond)
	if _, err := m.Measure(t.Context(), scope, "kb", asking("vector", 1)); !fault.Is(err, fault.Conflict) {
		t.Errorf("beside another: %v; want an error of kind Conflict", err)
	}
	stop()
	if err := <-done; err == nil {
		t.Error("a measurement that was given up has a report")
	}
}
