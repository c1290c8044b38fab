package embedded

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

// TestChunksAreOfOneMoment replaces a document again and again while others read its
// chunks: they want all chunks in one version, and none older than what was acknowledged.
func TestChunksAreOfOneMoment(t *testing.T) {
	e := opened(t)
	kb := engine.KnowledgeBase{Ref: engine.Ref{Tenant: "t", ID: "kb"}, Kind: engine.KindChunks}
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	w := replacing{e: e, kb: kb}
	w.replace(t)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for !closed(done) {
				w.read(t)
			}
		})
	}
	for range 60 {
		w.replace(t)
	}
	close(done)
	readers.Wait()
	twice := slices.Concat(w.ids(), []string{"nosuch"}, w.ids())
	chunks, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: kb, IDs: twice})
	if err != nil || len(chunks) != 2*len(w.ids()) {
		t.Errorf("ids asked for twice give %d chunks, %v", len(chunks), err)
	}
}

func closed(done chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// replacing writes versions of a document of some chunks.
type replacing struct {
	e       *Engine
	kb      engine.KnowledgeBase
	version atomic.Int64
}

func (*replacing) ids() []string { return []string{"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"} }

func (w *replacing) replace(t *testing.T) {
	var chunks []engine.Chunk
	for _, id := range w.ids() {
		content := fmt.Sprint(w.version.Load() + 1)
		chunks = append(chunks, engine.Chunk{ID: id, DocumentID: "d", Content: content, Available: true})
	}
	if _, err := w.e.ReplaceDocument(t.Context(), "d", engine.WriteRequest{KB: w.kb, Chunks: chunks}); err != nil {
		t.Error(err)
	}
	w.version.Add(1)
}

func (w *replacing) read(t *testing.T) {
	least := int(w.version.Load())
	chunks, err := w.e.Chunks(t.Context(), engine.ChunksRequest{KB: w.kb, IDs: w.ids()})
	if err != nil || len(chunks) != len(w.ids()) {
		t.Errorf("%d chunks are read, %v", len(chunks), err)
		return
	}
	for _, c := range chunks {
		if version, err := strconv.Atoi(c.Content); err != nil || version < least || c.Content != chunks[0].Content {
			t.Errorf("version %s beside %s, at least %d is wanted: %v", c.Content, chunks[0].Content, least, err)
		}
	}
}
