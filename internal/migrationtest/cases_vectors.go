package migrationtest

import (
	"context"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// titled gives every other chunk a title.
func titled(chunks map[string]engine.Chunk) map[string]engine.Chunk {
	for id, c := range chunks {
		if c.ID[len(c.ID)-1]%2 == 0 {
			c.Title = "a title of " + id
			vectors, _ := Embed(context.Background(), "model2", []string{c.FieldText(engine.FieldText)})
			c.Vectors = map[string][]float32{engine.FieldVector: vectors[0]}
			chunks[id] = c
		}
	}
	return chunks
}

func fieldsOf(fields ...engine.VectorField) migration.Change {
	return migration.Change{VectorFields: &fields}
}

var (
	ofTitle = engine.VectorField{Name: "title_vector", Source: engine.SourceTitle}
	brought = engine.VectorField{Name: "summary_vector"}
)

// vectors counts the chunks that have each vector, and wants those of titles to be
// of the title alone and by the model that the knowledge base has now.
func (s *site) vectors(want map[string]int) {
	s.t.Helper()
	kb := s.kb()
	all, err := s.Engine.Scan(s.t.Context(), engine.ScanRequest{KB: kb, Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	got := map[string]int{}
	for _, c := range all {
		for name := range c.Vectors {
			got[name]++
		}
		if v := c.Vectors[ofTitle.Name]; v != nil {
			of, err := Embed(s.t.Context(), kb.EmbeddingModel, []string{c.Title})
			if err != nil || !near(v, of[0]) {
				s.t.Errorf("%s has %v of its title %q, want %v (%v)", c.ID, v, c.Title, of, err)
			}
		}
	}
	for name, n := range want {
		if got[name] != n {
			s.t.Errorf("%d chunks have %s, want %d; all: %v", got[name], name, n, got)
		}
	}
	if len(got) != len(want) {
		s.t.Errorf("the vectors are %v, want %v", got, want)
	}
}

// testFurtherVectors adds vector fields, gives up one, and changes the model below
// them.
func testFurtherVectors(t *testing.T, storage Storage) {
	s := siteOf(t, storage, nil)
	want := titled(someChunks(40))
	s.create(want)
	step := func(change migration.Change, copies string) {
		t.Helper()
		plan := s.plan(change, engine.MappingOptions{})
		if plan.Diff.Class != engine.ChangeReindex || plan.Diff.Copy != copies {
			t.Errorf("the plan is %s by %s, want %s: %+v", plan.Diff.Class, plan.Diff.Copy, copies, plan.Diff.Changes)
		}
		s.apply(change, engine.MappingOptions{})
		s.until(engine.MigrationSwitched)
		s.holds(want)
	}
	done := func(order migration.Order, state string) {
		t.Helper()
		s.order(order)
		s.until(state)
		s.holds(want)
		if diff, err := s.Diff(t.Context(), Tenant, "kb", migration.Change{}); err != nil || diff.Class != engine.ChangeNone {
			t.Errorf("then %+v, %v", diff, err)
		}
	}
	before := s.kb()
	step(fieldsOf(ofTitle), engine.CopyEmbed)
	s.vectors(map[string]int{"vector": 40, "title_vector": 20})
	late := titled(map[string]engine.Chunk{"c0002": chunkOf("c0002", 3)})["c0002"] // by a gateway that missed the switch
	s.write(before, late)
	want["c0002"] = late
	s.vectors(map[string]int{"vector": 40, "title_vector": 20})
	done(migration.Rollback, engine.MigrationRolledBack)
	s.vectors(map[string]int{"vector": 40})
	step(fieldsOf(ofTitle), engine.CopyEmbed)
	done(migration.Cleanup, engine.MigrationDone)

	step(fieldsOf(ofTitle, brought), engine.CopyRebuild)
	done(migration.Cleanup, engine.MigrationDone)
	c := want["c0001"]
	c.Vectors = map[string][]float32{engine.FieldVector: c.Vectors[engine.FieldVector], brought.Name: {3, 4}}
	s.write(s.kb(), c)
	s.vectors(map[string]int{"vector": 40, "title_vector": 20, "summary_vector": 1})
	s.keptInConflict()

	other := fieldsOf(ofTitle)
	other.EmbeddingModel = new("model3")
	step(other, engine.CopyEmbed)
	done(migration.Cleanup, engine.MigrationDone)
	s.vectors(map[string]int{"vector": 40, "title_vector": 20})
	step(fieldsOf(), engine.CopyRebuild)
	s.vectors(map[string]int{"vector": 40})
	done(migration.Cleanup, engine.MigrationDone)
}

// testARefusedTextIsNamed: of all chunks the one whose text the model refuses is named, with the model's reason, and
// once it is changed the migration goes on.
func testARefusedTextIsNamed(t *testing.T, storage Storage) {
	s := siteOf(t, storage, nil)
	want := someChunks(40)
	s.create(want)
	refused := chunkOf("c0017", 1)
	refused.Content = refusedText
	s.write(s.kb(), refused)
	s.apply(newModel, engine.MappingOptions{})
	m := s.until(engine.MigrationFailed)
	const says = "chunk c0017 of document dc0: the embedding service answered 400: 512 tokens at most"
	if m.Error == nil || m.Error.Detail != says {
		t.Fatalf("it failed by %+v; want %s", m.Error, says)
	}
	want["c0017"] = chunkOf("c0017", 2)
	s.write(s.kb(), want["c0017"])
	s.order(migration.Resume)
	s.until(engine.MigrationSwitched)
	s.holds(want)
}

// keptInConflict wants a change of the model to be refused that would lose vectors
// which nobody here can make anew.
func (s *site) keptInConflict() {
	s.t.Helper()
	plan := s.plan(newModel, engine.MappingOptions{})
	const path = "vector_fields.summary_vector"
	i := slices.IndexFunc(plan.Diff.Changes, func(c engine.MappingChange) bool { return c.Path == path })
	if plan.Diff.Class != engine.ChangeConflict || i < 0 || plan.Diff.Changes[i].Class != engine.ChangeConflict {
		s.t.Fatalf("the plan is %s: %+v", plan.Diff.Class, plan.Diff.Changes)
	}
	_, err := s.Apply(s.t.Context(), tester, "kb", plan.ID)
	refuses(s.t, err, fault.Conflict, "vector_fields.summary_vector")
}

// testSourcesInPlace: that nobody makes a field's vectors any more is said by the
// schema alone.
func testSourcesInPlace(t *testing.T, storage Storage) {
	s := siteOf(t, storage, nil)
	want := titled(someChunks(10))
	s.create(want)
	s.apply(fieldsOf(ofTitle), engine.MappingOptions{})
	s.until(engine.MigrationSwitched)
	s.order(migration.Cleanup)
	s.until(engine.MigrationDone)
	s.apply(fieldsOf(engine.VectorField{Name: ofTitle.Name}), engine.MappingOptions{})
	s.until(engine.MigrationDone)
	s.vectors(map[string]int{"vector": 10, "title_vector": 5})
	if fields := s.kb().VectorFields; len(fields) != 1 || fields[0].Source != "" {
		t.Errorf("the fields are %+v", fields)
	}
	bad := fieldsOf(engine.VectorField{Name: "x"})
	if _, err := s.Plan(t.Context(), tester, "kb", migration.Request{Changes: bad}); err == nil {
		t.Error("a bad name was planned")
	}
}
