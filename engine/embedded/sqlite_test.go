package embedded

import (
	"testing"

	"github.com/hybridge-search/hybridge/engine/enginetest"
)

// opened is an engine with an empty folder until the test ends.
func opened(t testing.TB) *Engine {
	t.Helper()
	e, err := Open(t.Context(), Options{Path: t.TempDir(), Tokenizer: enginetest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// TestReaderSettings: the driver orders them as it likes, and one of them is given twice.
func TestReaderSettings(t *testing.T) {
	e := opened(t)
	size := 0
	if err := e.files.readers.QueryRowContext(t.Context(), "PRAGMA cache_size").Scan(&size); err != nil || size != -4000 {
		t.Errorf("the readers' cache of pages is %d, %v", size, err)
	}
}
