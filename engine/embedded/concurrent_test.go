package embedded_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/textquery"
)

// TestReplacedDocumentIsWhole replaces a document again and again while
// searches want all of its chunks in one version.
func TestReplacedDocumentIsWhole(t *testing.T) {
	e := open(t, t.TempDir())
	defer mustClose(t, e)
	mustCreate(t, e)
	const parts, rounds = 8, 40
	replace := func(round int) {
		var chunks []engine.Chunk
		for i := range parts {
			c := chunk(fmt.Sprintf("c%d", i), "doc", fmt.Sprintf("word w%d", round))
			c.Metadata = map[string]any{"round": float64(round)}
			chunks = append(chunks, c)
		}
		if _, err := e.ReplaceDocument(t.Context(), "doc", engine.WriteRequest{KB: testKB, Chunks: chunks}); err != nil {
			t.Error(err)
		}
	}
	replace(0)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					wholeVersion(t, e, parts)
				}
			}
		})
	}
	for round := 1; round <= rounds; round++ {
		replace(round)
	}
	close(done)
	readers.Wait()
}

func wholeVersion(t *testing.T, e engine.Engine, parts int) {
	result, err := e.Search(t.Context(), &engine.Request{
		KB: testKB, Facets: []string{"round"},
		Legs: []engine.Leg{
			{Name: "text", Field: engine.FieldText, K: 100, Text: &textquery.Query{Terms: []textquery.Term{{Text: "word", Weight: 1}}}},
			{Name: "vector", Field: engine.FieldVector, K: 100, Vector: []float32{1, 0}},
		},
	})
	if err != nil {
		t.Error(err)
		return
	}
	if len(result.Hits) != parts {
		t.Errorf("%d hits of a document of %d chunks", len(result.Hits), parts)
	}
	for _, h := range result.Hits {
		if h.Facets["round"][0] != result.Hits[0].Facets["round"][0] ||
			h.Observations[0].Rank == 0 || h.Observations[1].Rank == 0 {
			t.Errorf("a hit of another version: %+v and %+v", h, result.Hits[0])
		}
	}
}

// TestManyWriters lets callers write, delete and search at once; what each was
// told is then there, also after a new start.
func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	mustCreate(t, e)
	const writers, each = 8, 25
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				id := fmt.Sprintf("w%d-%02d", w, i)
				mustWrite(t, e, chunk(id, "d"+id, "word"), chunk("shared", "s", "word"))
				if i%5 == 0 {
					if n, err := e.DeleteChunks(t.Context(), testKB, []string{id}); n != 1 || err != nil {
						t.Errorf("deleting %s gave %d, %v; want n 1 and no error", id, n, err)
					}
				}
				found(t, e, "word")
			}
		})
	}
	group.Wait()
	const want = writers*each*4/5 + 1
	if n := len(found(t, e, "word")); n != want {
		t.Errorf("%d chunks, want %d", n, want)
	}
	mustClose(t, e)
	e = open(t, dir)
	defer mustClose(t, e)
	if n := len(found(t, e, "word")); n != want {
		t.Errorf("%d chunks after a start, want %d", n, want)
	}
}

// TestDeletedUnderSearch deletes and creates a knowledge base while others use it.
func TestDeletedUnderSearch(t *testing.T) {
	e := open(t, t.TempDir())
	defer mustClose(t, e)
	mustCreate(t, e)
	done := make(chan struct{})
	var users sync.WaitGroup
	for w := range 3 {
		users.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				// Both succeed or say not_found; the race detector looks on.
				_, _ = e.Write(t.Context(), engine.WriteRequest{KB: testKB, Chunks: []engine.Chunk{chunk(fmt.Sprint(w, "-", i), "d", "word")}})
				_, _ = e.Describe(t.Context(), testKB)
			}
		})
	}
	for range 10 {
		if err := e.DeleteKnowledgeBase(t.Context(), testKB.Ref); err != nil {
			t.Error(err)
		}
		mustCreate(t, e)
	}
	close(done)
	users.Wait()
	mustWrite(t, e, chunk("last", "d", "final"))
	if got := found(t, e, "final"); len(got) != 1 {
		t.Errorf("found %q; want 1 got", got)
	}
}

// TestVersusItself writes the same chunks at once and one by one: many small
// segments answer like a large one.
func TestVersusItself(t *testing.T) {
	enginetest.Versus(t,
		enginetest.Harness{New: func(t *testing.T) engine.Engine { return open(t, t.TempDir()) }},
		enginetest.Harness{New: func(t *testing.T) engine.Engine { return oneByOne{open(t, t.TempDir())} }},
	)
}

type oneByOne struct{ engine.Engine }

func (o oneByOne) Write(ctx context.Context, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
	var all []engine.WriteOutcome
	for _, c := range req.Chunks {
		single := req
		single.Chunks = []engine.Chunk{c}
		outcomes, err := o.Engine.Write(ctx, single)
		if err != nil {
			return nil, err
		}
		all = append(all, outcomes...)
	}
	return all, nil
}

// TestWhatWasReadIsSelected: a write is in the file a moment before it is in memory; who has read it there finds it by
// conditions too.
func TestWhatWasReadIsSelected(t *testing.T) {
	e := open(t, t.TempDir())
	defer mustClose(t, e)
	mustCreate(t, e)
	for round := range 200 {
		id, document := fmt.Sprint("c", round), fmt.Sprint("d", round)
		var writer sync.WaitGroup
		writer.Go(func() {
			if _, err := e.Write(t.Context(), engine.WriteRequest{KB: testKB, Chunks: []engine.Chunk{chunk(id, document, "word")}}); err != nil {
				t.Error(err)
			}
		})
		for {
			read, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: testKB, IDs: []string{id}})
			if err != nil {
				t.Fatal(err)
			}
			if len(read) > 0 {
				break
			}
		}
		ids, err := e.SelectChunks(t.Context(), engine.SelectRequest{
			KB: testKB, Conditions: []filter.Condition{engine.OfDocument(document)}, Limit: 10,
		})
		if err != nil || len(ids) != 1 {
			t.Errorf("round %d: the chunk that was read is selected as %v, %v; want no error and 1 ids", round, ids, err)
		}
		writer.Wait()
	}
}
