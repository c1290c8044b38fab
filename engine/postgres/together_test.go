package postgres_test

import (
	"path/filepath"
	"testing"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/engine/mirror"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/migrationtest"
)

// TestMigrationsOfTwoEngines runs the suite over a knowledge base on both, either of them the
// reference.
func TestMigrationsOfTwoEngines(t *testing.T) {
	for _, names := range [][]string{{postgres.Name, "embedded"}, {"embedded", postgres.Name}} {
		t.Run(names[0], func(t *testing.T) {
			migrationtest.Run(t, func(t *testing.T) migrationtest.Storage { return newPair(t, names).storage() })
		})
	}
}

// pair is both engines and their mirror, which one process has to itself.
type pair struct {
	t        *testing.T
	names    []string
	dir      string
	options  postgres.Options
	now      migrationtest.Gateway
	embedded *embedded.Engine
	postgres *postgres.Engine
	mirror   *mirror.Mirror
}

func newPair(t *testing.T, names []string) *pair {
	t.Helper()
	p := &pair{t: t, names: names, dir: t.TempDir(), options: optionsOf(t)}
	p.options.Embed = migrationtest.Embed
	t.Cleanup(p.close)
	return p
}

func (p *pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pair) close() {
	if p.mirror != nil {
		p.must(p.mirror.Close())
		p.must(p.embedded.Close())
		p.must(p.postgres.Close())
	}
}

func (p *pair) reopen(t *testing.T) migrationtest.Gateway {
	t.Helper()
	p.close()
	var err error
	p.embedded, err = embedded.Open(t.Context(), embedded.Options{
		Path: filepath.Join(p.dir, "data"), Tokenizer: enginetest.Words{}, Embed: migrationtest.Embed,
	})
	p.must(err)
	p.postgres, err = postgres.Open(t.Context(), p.options)
	p.must(err)
	engines := []engine.Engine{p.embedded, p.postgres}
	p.mirror, err = mirror.Open(t.Context(), mirror.Options{Path: p.dir, Engines: engines})
	p.must(err)
	set, err := p.mirror.Over(p.names)
	p.must(err)
	p.now = migrationtest.Gateway{Engine: set, Catalog: catalog.New(engines, catalog.Options{
		Mirror: func(names []string) (engine.Engine, error) { return p.mirror.Over(names) },
	})}
	return p.now
}

func (p *pair) storage() migrationtest.Storage {
	return migrationtest.Storage{
		Open: func(t *testing.T) migrationtest.Gateway {
			if p.now.Engine == nil {
				p.reopen(t)
			}
			return p.now
		},
		Reopen:  p.reopen,
		Tables:  p.tables,
		Schema:  engine.KnowledgeBase{Engine: p.names[0], Engines: p.names},
		Rebuild: migration.Change{Fields: &map[string]float64{"title": 3}},
	}
}

// tables counts those of the engine that has most, and wants both to hold the same where there is
// one.
func (p *pair) tables(t *testing.T) int {
	t.Helper()
	all, err := postgres.Tables(t.Context(), p.postgres)
	p.must(err)
	n := max(len(all), migrationtest.EmbeddedTables(t, filepath.Join(p.dir, "data")))
	if n != 1 {
		return n
	}
	kb, e, err := p.now.Catalog.Get(t.Context(), migrationtest.Tenant, "kb")
	p.must(err)
	report, err := e.(engine.Checker).Check(t.Context(), kb, false)
	if fault.Is(err, fault.Conflict) {
		return 1 // it goes on
	}
	p.must(err)
	if drift := report.Engines[0]; drift.Differs() {
		t.Errorf("the engines differ: %+v", drift)
	}
	return 1
}
