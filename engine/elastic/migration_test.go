package elastic_test

import (
	"testing"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/migrationtest"
)

// TestBoostsOfAKnowledgeBase is one case of the suite; the others, for a storage that shows what was
// written when it is refreshed, are with the service.
func TestBoostsOfAKnowledgeBase(t *testing.T) {
	t.Parallel()
	_, prefix := devservices.Indices(t)
	options := optionsOf(t, prefix)
	options.Embed, options.Grace = migrationtest.Embed, -1
	another := func(t *testing.T) migrationtest.Gateway {
		t.Helper()
		e := openWith(t, options)
		return migrationtest.Gateway{Engine: e, Catalog: catalog.New([]engine.Engine{e}, catalog.Options{})}
	}
	migrationtest.Boosts(t, migrationtest.Storage{
		Open: another, Reopen: another, Schema: engine.KnowledgeBase{Engine: elastic.Name},
	})
}
