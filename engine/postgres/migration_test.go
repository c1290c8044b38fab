package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/internal/migrationtest"
)

func TestMigrations(t *testing.T) {
	migrationtest.Run(t, func(t *testing.T) migrationtest.Storage { return storageOf(optionsOf(t)) })
}

func storageOf(options postgres.Options) migrationtest.Storage {
	options.Embed = migrationtest.Embed
	another := func(t *testing.T) migrationtest.Gateway {
		e := open(t, options)
		return migrationtest.Gateway{Engine: e, Catalog: catalog.New([]engine.Engine{e}, catalog.Options{})}
	}
	return migrationtest.Storage{
		Open: another, Reopen: another,
		Tables: func(t *testing.T) int {
			all, err := postgres.Tables(t.Context(), open(t, options))
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		},
		Schema:  engine.KnowledgeBase{Engine: postgres.Name},
		Rebuild: migration.Change{VectorIndex: new("half_hnsw")},
	}
}

// TestInPlace mends indexes that somebody dropped, and drops those not wanted.
func TestInPlace(t *testing.T) {
	options := optionsOf(t)
	options.ExactLimit = 10
	e := open(t, options)
	kb := baseOf(t, e, 16, scattered(50, 16, 2))
	if err := postgres.BuildIndexes(t.Context(), e, kb.Ref); err != nil {
		t.Fatal(err)
	}
	f := func(index string, paths ...string) {
		t.Helper()
		wanted := kb
		wanted.VectorIndex = index
		diff, err := e.DiffMapping(t.Context(), kb, wanted)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range diff.Changes {
			got = append(got, c.Path)
		}
		if diff.Class != engine.ChangeInPlace || !slices.Equal(got, paths) {
			t.Errorf("%s: %v, want %v", diff.Class, got, paths)
		}
		m := &engine.Migration{
			Ref: kb.Ref, Direction: engine.GoForward, Plan: engine.MappingPlan{Wanted: wanted, Diff: *diff}, From: kb,
			FromIndex: diff.Index,
		}
		m.Step = e.MigrationSteps(m)[0]
		env := engine.MigrationEnv{Save: func(context.Context) error { return nil }}
		if err := e.MigrationStep(t.Context(), m, env); err != nil {
			t.Fatal(err)
		}
		if diff, err := e.DiffMapping(t.Context(), wanted, wanted); err != nil || diff.Class != engine.ChangeNone {
			t.Errorf("then %+v, %v; want no error and diff.Class ChangeNone", diff, err)
		}
		kb = wanted
	}
	execute(t, options.URL, fmt.Sprintf("DROP INDEX %[1]s.chunks_1_metadata, %[1]s.chunks_1_vector_hnsw", options.Schema))
	f("", "indexes.metadata", "indexes.vector_hnsw")
	f("none", "indexes.vector_hnsw", "vector_index")
	f("hnsw", "indexes.vector_hnsw", "vector_index")
}

// TestHalvesAreIndexed searches a table of halves by its index and without.
func TestHalvesAreIndexed(t *testing.T) {
	e := open(t, optionsOf(t))
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "kb"}, Kind: engine.KindChunks, Dimensions: 16, Engine: postgres.Name, VectorIndex: "half_hnsw",
	}
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	write(t, e, kb, scattered(1000, 16, 2))
	exact := nearest(t, e, kb, 10, engine.Filter{})
	if err := postgres.BuildIndexes(t.Context(), e, kb.Ref); err != nil {
		t.Fatal(err)
	}
	postgres.SetExact(e, -1, 0)
	got := nearest(t, e, kb, 10, engine.Filter{})
	if exact.Method != "exact" || got.Method != "hnsw" || !slices.Equal(idsOf(exact.Hits), idsOf(got.Hits)) {
		t.Errorf("%s: %v; %s: %v", exact.Method, idsOf(exact.Hits), got.Method, idsOf(got.Hits))
	}
}
