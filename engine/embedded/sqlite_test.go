package embedded

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/fault"
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
		t.Errorf("the readers' cache of pages is %d, %v; want no error and size -4000", size, err)
	}
}

// TestFullDisk: a write that finds no room says so and changes nothing, searches go on, and so
// do writes when there is room again.
func TestFullDisk(t *testing.T) {
	e := opened(t)
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "kb"}, Engine: "embedded", Kind: engine.KindChunks, Analyzer: "jieba",
	}
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	write := func(id string, size int) error {
		c := engine.Chunk{ID: id, DocumentID: "d", Content: strings.Repeat("word ", size), Available: true}
		_, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{c}})
		return err
	}
	if err := write("a", 1); err != nil {
		t.Fatal(err)
	}
	limit := func(pages string) {
		if _, err := e.files.writer.ExecContext(t.Context(), "PRAGMA max_page_count = "+pages); err != nil {
			t.Fatal(err)
		}
	}
	limit("1") // SQLite makes it as many as there are
	before := e.bases[kb.Ref].current.Load()
	for range 3 {
		if err := write("b", 100_000); !fault.Is(err, fault.DiskFull) {
			t.Fatalf("a write without room gave %v", err)
		}
	}
	if e.bases[kb.Ref].current.Load() != before {
		t.Error("the knowledge base is read again")
	}
	if all := e.Troubles(); len(all) != 1 || all[0].Code != engine.DiskFull {
		t.Errorf("troubles %+v; want 1 all and all[0].Code DiskFull", all)
	}
	limit("1000000")
	if err := write("b", 100_000); err != nil {
		t.Errorf("a write with room again gave %v", err)
	}
	if n := e.bases[kb.Ref].current.Load().live.GetCardinality(); n != 2 || len(e.Troubles()) > 0 {
		t.Errorf("%d chunks, %+v; want n 2 and len(e.Troubles()) 0", n, e.Troubles())
	}
}
