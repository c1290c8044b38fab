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

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/fault"
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
	tenant = access.Scope{Tenant: "t"}
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
	vectors, _ := fakeEmbed(context.Background(), "model2", []string{content})
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
			_ = s.jobs.Watch(s.t.Context(), "t", m.ID, func(jobs.Job) error { return nil })
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
		vectors, err := fakeEmbed(s.t.Context(), kb.EmbeddingModel, []string{c.FieldText(engine.FieldText)})
		if err != nil {
			s.t.Fatal(err)
		}
		if !there || got.Content != c.Content || got.Ordinal != c.Ordinal || got.Metadata["v"] != c.Metadata["v"] ||
			!near(got.Vectors[engine.FieldVector], vectors[0]) {
			s.t.Fatalf("%s is %+v, want %+v with the vector %v", got.ID, got, c, vectors[0])
		}
	}
	result, err := s.engine.Search(s.t.Context(), both(kb, "word", []float32{1, 1, 1}[:kb.Dimensions]...))
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
		vectors, _ := fakeEmbed(s.t.Context(), kb.EmbeddingModel, []string{c.Content})
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

// ending is an order and the state that it brings about.
type ending struct {
	order migration.Order
	state string
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
			for _, last := range []ending{
				{migration.Rollback, engine.MigrationRolledBack}, {migration.Cleanup, engine.MigrationDone},
			} {
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
				a.order(last.order)
				a.until(last.state)
				time.Sleep(100 * time.Millisecond)
				want = busy.end()
				a.holds(want)
				if last.order == migration.Rollback && a.kb().Generation != before.Generation {
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

func refuses(t *testing.T, err error, kind fault.Kind, says string) {
	t.Helper()
	if !fault.Is(err, kind) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %s that says %q", err, kind, says)
	}
}

var half = migration.Change{VectorIndex: new("half_hnsw")}

func TestOnePlanIsAppliedOnce(t *testing.T) {
	options := optionsOf(t)
	a, b := siteOf(t, options, nil), siteOf(t, options, nil)
	want := someChunks(20)
	a.create(want)
	_, err := a.Apply(t.Context(), tester, "kb", "nosuch")
	refuses(t, err, fault.NotFound, "plan")
	_, err = a.Apply(t.Context(), tester, "kb", a.plan(migration.Change{}, engine.MappingOptions{}).ID)
	refuses(t, err, fault.Conflict, "nothing to change")
	_, err = a.Plan(t.Context(), tester, "kb", migration.Request{Changes: migration.Change{VectorIndex: new("bbq_hnsw")}})
	refuses(t, err, fault.InvalidArgument, "half_hnsw")
	old, plan := a.plan(half, engine.MappingOptions{}), a.plan(half, engine.MappingOptions{})
	var work sync.WaitGroup
	results := make([]error, 2)
	for i, s := range []*site{a, b} {
		work.Go(func() { _, results[i] = s.Apply(t.Context(), tester, "kb", plan.ID) })
	}
	work.Wait()
	if (results[0] == nil) == (results[1] == nil) {
		t.Fatalf("two appliers: %v", results)
	}
	for _, err := range results {
		if err != nil {
			refuses(t, err, fault.Conflict, "")
		}
	}
	a.until(engine.MigrationSwitched)
	a.order(migration.Cleanup)
	m := a.until(engine.MigrationDone)
	a.catalog.Expire()
	_, err = a.Apply(t.Context(), tester, "kb", old.ID)
	refuses(t, err, fault.Conflict, "changed since")
	history, err := a.History(t.Context(), tenant, "kb", 10)
	if err != nil || len(history) != 1 || history[0].ID != m.ID || history[0].StartedBy != "tester" {
		t.Errorf("history %+v, %v", history, err)
	}
	a.holds(want)
}

// TestAnotherGatewayGoesOn: one ends in the middle of the copy, and another one, that
// was started later, goes on from there.
func TestAnotherGatewayGoesOn(t *testing.T) {
	options := optionsOf(t)
	a := siteOf(t, options, nil)
	want := someChunks(300)
	a.create(want)
	a.apply(migration.Change{EmbeddingModel: new("model3")}, engine.MappingOptions{Throttle: 300})
	begun := a.copying()
	a.jobs.Close() // as if it were killed; its context ends in the middle of a step
	if err := a.engine.Close(); err != nil {
		t.Fatal(err)
	}
	b := siteOf(t, options, nil)
	want["c0001"] = chunkOf("c0001", 3)
	write(t, b.engine, b.kb(), []engine.Chunk{want["c0001"]})
	if _, err := b.engine.DeleteChunks(t.Context(), b.kb(), []string{"c0002"}); err != nil {
		t.Fatal(err)
	}
	delete(want, "c0002")
	b.holds(want)
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { b.Watch(ctx) })
	m := b.until(engine.MigrationSwitched)
	cancel()
	watching.Wait()
	if m.ID != begun.ID || m.ToIndex != begun.ToIndex {
		t.Errorf("began as %s to %s, ended as %s to %s", begun.ID, begun.ToIndex, m.ID, m.ToIndex)
	}
	b.holds(want)
}

// TestEveryStepMayBeRepeated: after every step the gateway ends before it could store
// that, and a new one does the step again; chunks change in between.
func TestEveryStepMayBeRepeated(t *testing.T) {
	options := optionsOf(t)
	options.Embed = fakeEmbed
	s := siteOf(t, options, nil)
	want := someChunks(150)
	s.create(want)
	plan, kb := s.plan(migration.Change{EmbeddingModel: new("model3")}, engine.MappingOptions{}), s.kb()
	m := &engine.Migration{
		ID: plan.ID, Ref: ofKB, State: engine.MigrationRunning, Direction: engine.GoForward, Plan: *plan, From: kb,
		FromIndex: plan.Diff.Index,
	}
	if err := s.engine.StartMigration(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	version := 0
	for _, direction := range []string{engine.GoForward, engine.GoRollback} {
		for _, name := range s.engine.MigrationSteps(&engine.Migration{Direction: direction, Plan: *plan}) {
			for range 2 { // the second time what the first one has left in memory is gone
				version++
				c := chunkOf(fmt.Sprintf("c%04d", version), version)
				want[c.ID] = c
				write(t, s.engine, kb, []engine.Chunk{c}) // of the shape before: it is made to fit
				gone := fmt.Sprintf("c%04d", 100+version)
				if _, err := s.engine.DeleteChunks(t.Context(), kb, []string{gone}); err != nil {
					t.Fatal(err)
				}
				delete(want, gone)
				stepBy(t, open(t, options), direction, name)
				s.holds(want)
			}
		}
		s.tables(map[string]int{engine.GoForward: 2, engine.GoRollback: 1}[direction])
	}
}

// stepBy does a step of the stored migration.
func stepBy(t *testing.T, e *postgres.Engine, direction, name string) {
	t.Helper()
	m, err := e.Migration(t.Context(), ofKB)
	if err != nil {
		t.Fatal(err)
	}
	m.Direction, m.Step = direction, name
	save := func(ctx context.Context) error { return e.SaveMigration(ctx, m) }
	if err := e.MigrationStep(t.Context(), m, engine.MigrationEnv{Save: save}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestCancelled(t *testing.T) {
	s := siteOf(t, optionsOf(t), nil)
	want := someChunks(300)
	s.create(want)
	s.apply(half, engine.MappingOptions{Throttle: 100})
	s.copying()
	s.tables(2)
	s.order(migration.Cancel)
	s.until(engine.MigrationCancelled)
	s.tables(1)
	s.holds(want)
	s.apply(half, engine.MappingOptions{Throttle: 100})
	s.copying()
	s.jobs.Close()
	if err := s.engine.DeleteKnowledgeBase(t.Context(), ofKB); err != nil {
		t.Fatal(err)
	}
	s.tables(0)
}

// TestInPlace mends indexes that somebody dropped, and drops those not wanted.
func TestInPlace(t *testing.T) {
	options := optionsOf(t)
	options.ExactLimit = 10
	s := siteOf(t, options, nil)
	want := someChunks(50)
	s.create(want)
	if err := postgres.BuildIndexes(t.Context(), s.engine, ofKB); err != nil {
		t.Fatal(err)
	}
	f := func(change migration.Change, paths ...string) {
		t.Helper()
		plan := s.plan(change, engine.MappingOptions{})
		var got []string
		for _, c := range plan.Diff.Changes {
			got = append(got, c.Path)
		}
		if plan.Diff.Class != engine.ChangeInPlace || !slices.Equal(got, paths) {
			t.Errorf("%s: %v, want %v", plan.Diff.Class, got, paths)
		}
		s.apply(change, engine.MappingOptions{})
		s.until(engine.MigrationDone)
		if diff, err := s.Diff(t.Context(), tenant, "kb", migration.Change{}); err != nil || diff.Class != engine.ChangeNone {
			t.Errorf("then %+v, %v", diff, err)
		}
		s.holds(want)
	}
	execute(t, options.URL, fmt.Sprintf("DROP INDEX %[1]s.chunks_1_metadata, %[1]s.chunks_1_vector_hnsw", options.Schema))
	f(migration.Change{}, "indexes.metadata", "indexes.vector_hnsw")
	f(migration.Change{VectorIndex: new("none")}, "indexes.vector_hnsw", "vector_index")
	f(migration.Change{VectorIndex: new("hnsw")}, "indexes.vector_hnsw", "vector_index")
}

// TestTheGateAsksBothShapes lets the new table be searched before the switch.
func TestTheGateAsksBothShapes(t *testing.T) {
	var asked []string
	s := siteOf(t, optionsOf(t), func(o *migration.Options) {
		o.Answer = func(ctx context.Context, kb engine.KnowledgeBase, e engine.Engine, _ string, k int) ([]string, error) {
			req := both(kb, "word", []float32{1, 1, 1}[:kb.Dimensions]...)
			result, err := e.Search(ctx, req)
			if err != nil || result.Legs[0].Err != nil || result.Legs[1].Err != nil {
				return nil, fmt.Errorf("%w, %+v", err, result)
			}
			asked = append(asked, fmt.Sprint(kb.Generation, kb.Dimensions, len(result.Hits)))
			return []string{fmt.Sprint(kb.Dimensions)}[:min(k, 1)], nil
		}
	})
	want := someChunks(20)
	s.create(want)
	gate := engine.MappingGate{Queries: []engine.GateQuery{{Query: "word"}}}
	s.apply(migration.Change{EmbeddingModel: new("model3")}, engine.MappingOptions{Gate: gate})
	m := s.until(engine.MigrationFailed)
	if m.Step != "gate" || m.Gate == nil || m.Gate.Passed || !slices.Equal(asked, []string{"0 2 20", "1 3 20"}) {
		t.Errorf("the gate: %+v at %s (%+v), asked %q", m.Gate, m.Step, m.Error, asked)
	}
	s.holds(want)
	s.order(migration.Cancel)
	s.until(engine.MigrationCancelled)
	s.tables(1)
}

// TestWithoutTheOldModel: a rollback that would need vectors of a model that is not
// there is refused and loses nothing; text alone needs none.
func TestWithoutTheOldModel(t *testing.T) {
	s := siteOf(t, optionsOf(t), nil)
	kb := baseOf(t, s.engine, 4, []engine.Chunk{{
		ID: "a", DocumentID: "d", Content: "word", Available: true,
		Vectors: map[string][]float32{engine.FieldVector: {1, 2, 3, 4}},
	}})
	s.apply(migration.Change{Dimensions: new(0)}, engine.MappingOptions{})
	s.until(engine.MigrationSwitched)
	s.order(migration.Rollback)
	s.until(engine.MigrationRolledBack)
	all, err := s.engine.Scan(t.Context(), engine.ScanRequest{KB: kb, Limit: 10})
	if err != nil || len(all) != 1 || !near(all[0].Vectors[engine.FieldVector], []float32{1, 2, 3, 4}) {
		t.Errorf("%+v, %v", all, err)
	}
	s.apply(migration.Change{EmbeddingModel: new("model3")}, engine.MappingOptions{})
	s.until(engine.MigrationSwitched)
	b := chunkOf("b0", 1)
	b.Vectors[engine.FieldVector] = []float32{1, 2, 3}
	write(t, s.engine, s.kb(), []engine.Chunk{b})
	s.order(migration.Rollback)
	m := s.until(engine.MigrationFailed)
	if m.Error.Code != fault.Unsupported || !m.Switched {
		t.Errorf("%+v, switched %v", m.Error, m.Switched)
	}
	s.order(migration.Cleanup)
	s.until(engine.MigrationDone)
	s.tables(1)
	if all, err = s.engine.Scan(t.Context(), engine.ScanRequest{KB: s.kb(), Limit: 10}); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestHalvesAreIndexed searches a table of halves by its index and without.
func TestHalvesAreIndexed(t *testing.T) {
	e := open(t, optionsOf(t))
	kb := engine.KnowledgeBase{
		Ref: ofKB, Kind: engine.KindChunks, Dimensions: 16, Engine: postgres.Name, VectorIndex: "half_hnsw",
	}
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	write(t, e, kb, scattered(1000, 16, 2))
	exact := nearest(t, e, kb, 10, engine.Filter{})
	if err := postgres.BuildIndexes(t.Context(), e, ofKB); err != nil {
		t.Fatal(err)
	}
	postgres.SetExact(e, -1, 0)
	got := nearest(t, e, kb, 10, engine.Filter{})
	if exact.Method != "exact" || got.Method != "hnsw" || !slices.Equal(idsOf(exact.Hits), idsOf(got.Hits)) {
		t.Errorf("%s: %v; %s: %v", exact.Method, idsOf(exact.Hits), got.Method, idsOf(got.Hits))
	}
}

// TestAShapeBefore: requests of a gateway that has not heard of the switch are answered
// by words, and what it writes gets vectors of the new model.
func TestAShapeBefore(t *testing.T) {
	options := optionsOf(t)
	a, b := siteOf(t, options, nil), siteOf(t, options, nil)
	want := someChunks(20)
	a.create(want)
	old := b.kb()
	b.holds(want) // so that it knows the table
	a.apply(migration.Change{EmbeddingModel: new("model3")}, engine.MappingOptions{})
	a.until(engine.MigrationSwitched)
	result, err := b.engine.Search(t.Context(), both(old, "word", 1, 1))
	if err != nil || len(result.Hits) != 20 || result.Legs[0].Err != nil || !fault.Is(result.Legs[1].Err, fault.Unavailable) {
		t.Errorf("%v, %+v", err, result)
	}
	stats, err := b.engine.Statistics(t.Context(), &engine.StatisticsRequest{
		KB: old, Field: engine.FieldText, Terms: []string{"word"}, VectorField: engine.FieldVector, Vector: []float32{1, 1},
	})
	if err != nil || stats.DF[0] != 20 || stats.Vectors != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
	if _, err := b.engine.DiffMapping(t.Context(), old, old); !fault.Is(err, fault.Conflict) {
		t.Errorf("diff: %v", err)
	}
	want["c0000"] = chunkOf("c0000", 5)
	write(t, b.engine, old, []engine.Chunk{want["c0000"]})
	a.holds(want)
}
