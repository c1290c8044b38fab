package embedded

import (
	"context"
	"database/sql"
	"testing"

	"github.com/hybridge-search/hybridge/engine/enginetest"
)

// opened is an engine with an empty folder until the test ends.
func opened(t *testing.T) *Engine {
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

// TestBriefly wants a caller's end seen before a short reading, and while it waits
// for a connection.
func TestBriefly(t *testing.T) {
	e := opened(t)
	ctx, cancel := context.WithCancel(t.Context())
	if e.files.briefly(ctx).Done() != nil {
		t.Error("a reading is watched though nothing keeps it waiting")
	}
	var taken []*sql.Conn
	for range readerCount {
		c, err := e.files.readers.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, c)
	}
	if e.files.briefly(ctx).Done() == nil {
		t.Error("nothing ends the wait for a connection")
	}
	for _, c := range taken {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	cancel()
	if e.files.briefly(ctx).Err() == nil {
		t.Error("a context that has ended does not end the reading")
	}
}
