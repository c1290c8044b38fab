package embedded

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

// TestBodies: those kept or read last stay, within the bytes given.
func TestBodies(t *testing.T) {
	const size = 100 - bodyOverhead
	body := func(row uint32) string { return fmt.Sprintf("%*d", size, row) }
	b := newBodies(100 * 100)
	keep := func(from, to uint32) {
		for row := from; row < to; row++ {
			b.keep(1, row, body(row))
		}
	}
	found := func(row uint32, want string) {
		t.Helper()
		if got, all := b.find(1, []uint32{row}); got[0] != want || all != (want != "") {
			t.Errorf("row %d is %q, %t; want %q", row, got, all, want)
		}
	}
	keep(0, 49)
	if !b.room() {
		t.Error("there is no room for as many again")
	}
	keep(0, 100)
	if b.room() {
		t.Error("there is room for more than fit")
	}
	found(0, body(0))
	found(99, body(99))
	found(100, "")
	keep(100, 150)
	found(0, body(0)) // it was read
	found(1, "")
	found(50, "")
	found(51, body(51))
	keep(150, 200)
	found(51, body(51))
	found(101, "")
	found(199, body(199))
	if len(b.kept) != 100 || len(b.queue) != 100 || b.bytes != 100*100 {
		t.Errorf("%d are kept, %d are queued, of %d bytes", len(b.kept), len(b.queue), b.bytes)
	}
	if got, all := b.find(2, []uint32{0}); got[0] != "" || all {
		t.Errorf("row 0 of another table is %q", got)
	}
	b.keep(1, 300, body(0)+strings.Repeat("x", 100*100/64))
	found(300, "")
}

// TestChunksAreOfOneMoment replaces a document again and again while others read its
// chunks, with all bodies kept, some, and none: they want all chunks in one version,
// and none older than what was acknowledged.
func TestChunksAreOfOneMoment(t *testing.T) {
	for _, most := range []int{bodyBytes, 64 * 250, 0} {
		e := opened(t)
		e.bodies = newBodies(most)
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
	e.bodies = newBodies(0)
	if _, whole, err := b.chunksOf(t.Context(), before, &req); err != nil || whole {
		t.Errorf("%t, %v; the rows are gone", whole, err)
	}
	twice := slices.Concat(w.ids(), w.ids(), w.ids(), []string{"nosuch"})
	chunks, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: w.kb, IDs: twice})
	if err != nil || len(chunks) != 3*len(w.ids()) || chunks[0].Content != "2" {
		t.Errorf("%+v, %v", chunks, err)
	}
}
