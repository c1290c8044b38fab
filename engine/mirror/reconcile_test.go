package mirror

import (
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
)

type named struct {
	*embedded.Engine
	name string
}

func (n named) Name() string { return n.name }

// TestSettledDebtsAreNotPaid: a debt that was settled after it was read from the outbox
// would bring back an older chunk.
func TestSettledDebtsAreNotPaid(t *testing.T) {
	kb := engine.KnowledgeBase{Ref: engine.Ref{Tenant: "t", ID: "kb"}, Kind: engine.KindChunks}
	var engines []engine.Engine
	for _, name := range []string{"one", "two"} {
		e, err := embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: enginetest.Words{}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = e.Close() }()
		if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
			t.Fatal(err)
		}
		written := engine.Chunk{ID: "a", DocumentID: "d", Content: "of " + name, Available: true}
		if _, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{written}}); err != nil {
			t.Fatal(err)
		}
		engines = append(engines, named{e, name})
	}
	m, err := Open(t.Context(), Options{Path: t.TempDir(), Engines: engines, Retry: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	settled := []debt{{ref: kb.Ref, engine: "two", kind: oneChunk, id: "a", source: "one"}}
	if err := m.pay(t.Context(), settled); err != nil {
		t.Fatal(err)
	}
	chunks, err := engines[1].Chunks(t.Context(), engine.ChunksRequest{KB: kb, IDs: []string{"a"}})
	if err != nil || len(chunks) != 1 || chunks[0].Content != "of two" {
		t.Errorf("%+v, %v; want the chunk as it was", chunks, err)
	}
}

func TestWait(t *testing.T) {
	m := &Mirror{retry: 2 * time.Second}
	for attempts, want := range map[int]time.Duration{
		0: 2 * time.Second, 1: 4 * time.Second, 5: 64 * time.Second, 8: longestRetry, 1000: longestRetry,
	} {
		if got := m.wait(attempts); got != want {
			t.Errorf("after %d attempts %v, want %v", attempts, got, want)
		}
	}
}
