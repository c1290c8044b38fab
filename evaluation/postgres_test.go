package evaluation_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// TestBalancedOnPostgres: with questions in a language in which text knows next to
// nothing, the default preset does not fall under vectors alone, here 0.8792.
func TestBalancedOnPostgres(t *testing.T) {
	set, err := evaluation.Load(filepath.Join(dataFolder(t), "xquad_en2zh"), "e5")
	if err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), postgres.Options{
		Settings: postgres.Settings{KeywordWait: time.Minute},
		URL:      devservices.NewDatabase(t).URL, Tokenizer: opened(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	ten := 10
	system := evaluation.System{Name: "balanced", Request: search.Request{Preset: "balanced", TopK: &ten}}
	if got := measureOn(t, store, set, []evaluation.System{system})["balanced"]; got < 0.8792 {
		t.Errorf("nDCG@10 is %.4f; want got at least 0.8792", got)
	}
}
