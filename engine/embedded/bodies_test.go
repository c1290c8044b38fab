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

func keptBodies(t *testing.T, most uint64) *bodies {
	t.Helper()
	b, err := newBodies(most)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBodies: what is kept stays within the bytes given, and is that row's of that table.
func TestBodies(t *testing.T) {
	const size, most = 1000, 100 * 1000
	body := func(row uint32) string { return fmt.Sprintf("%*d", size-bodyOverhead, row) }
	b := keptBodies(t, most)
	keep := func(from, to uint32) {
		for row := from; row < to; row++ {
			b.keep(1, row, body(row))
		}
	}
	keep(0, 49)
	if !b.room() {
		t.Error("there is no room for as many again")
	}
	keep(49, 300)
	if b.room() {
		t.Error("there is room for more than fit")
	}
	kept := 0
	for row := range uint32(301) {
		got, all := b.find(1, []uint32{row})
		if all != (got[0] != "") || all && got[0] != body(row) {
			t.Errorf("row %d is %q, %t", row, got, all)
		}
		if all {
			kept++
		}
	}
	if kept < 50 || kept > most/size {
		t.Errorf("%d are kept of %d that fit", kept, most/size)
	}
	if got, all := b.find(2, []uint32{0, 1}); got[0] != "" || got[1] != "" || all {
		t.Errorf("of another table there are %q", got)
	}
}

// TestChunksAreOfOneMoment replaces a document again and again while others read its
// chunks, with all bodies kept, some, and none: they want all chunks in one version,
// and none older than what was acknowledged.
func TestChunksAreOfOneMoment(t *testing.T) {
	for _, most := range []uint64{bodyBytes, 4 * 250, 1} {
		e := opened(t)
		e.bodies = keptBodies(t, most)
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

// TestChunksChangedSince reads the chunks of a snapshot that is no longer the file's.
func TestChunksChangedSince(t *testing.T) {
	e := opened(t)
	w := replacing{e: e, kb: engine.KnowledgeBase{Ref: engine.Ref{Tenant: "t", ID: "kb"}, Kind: engine.KindChunks}}
	if err := e.CreateKnowledgeBase(t.Context(), w.kb); err != nil {
		t.Fatal(err)
	}
	w.replace(t)
	b, before, err := e.snapshot(t.Context(), w.kb.Ref)
	if err != nil {
		t.Fatal(err)
	}
	w.replace(t)
	req := engine.ChunksRequest{KB: w.kb, IDs: w.ids()}
	if chunks, whole, err := b.chunksOf(t.Context(), before, &req); err != nil || !whole || chunks[0].Content != "1" {
		t.Errorf("%+v, %t, %v; want the version of the snapshot, whose bodies are kept", chunks, whole, err)
	}
	e.bodies = keptBodies(t, 1)
	if _, whole, err := b.chunksOf(t.Context(), before, &req); err != nil || whole {
		t.Errorf("%t, %v; the rows are gone", whole, err)
	}
	twice := slices.Concat(w.ids(), w.ids(), w.ids(), []string{"nosuch"})
	chunks, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: w.kb, IDs: twice})
	if err != nil || len(chunks) != 3*len(w.ids()) || chunks[0].Content != "2" {
		t.Errorf("%+v, %v", chunks, err)
	}
}
