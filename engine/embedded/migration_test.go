package embedded_test

import (
	"testing"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/internal/migrationtest"
)

// TestMigrations: one process has the data to itself, so all gateways of a test are that one.
func TestMigrations(t *testing.T) {
	migrationtest.Run(t, func(t *testing.T) migrationtest.Storage {
		dir := t.TempDir()
		var now migrationtest.Gateway
		reopen := func(t *testing.T) migrationtest.Gateway {
			t.Helper()
			if now.Engine != nil {
				mustClose(t, now.Engine)
			}
			e, err := embedded.Open(t.Context(), embedded.Options{
				Path: dir, Tokenizer: enginetest.Words{}, Embed: migrationtest.Embed,
			})
			if err != nil {
				t.Fatal(err)
			}
			now = migrationtest.Gateway{Engine: e, Catalog: catalog.New([]engine.Engine{e}, catalog.Options{})}
			return now
		}
		t.Cleanup(func() { mustClose(t, now.Engine) })
		return migrationtest.Storage{
			Open: func(t *testing.T) migrationtest.Gateway {
				if now.Engine == nil {
					reopen(t)
				}
				return now
			},
			Reopen:  reopen,
			Tables:  func(t *testing.T) int { return migrationtest.EmbeddedTables(t, dir) },
			Schema:  engine.KnowledgeBase{Engine: "embedded"},
			Rebuild: migration.Change{Fields: &map[string]float64{"title": 3}},
		}
	})
}
