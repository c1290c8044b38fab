package migration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*Client).mCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"))
}

// gateway is one gateway of a test: several may share an Elasticsearch.
type gateway struct {
	*Service
	t       *testing.T
	engine  *elastic.Engine
	catalog *catalog.Catalog
	jobs    *jobs.Manager
}

var scope = access.Scope{Tenant: "t"}

// site is what the gateways of a test share.
type site struct {
	t      *testing.T
	server string // Elasticsearch itself
	via    string // how the gateways reach it
	prefix string
}

func newSite(t *testing.T) *site {
	t.Helper()
	server, prefix := devservices.Indices(t)
	return &site{t: t, server: server, via: server, prefix: prefix}
}

// ask sends a request to Elasticsearch past every gateway.
func (s *site) ask(method, path, body string, out any) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.server+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 400 && res.StatusCode != 404 {
		s.t.Fatalf("%s %s: %s %s %v; want no error and res.StatusCode below 400 or res.StatusCode 404", method, path, res.Status, brief.Of(answer), err)
	}
	if out != nil {
		if err := json.Unmarshal(answer, out); err != nil {
			s.t.Fatalf("%s: %v", brief.Of(answer), err)
		}
	}
}

// gateway starts a gateway, which ends with the test.
func (s *site) gateway(change func(*Options)) *gateway {
	s.t.Helper()
	e, err := elastic.New(elastic.Options{
		Settings: elastic.Settings{IndexPrefix: s.prefix, Timeout: time.Minute},
		URLs:     []string{s.via}, Tokenizer: enginetest.Words{}, Transport: &http.Transport{DisableKeepAlives: true}, Embed: fakeEmbed,
		Grace: -1, // a gateway that knows nothing of the end of a migration fares no worse
	})
	if err != nil {
		s.t.Fatal(err)
	}
	g := &gateway{t: s.t, engine: e, jobs: jobs.New(), catalog: catalog.New([]engine.Engine{e}, catalog.Options{})}
	o := Options{Catalog: g.catalog, Jobs: g.jobs, ModelDimensions: fakeDimensions, Takeover: 2 * time.Second}
	if change != nil {
		change(&o)
	}
	g.Service = New(o)
	s.t.Cleanup(func() {
		g.jobs.Close()
		_ = e.Close()
	})
	return g
}

// fakeEmbed makes vectors of "model3": [bytes, words, 1].
func fakeEmbed(_ context.Context, model string, texts []string) ([][]float32, error) {
	if model != "model3" {
		return nil, fault.New(fault.Unsupported, "model %q is not configured", model)
	}
	vectors := make([][]float32, len(texts))
	if strings.Contains(strings.Join(texts, " "), "unembeddable") {
		return nil, fault.New(fault.InvalidArgument, "the embedding service answered 400: 512 tokens at most")
	}
	for i, text := range texts {
		vectors[i] = []float32{float32(len(text)), float32(len(strings.Fields(text))), 1}
	}
	return vectors, nil
}

func fakeDimensions(_ context.Context, model string) (int, error) {
	if model != "model3" {
		return 0, fault.Invalid("changes.embedding_model", model, "model3")
	}
	return 3, nil
}

func (g *gateway) kb() engine.KnowledgeBase {
	g.t.Helper()
	kb, err := g.engine.KnowledgeBase(g.t.Context(), engine.Ref{Tenant: scope.Tenant, ID: "kb"})
	if err != nil {
		g.t.Fatal(err)
	}
	return kb
}

func (g *gateway) create(chunks map[string]engine.Chunk) {
	g.t.Helper()
	dims := 2
	if _, err := g.catalog.Create(g.t.Context(), scope, catalog.Spec{ID: "kb", Dimensions: &dims}); err != nil {
		g.t.Fatal(err)
	}
	g.write(slices.Collect(maps.Values(chunks))...)
}

func (g *gateway) write(chunks ...engine.Chunk) {
	g.t.Helper()
	outcomes, err := g.engine.Write(g.t.Context(), engine.WriteRequest{KB: g.kb(), Chunks: chunks})
	if err != nil {
		g.t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			g.t.Fatal(o.Err)
		}
	}
}

func chunkOf(id string, version int) engine.Chunk {
	return engine.Chunk{
		ID: id, DocumentID: "d", Available: true, Title: "Title", Content: fmt.Sprintf("text %d of %s", version, id),
		WrittenAt: time.Unix(int64(version), 0).UTC().Format(time.RFC3339),
		Vectors:   map[string][]float32{engine.FieldVector: {1, float32(version)}}, Metadata: map[string]any{"v": float64(version)},
	}
}

func someChunks(n int) map[string]engine.Chunk {
	all := map[string]engine.Chunk{}
	for i := range n {
		c := chunkOf(fmt.Sprintf("c%04d", i), 0)
		all[c.ID] = c
	}
	return all
}

// apply plans and applies a change, and returns the migration as it began.
func (g *gateway) apply(change Change, options engine.MappingOptions) *engine.Migration {
	g.t.Helper()
	plan, err := g.Plan(g.t.Context(), Caller{scope, "tester"}, "kb", Request{change, options})
	if err != nil {
		g.t.Fatal(err)
	}
	m, err := g.Apply(g.t.Context(), Caller{scope, "tester"}, "kb", plan.ID)
	if err != nil {
		g.t.Fatal(err)
	}
	return m
}

func (g *gateway) order(order Order) {
	g.t.Helper()
	if _, err := g.Direct(g.t.Context(), Caller{scope, "tester"}, "kb", order); err != nil {
		g.t.Fatal(err)
	}
}

// until waits for a state.
func (g *gateway) until(state string) *engine.Migration {
	g.t.Helper()
	for patience := time.Now().Add(devservices.Patience); ; {
		m, err := g.Status(g.t.Context(), scope, "kb")
		switch {
		case time.Now().After(patience): // it may be switched although that is not wanted
			g.t.Fatalf("the migration stays %+v; want it to be %s", m, state)
		case err != nil:
			g.t.Fatal(err)
		case m != nil && m.State == state:
			g.awaitRest(m)
			return m
		case m != nil && m.State != engine.MigrationRunning && m.State != engine.MigrationSwitched || g.t.Context().Err() != nil:
			g.t.Fatalf("the migration is %s at %s: %+v", m.State, m.Step, m.Error)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// awaitRest waits until the job has ended too.
func (g *gateway) awaitRest(m *engine.Migration) {
	_ = g.jobs.Watch(g.t.Context(), m.Ref.Tenant, m.ID, func(jobs.Job) error { return nil })
	for {
		g.mu.Lock()
		running := g.running[m.Ref]
		g.mu.Unlock()
		if !running {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// holds fails unless an index has exactly these chunks.
func (s *site) holds(index string, want map[string]engine.Chunk) {
	s.t.Helper()
	s.ask("POST", "/"+index+"/_refresh", "", nil)
	var answer struct {
		Hits struct {
			Hits []struct {
				Source struct {
					ID    string       `json:"id"`
					Chunk engine.Chunk `json:"chunk"`
				} `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	s.ask("GET", "/"+index+"/_search?size=10000", "", &answer)
	got := map[string]string{}
	for _, h := range answer.Hits.Hits {
		got[h.Source.ID] = h.Source.Chunk.Content
	}
	wrong := 0
	for id, c := range want {
		if got[id] != c.Content {
			wrong++
			s.t.Errorf("%s: %s is %q, want %q", index, id, got[id], c.Content)
		}
		if wrong > 5 {
			break
		}
	}
	for id := range got {
		if _, ok := want[id]; !ok {
			s.t.Errorf("%s: %s is there and was deleted; want ok", index, id)
		}
	}
}

// traffic writes, updates and deletes until it is stopped. want is what there must be
// then.
type traffic struct {
	mu   sync.Mutex
	want map[string]engine.Chunk
	ops  int
	stop chan struct{}
	done sync.WaitGroup
}

func startTraffic(g *gateway, want map[string]engine.Chunk, writers int) *traffic {
	tr := &traffic{want: maps.Clone(want), stop: make(chan struct{})}
	for w := range writers {
		tr.done.Go(func() { tr.run(g, w, writers) })
	}
	return tr
}

// run changes the ids of one writer: those whose number is w modulo writers.
func (tr *traffic) run(g *gateway, w, writers int) {
	rng := mathrand.New(mathrand.NewPCG(uint64(w), 1))
	for version := 1; ; version++ {
		select {
		case <-tr.stop:
			return
		default:
		}
		id := fmt.Sprintf("c%04d", rng.IntN(100)*writers+w)
		record, _, err := g.catalog.Get(g.t.Context(), scope, "kb")
		if err != nil {
			g.t.Error(err)
			return
		}
		tr.mu.Lock()
		_, there := tr.want[id]
		tr.mu.Unlock()
		if there && rng.IntN(3) == 0 {
			n, err := g.engine.DeleteChunks(g.t.Context(), record, []string{id})
			if err != nil || n != 1 {
				g.t.Errorf("delete %s: %d, %v; want no error and n 1", id, n, err)
				return
			}
			tr.note(id, nil)
			continue
		}
		c := chunkOf(id, version)
		if record.Dimensions != 2 {
			c.Vectors = map[string][]float32{engine.FieldVector: {1, float32(version), 1}}
		}
		outcomes, err := g.engine.Write(g.t.Context(), engine.WriteRequest{KB: record, Chunks: []engine.Chunk{c}})
		if err != nil || outcomes[0].Err != nil {
			g.t.Errorf("write %s: %v, %+v; want no error and no error", id, err, outcomes)
			return
		}
		tr.note(id, &c)
	}
}

func (tr *traffic) note(id string, c *engine.Chunk) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.ops++
	if c == nil {
		delete(tr.want, id)
	} else {
		tr.want[id] = *c
	}
}

func (tr *traffic) end() map[string]engine.Chunk {
	close(tr.stop)
	tr.done.Wait()
	return tr.want
}

// TestNothingIsLost: writes, updates and deletes of two gateways all the way
// through a migration, a rollback, another migration and its cleanup; every
// document is compared, in both indices.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]Change{
		engine.CopyReindex: {VectorIndex: new("flat")},
		engine.CopyRebuild: {Analyzer: new("standard")},
		engine.CopyEmbed:   {EmbeddingModel: new("model3")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			a, b := s.gateway(nil), s.gateway(nil)
			start := someChunks(300)
			a.create(start)
			busy := startTraffic(b, start, 2) // the other gateway is told nothing
			m := a.apply(change, engine.MappingOptions{Throttle: 400})
			if m.Plan.Diff.Copy != name {
				t.Errorf("copied by %s, want %s", m.Plan.Diff.Copy, name)
			}
			m = a.until(engine.MigrationSwitched)
			time.Sleep(300 * time.Millisecond) // writes after the switch too
			want := busy.end()
			t.Logf("%d changes; checks %+v", busy.ops, m.Checks)
			s.holds(m.ToIndex, want)
			if name != engine.CopyEmbed { // there the old index needs a model that is not configured
				s.holds(m.FromIndex, want)
				busy = startTraffic(b, want, 2)
				a.order(Rollback)
				a.until(engine.MigrationRolledBack)
				want = busy.end()
				s.holds(m.FromIndex, want)
				a.apply(change, engine.MappingOptions{})
				m = a.until(engine.MigrationSwitched)
			}
			busy = startTraffic(b, want, 2)
			a.order(Cleanup)
			a.until(engine.MigrationDone)
			want = busy.end()
			s.holds(m.ToIndex, want)
			var left map[string]json.RawMessage
			s.ask("GET", "/"+s.prefix+"-kb-*", "", &left)
			if len(left) != 1 || left[m.ToIndex] == nil {
				t.Errorf("left over: %v; want 1 left and a left[m.ToIndex]", slices.Collect(maps.Keys(left)))
			}
			diff, err := a.Diff(t.Context(), scope, "kb", Change{})
			if err != nil || diff.Class != engine.ChangeNone {
				t.Errorf("after the migration there is still %+v, %v", diff, err)
			}
		})
	}
}
