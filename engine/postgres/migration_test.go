package postgres_test

import (
	"context"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/jobs"
	"github.com/hybridge-search/hybridge/migration"
	"github.com/hybridge-search/hybridge/search"
)

// site is one gateway of a test, as far as migrations go; several share a schema.
type site struct {
	*migration.Service
	t       *testing.T
	engine  *postgres.Engine
	catalog *catalog.Catalog
	jobs    *jobs.Manager
}

var (
	tenant = search.Scope{Tenant: "t"}
	tester = migration.Caller{Scope: tenant, Key: "tester"}
	ofKB   = engine.Ref{Tenant: "t", ID: "kb"}
)

func siteOf(t *testing.T, options postgres.Options, change func(*migration.Options)) *site {
	t.Helper()
	options.Embed = fakeEmbed
	s := &site{t: t, engine: open(t, options), jobs: jobs.New()}
	t.Cleanup(s.jobs.Close) // before the engine closes
	s.catalog = catalog.New([]engine.Engine{s.engine}, catalog.Options{})
	o := migration.Options{
		Catalog: s.catalog, Jobs: s.jobs, ModelDimensions: fakeDimensions, Takeover: time.Second, Patience: 10 * time.Second,
	}
	if change != nil {
		change(&o)
	}
	s.Service = migration.New(o)
	return s
}

// fakeEmbed makes vectors of "model2" and "model3": [bytes, words] and [bytes, words, 1].
func fakeEmbed(_ context.Context, model string, texts []string) ([][]float32, error) {
	if model != "model2" && model != "model3" {
		return nil, fault.New(fault.Unsupported, "model %q is not configured", model)
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = []float32{float32(len(text)), float32(len(strings.Fields(text))), 1}
		if model == "model2" {
			vectors[i] = vectors[i][:2]
		}
	}
	return vectors, nil
}

func fakeDimensions(_ context.Context, model string) (int, error) {
	switch model {
	case "model2":
		return 2, nil
	case "model3":
		return 3, nil
	default:
		return 0, fault.Invalid("changes.embedding_model", model, "model2 or model3")
	}
}

// textOf has as many words as its version, so that every version has another vector.
func textOf(id string, version int) string { return id + strings.Repeat(" word", 1+version%7) }

func chunkOf(id string, version int) engine.Chunk {
	content := textOf(id, version)
	vectors, _ := fakeEmbed(context.Background(), "model2", []string{content}) //nolint:errcheck // it is configured
	return engine.Chunk{
		ID: id, DocumentID: "d" + id[:2], Available: true, Content: content, Ordinal: version,
		Vectors: map[string][]float32{engine.FieldVector: vectors[0]}, Metadata: map[string]any{"v": float64(version)},
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

func (s *site) create(chunks map[string]engine.Chunk) {
	s.t.Helper()
	kb := engine.KnowledgeBase{
		Ref: ofKB, Kind: engine.KindChunks, Dimensions: 2, Engine: postgres.Name, EmbeddingModel: "model2",
		Analyzer: engine.AnalyzerJieba,
	}
	if err := s.engine.CreateKnowledgeBase(s.t.Context(), kb); err != nil {
		s.t.Fatal(err)
	}
	write(s.t, s.engine, kb, slices.Collect(maps.Values(chunks)))
}

func (s *site) kb() engine.KnowledgeBase {
	s.t.Helper()
	s.catalog.Expire()
	kb, _, err := s.catalog.Get(s.t.Context(), tenant, "kb")
	if err != nil {
		s.t.Fatal(err)
	}
	return kb
}

func (s *site) plan(change migration.Change, options engine.MappingOptions) *engine.MappingPlan {
	s.t.Helper()
	s.catalog.Expire()
	plan, err := s.Plan(s.t.Context(), tester, "kb", migration.Request{Changes: change, Options: options})
	if err != nil {
		s.t.Fatal(err)
	}
	return plan
}

func (s *site) apply(change migration.Change, options engine.MappingOptions) {
	s.t.Helper()
	if _, err := s.Apply(s.t.Context(), tester, "kb", s.plan(change, options).ID); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) order(order migration.Order) {
	s.t.Helper()
	if _, err := s.Direct(s.t.Context(), tester, "kb", order); err != nil {
		s.t.Fatal(err)
	}
}

// until waits for a state, and for the end of the job that brought it.
func (s *site) until(state string) *engine.Migration {
	s.t.Helper()
	for {
		m, err := s.Status(s.t.Context(), tenant, "kb")
		switch {
		case err != nil:
			s.t.Fatal(err)
		case m != nil && m.State == state:
			_ = s.jobs.Watch(s.t.Context(), "t", m.ID, func(jobs.Job) error { return nil }) //nolint:errcheck // it may be another gateway's
			time.Sleep(20 * time.Millisecond)
			return m
		case m != nil && m.State != engine.MigrationRunning && m.State != engine.MigrationSwitched || s.t.Context().Err() != nil:
			s.t.Fatalf("the migration is %s at %s: %+v", m.State, m.Step, m.Error)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// copying waits until the copy is on its way.
func (s *site) copying() *engine.Migration {
	s.t.Helper()
	var m *engine.Migration
	wait(s.t, func() bool {
		var err error
		if m, err = s.Status(s.t.Context(), tenant, "kb"); err != nil {
			s.t.Fatal(err)
		}
		return m.Step == "copy" && m.Progress.Done > 0
	})
	return m
}

// holds compares every chunk with what there must be, its vector included, and
// wants a search by word and by vector to find as many.
func (s *site) holds(want map[string]engine.Chunk) {
	s.t.Helper()
	kb := s.kb()
	all, err := s.engine.Scan(s.t.Context(), engine.ScanRequest{KB: kb, Limit: 100_000})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(all) != len(want) {
		s.t.Errorf("%d chunks, want %d", len(all), len(want))
	}
	for _, got := range all {
		c, there := want[got.ID]
		vectors, err := fakeEmbed(s.t.Context(), kb.EmbeddingModel, []string{c.Content})
		if err != nil {
			s.t.Fatal(err)
		}
		if !there || got.Content != c.Content || got.Ordinal != c.Ordinal || got.Metadata["v"] != c.Metadata["v"] ||
			!near(got.Vectors[engine.FieldVector], vectors[0]) {
			s.t.Fatalf("%s is %+v, want %+v with the vector %v", got.ID, got, c, vectors[0])
		}
	}
	query := append([]float32{1, 1, 1}[:0:0], []float32{1, 1, 1}[:kb.Dimensions]...)
	result, err := s.engine.Search(s.t.Context(), both(kb, "word", query...))
	if err != nil {
		s.t.Fatal(err)
	}
	for i, leg := range result.Legs {
		if leg.Err != nil {
			s.t.Errorf("leg %d: %v", i, leg.Err)
		}
	}
	if len(result.Hits) != len(want) {
		s.t.Errorf("a search finds %d of %d", len(result.Hits), len(want))
	}
	d, err := s.engine.Describe(s.t.Context(), kb)
	if err != nil || d.Chunks != len(want) || d.Vectors != len(want) {
		s.t.Errorf("described as %+v, %v", d, err)
	}
}

// near compares directions.
func near(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot > 0 && dot*dot > 0.999999*aa*bb
}

// traffic writes, updates, replaces and deletes until it is stopped, and knows what
// there must be then.
type traffic struct {
	mu   sync.Mutex
	want map[string]engine.Chunk
	ops  int
	stop chan struct{}
	done sync.WaitGroup
}

func trafficOf(s *site, want map[string]engine.Chunk) *traffic {
	tr := &traffic{want: maps.Clone(want), stop: make(chan struct{})}
	for w := range 2 {
		tr.done.Go(func() { tr.run(s, w) })
	}
	tr.done.Go(func() { tr.search(s) })
	return tr
}

// run changes the ids of one writer: those whose number is w modulo 2. The
// knowledge base it knows may be of the shape before.
func (tr *traffic) run(s *site, w int) {
	rng := mathrand.New(mathrand.NewPCG(uint64(w), 1))
	for version := 1; ; version++ {
		select {
		case <-tr.stop:
			return
		default:
		}
		id := fmt.Sprintf("c%04d", rng.IntN(200)*2+w)
		kb, _, err := s.catalog.Get(s.t.Context(), tenant, "kb")
		if err != nil {
			s.t.Error(err)
			return
		}
		tr.mu.Lock()
		_, there := tr.want[id]
		tr.mu.Unlock()
		if there && rng.IntN(3) == 0 {
			if n, err := s.engine.DeleteChunks(s.t.Context(), kb, []string{id}); err != nil || n != 1 {
				s.t.Errorf("delete %s: %d, %v", id, n, err)
				return
			}
			tr.note(id, nil)
			continue
		}
		c := chunkOf(id, version)
		vectors, _ := fakeEmbed(s.t.Context(), kb.EmbeddingModel, []string{c.Content}) //nolint:errcheck // it is configured
		c.Vectors[engine.FieldVector] = vectors[0]
		outcomes, err := s.engine.Write(s.t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{c}})
		if err != nil || outcomes[0].Err != nil {
			s.t.Errorf("write %s: %v, %+v", id, err, outcomes)
			return
		}
		tr.note(id, &c)
	}
}

// search wants an answer of every text leg, always.
func (tr *traffic) search(s *site) {
	for {
		select {
		case <-tr.stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		kb, _, err := s.catalog.Get(s.t.Context(), tenant, "kb")
		if err != nil {
			s.t.Error(err)
			return
		}
		result, err := s.engine.Search(s.t.Context(), both(kb, "word", []float32{1, 1, 1}[:kb.Dimensions]...))
		if err != nil || result.Legs[0].Err != nil || len(result.Hits) == 0 {
			s.t.Errorf("searching: %v, %+v", err, result)
			return
		}
	}
}

func (tr *traffic) note(id string, c *engine.Chunk) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.ops++
	if c == nil {
		delete(tr.want, id)
		return
	}
	tr.want[id] = *c
}

func (tr *traffic) end() map[string]engine.Chunk {
	close(tr.stop)
	tr.done.Wait()
	return tr.want
}

// TestNothingIsLost: writes, updates, deletes and searches of another gateway all
// the way through a migration, its rollback, another one and its cleanup; every
// chunk is compared each time.
func TestNothingIsLost(t *testing.T) {
	for name, change := range map[string]migration.Change{
		engine.CopyRebuild: {VectorIndex: new("half_hnsw")},
		engine.CopyEmbed:   {EmbeddingModel: new("model3")},
	} {
		t.Run(name, func(t *testing.T) {
			options := optionsOf(t)
			a, b := siteOf(t, options, nil), siteOf(t, options, nil)
			want := someChunks(300)
			a.create(want)
			before := a.kb()
			for _, last := range []migration.Order{migration.Rollback, migration.Cleanup} {
				busy := trafficOf(b, want)
				a.apply(change, engine.MappingOptions{Throttle: 400})
				m := a.until(engine.MigrationSwitched)
				if m.Plan.Diff.Copy != name {
					t.Errorf("copied by %s", m.Plan.Diff.Copy)
				}
				time.Sleep(200 * time.Millisecond)
				want = busy.end()
				a.holds(want)
				t.Logf("%d changes; checks %+v", busy.ops, m.Checks)
				busy = trafficOf(b, want)
				a.order(last)
				a.until(map[migration.Order]string{
					migration.Rollback: engine.MigrationRolledBack, migration.Cleanup: engine.MigrationDone,
				}[last])
				time.Sleep(100 * time.Millisecond)
				want = busy.end()
				a.holds(want)
				if last == migration.Rollback && a.kb().Generation != before.Generation {
					t.Errorf("rolled back to %+v, from %+v", a.kb(), before)
				}
			}
			diff, err := a.Diff(t.Context(), tenant, "kb", migration.Change{})
			if err != nil || diff.Class != engine.ChangeNone {
				t.Errorf("after the migration there is still %+v, %v", diff, err)
			}
			a.tables(1)
		})
	}
}

// tables wants so many tables of chunks.
func (s *site) tables(n int) {
	s.t.Helper()
	if all, err := postgres.Tables(s.t.Context(), s.engine); err != nil || len(all) != n {
		s.t.Errorf("tables %v, %v; want %d", all, err, n)
	}
}
