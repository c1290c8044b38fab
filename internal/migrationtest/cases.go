package migrationtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// ending is an order and the state that it brings about.
type ending struct {
	order migration.Order
	state string
}

// testNothingIsLost: writes, updates, deletes and searches of another gateway all
// the way through a migration, its rollback, another one and its cleanup; every
// chunk is compared each time.
func testNothingIsLost(t *testing.T, storage Storage, change migration.Change) {
	a, b := siteOf(t, storage, nil), siteOf(t, storage, nil)
	want := someChunks(300)
	a.create(want)
	before := a.kb()
	for _, last := range []ending{
		{migration.Rollback, engine.MigrationRolledBack}, {migration.Cleanup, engine.MigrationDone},
	} {
		busy := trafficOf(b, want)
		a.apply(change, engine.MappingOptions{Throttle: 400})
		m := a.until(engine.MigrationSwitched)
		if embeds := change.EmbeddingModel != nil; embeds != (m.Plan.Diff.Copy == engine.CopyEmbed) {
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
	diff, err := a.Diff(t.Context(), Tenant, "kb", migration.Change{})
	if err != nil || diff.Class != engine.ChangeNone {
		t.Errorf("after the migration there is still %+v, %v", diff, err)
	}
	a.tables(1)
}

// tables wants so many tables of chunks.
func (s *site) tables(n int) {
	s.t.Helper()
	if got := s.storage.Tables(s.t); got != n {
		s.t.Errorf("%d tables, want %d", got, n)
	}
}

func refuses(t *testing.T, err error, kind fault.Kind, says string) {
	t.Helper()
	if !fault.Is(err, kind) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %s that says %q", err, kind, says)
	}
}

func testOnePlanIsAppliedOnce(t *testing.T, storage Storage) {
	a, b := siteOf(t, storage, nil), siteOf(t, storage, nil)
	want := someChunks(20)
	a.create(want)
	_, err := a.Apply(t.Context(), tester, "kb", "nosuch")
	refuses(t, err, fault.NotFound, "plan")
	_, err = a.Apply(t.Context(), tester, "kb", a.plan(migration.Change{}, engine.MappingOptions{}).ID)
	refuses(t, err, fault.Conflict, "nothing to change")
	_, err = a.Plan(t.Context(), tester, "kb", migration.Request{Changes: migration.Change{Analyzer: new("nosuch")}})
	refuses(t, err, fault.InvalidArgument, "analyzer")
	old, plan := a.plan(storage.Rebuild, engine.MappingOptions{}), a.plan(storage.Rebuild, engine.MappingOptions{})
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
	a.Catalog.Expire()
	_, err = a.Apply(t.Context(), tester, "kb", old.ID)
	refuses(t, err, fault.Conflict, "changed since")
	history, err := a.History(t.Context(), Tenant, "kb", 10)
	if err != nil || len(history) != 1 || history[0].ID != m.ID || history[0].StartedBy != "tester" {
		t.Errorf("history %+v, %v", history, err)
	}
	a.holds(want)
}

// testAnotherGatewayGoesOn: one ends in the middle of the copy, and another one, that
// was started later, goes on from there.
func testAnotherGatewayGoesOn(t *testing.T, storage Storage) {
	a := siteOf(t, storage, nil)
	want := someChunks(300)
	a.create(want)
	a.apply(newModel, engine.MappingOptions{Throttle: 300})
	begun := a.copying()
	a.jobs.Close() // as if it were killed; its context ends in the middle of a step
	storage.Reopen(t)
	b := siteOf(t, storage, nil)
	want["c0001"] = chunkOf("c0001", 3)
	b.write(b.kb(), want["c0001"])
	if _, err := b.Engine.DeleteChunks(t.Context(), b.kb(), []string{"c0002"}); err != nil {
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
	if m.ID != begun.ID || begun.ToIndex != "" && m.ToIndex != begun.ToIndex {
		t.Errorf("began as %s to %s, ended as %s to %s", begun.ID, begun.ToIndex, m.ID, m.ToIndex)
	}
	b.holds(want)
}

// testEveryStepMayBeRepeated: after every step the gateway ends before it could store
// that, and a new one does the step again; chunks change in between.
func testEveryStepMayBeRepeated(t *testing.T, storage Storage) {
	s := siteOf(t, storage, nil)
	want := someChunks(150)
	s.create(want)
	plan := s.plan(newModel, engine.MappingOptions{})
	kb, err := s.Engine.KnowledgeBase(t.Context(), ofKB)
	if err != nil {
		t.Fatal(err)
	}
	m := &engine.Migration{
		ID: plan.ID, Ref: ofKB, State: engine.MigrationRunning, Direction: engine.GoForward, Plan: *plan, From: kb,
		FromIndex: plan.Diff.Index,
	}
	if err := s.Engine.StartMigration(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	version := 0
	for _, direction := range []string{engine.GoForward, engine.GoRollback} {
		for _, name := range s.Engine.MigrationSteps(&engine.Migration{Direction: direction, Plan: *plan}) {
			for range 2 { // the second time what the first one has left in memory is gone
				version++
				c := chunkOf(fmt.Sprintf("c%04d", version), version)
				want[c.ID] = c
				s.write(kb, c) // of the shape before: it is made to fit
				gone := fmt.Sprintf("c%04d", 100+version)
				if _, err := s.Engine.DeleteChunks(t.Context(), kb, []string{gone}); err != nil {
					t.Fatal(err)
				}
				delete(want, gone)
				s.Gateway = storage.Reopen(t)
				s.step(direction, name)
				s.holds(want)
			}
		}
		s.tables(map[string]int{engine.GoForward: 2, engine.GoRollback: 1}[direction])
	}
}

// step does a step of the stored migration.
func (s *site) step(direction, name string) {
	t, e := s.t, s.Engine
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

func testCancelled(t *testing.T, storage Storage) {
	s := siteOf(t, storage, nil)
	want := someChunks(300)
	s.create(want)
	s.apply(storage.Rebuild, engine.MappingOptions{Throttle: 100})
	s.copying()
	s.tables(2)
	s.order(migration.Cancel)
	s.until(engine.MigrationCancelled)
	s.tables(1)
	s.holds(want)
	s.apply(storage.Rebuild, engine.MappingOptions{Throttle: 100})
	s.copying()
	s.jobs.Close()
	if err := s.Engine.DeleteKnowledgeBase(t.Context(), ofKB); err != nil {
		t.Fatal(err)
	}
	s.tables(0)
}

// testTheGateAsksBothShapes lets the new table be searched before the switch.
func testTheGateAsksBothShapes(t *testing.T, storage Storage) {
	var asked []string
	s := siteOf(t, storage, func(o *migration.Options) {
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
	s.apply(newModel, engine.MappingOptions{Gate: gate})
	m := s.until(engine.MigrationFailed)
	refused := m.OwnStep() == engine.StepGate && m.Gate != nil && !m.Gate.Passed
	if !refused || !slices.Equal(asked, []string{"0 2 20", "1 3 20"}) {
		t.Errorf("the gate: %+v at %s (%+v), asked %q", m.Gate, m.Step, m.Error, asked)
	}
	s.holds(want)
	s.order(migration.Cancel)
	s.until(engine.MigrationCancelled)
	s.tables(1)
}

// testWithoutTheOldModel: a rollback that would need vectors of a model that is not
// there is refused and loses nothing; text alone needs none.
func testWithoutTheOldModel(t *testing.T, storage Storage) {
	s := siteOf(t, storage, nil)
	kb := s.schema()
	kb.Dimensions = 4
	if err := s.Engine.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	s.write(kb, engine.Chunk{
		ID: "a", DocumentID: "d", Content: "word", Available: true,
		Vectors: map[string][]float32{engine.FieldVector: {1, 2, 3, 4}},
	})
	s.apply(migration.Change{Dimensions: new(0)}, engine.MappingOptions{})
	s.until(engine.MigrationSwitched)
	s.order(migration.Rollback)
	s.until(engine.MigrationRolledBack)
	all, err := s.Engine.Scan(t.Context(), engine.ScanRequest{KB: kb, Limit: 10})
	if err != nil || len(all) != 1 || !near(all[0].Vectors[engine.FieldVector], []float32{1, 2, 3, 4}) {
		t.Errorf("%+v, %v", all, err)
	}
	s.apply(newModel, engine.MappingOptions{})
	s.until(engine.MigrationSwitched)
	b := chunkOf("b0", 1)
	b.Vectors[engine.FieldVector] = []float32{1, 2, 3}
	s.write(s.kb(), b)
	s.order(migration.Rollback)
	m := s.until(engine.MigrationFailed)
	if m.Error.Code != fault.Unsupported || !m.Switched {
		t.Errorf("%+v, switched %v", m.Error, m.Switched)
	}
	s.order(migration.Cleanup)
	s.until(engine.MigrationDone)
	s.tables(1)
	if all, err = s.Engine.Scan(t.Context(), engine.ScanRequest{KB: s.kb(), Limit: 10}); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// testAShapeBefore: requests of a gateway that has not heard of the switch are answered
// by words, and what it writes gets vectors of the new model.
func testAShapeBefore(t *testing.T, storage Storage) {
	a, b := siteOf(t, storage, nil), siteOf(t, storage, nil)
	want := someChunks(20)
	a.create(want)
	old := b.kb()
	b.holds(want) // so that it knows the table
	a.apply(newModel, engine.MappingOptions{})
	a.until(engine.MigrationSwitched)
	result, err := b.Engine.Search(t.Context(), both(old, "word", 1, 1))
	if err != nil || len(result.Hits) != 20 || result.Legs[0].Err != nil ||
		!fault.Is(result.Legs[1].Err, fault.Unavailable) {
		t.Errorf("%v, %+v", err, result)
	}
	stats, err := b.Engine.Statistics(t.Context(), &engine.StatisticsRequest{
		KB: old, Field: engine.FieldText, Terms: []string{"word"}, VectorField: engine.FieldVector, Vector: []float32{1, 1},
	})
	if err != nil || stats.DF[0] != 20 || stats.Vectors != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
	if _, err := b.Engine.DiffMapping(t.Context(), old, old); !fault.Is(err, fault.Conflict) {
		t.Errorf("diff: %v", err)
	}
	want["c0000"] = chunkOf("c0000", 5)
	b.write(old, want["c0000"])
	a.holds(want)
}

// Boosts is the case in which parts of the text are indexed by themselves from now on, and what they count is
// changed in place.
func Boosts(t *testing.T, storage Storage) {
	s := siteOf(t, storage, nil)
	want := titled(someChunks(40))
	s.create(want)
	change := func(fields map[string]float64, class string) {
		t.Helper()
		c := migration.Change{Fields: &fields}
		plan := s.plan(c, engine.MappingOptions{})
		if class != "" && plan.Diff.Class != class {
			t.Errorf("%v: %s, want %s: %+v", fields, plan.Diff.Class, class, plan.Diff.Changes)
		}
		s.apply(c, engine.MappingOptions{})
		if plan.Diff.Class == engine.ChangeReindex {
			s.until(engine.MigrationSwitched)
			s.holds(want)
			s.order(migration.Cleanup)
		}
		s.until(engine.MigrationDone)
		s.holds(want)
		kb := s.kb()
		if !maps.Equal(kb.Boosts, fields) {
			t.Errorf("the fields are %v, want %v", kb.Boosts, fields)
		}
		req := both(kb, "title", 1, 1)
		for part, by := range fields {
			req.Legs[0].Boosts = append(req.Legs[0].Boosts, engine.Boost{Part: part, By: by})
		}
		if result, err := s.Engine.Search(t.Context(), req); err != nil || result.Legs[0].Err != nil {
			t.Errorf("%v: %v, %+v", fields, err, result)
		}
		if diff, err := s.Diff(t.Context(), Tenant, "kb", migration.Change{}); err != nil || diff.Class != engine.ChangeNone {
			t.Errorf("then %+v, %v", diff, err)
		}
	}
	change(map[string]float64{"title": 3}, "")
	change(map[string]float64{"title": 5}, engine.ChangeInPlace)
	change(map[string]float64{"title": 5, "content": 2}, "")
	change(map[string]float64{}, "")
	half := migration.Change{Fields: &map[string]float64{"title": 1.5}}
	_, err := s.Plan(t.Context(), tester, "kb", migration.Request{Changes: half})
	refuses(t, err, fault.InvalidArgument, "fields.title")
}
