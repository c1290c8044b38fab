package postgres

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/seeds"
	"github.com/hybridge-search/hybridge/textquery"
)

// gateway opens an engine on a schema; an empty one is made for the test.
func gateway(t *testing.T, schema string) *Engine {
	t.Helper()
	e, err := Open(t.Context(), Options{
		Settings: Settings{Schema: schema, PoolSize: 6, KeywordWait: 10 * time.Second},
		URL:      devservices.Postgres(t), Tokenizer: enginetest.Words{}, // other tests keep the machine busy
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// newSchema names a schema that goes with the test.
func newSchema(t *testing.T) string {
	t.Helper()
	schema := "test_" + strings.ToLower(rand.Text()[:12])
	t.Cleanup(func() {
		conn, err := connect(context.Background(), &Options{Settings: Settings{Schema: "public"}, URL: devservices.Postgres(t)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		if _, err := conn.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	return schema
}

var notes = engine.KnowledgeBase{
	Ref: engine.Ref{Tenant: "acme", ID: "notes"}, Name: "notes", Engine: Name, Kind: engine.KindChunks,
	Dimensions: 2, Analyzer: engine.AnalyzerJieba,
}

// withNotes makes the knowledge base and gives the name of its keyword index.
func withNotes(t *testing.T, e *Engine) tiered.Index {
	t.Helper()
	if err := e.CreateKnowledgeBase(t.Context(), notes); err != nil {
		t.Fatal(err)
	}
	return indexOf(t, e, notes)
}

func indexOf(t *testing.T, e *Engine, kb engine.KnowledgeBase) tiered.Index {
	t.Helper()
	var index tiered.Index
	err := e.withBase(t.Context(), kb.Ref, func(b *base) error {
		index = b.index(e, engine.FieldText, 0)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func note(id, text string) engine.Chunk {
	return engine.Chunk{ID: id, DocumentID: id, Content: text, Available: true}
}

func put(t *testing.T, e *Engine, chunks ...engine.Chunk) {
	t.Helper()
	outcomes, err := e.Write(context.Background(), engine.WriteRequest{KB: notes, Chunks: chunks, Refresh: true})
	if err != nil {
		t.Error(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Error(o.Err)
		}
	}
}

// find gives the ids of the chunks with a word.
func find(t *testing.T, e *Engine, word string) (ids []string) {
	t.Helper()
	text := &textquery.Query{Terms: []textquery.Term{{Text: word, Weight: 1}}}
	result, err := e.Search(context.Background(), &engine.Request{
		KB: notes, Legs: []engine.Leg{{Name: "text", Field: engine.FieldText, K: 1000, Text: text}},
	})
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, leg := range result.Legs {
		if leg.Err != nil {
			t.Error(leg.Err)
		}
	}
	for _, hit := range result.Hits {
		ids = append(ids, hit.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestAPartReplacesOnlyWhatIsOlder(t *testing.T) {
	e := gateway(t, newSchema(t))
	store, index := &backend{e}, withNotes(t, e)
	f := func(from, to int64, saved bool, want ...int64) {
		t.Helper()
		got, err := store.Save(t.Context(), index, tiered.Blob{From: from, To: to, Docs: int(to - from), Data: []byte{byte(to)}})
		if err != nil || got != saved {
			t.Errorf("Save(%d, %d) = %v, %v; wanted %v", from, to, got, err, saved)
		}
		blobs, err := store.Load(t.Context(), index)
		if err != nil {
			t.Fatal(err)
		}
		var chain []int64
		last, head := int64(0), tiered.Head{}
		for i, b := range blobs {
			if b.From != last || len(b.Data) != 1 || b.Data[0] != byte(b.To) {
				t.Errorf("part %+v behind generation %d", b, last)
			}
			last, head.To = b.To, b.To
			chain = append(chain, b.To)
			if i == 0 {
				head.BaseDocs = b.Docs
			} else {
				head.Deltas, head.DeltaDocs = head.Deltas+1, head.DeltaDocs+b.Docs
			}
		}
		if !slices.Equal(chain, want) {
			t.Errorf("after Save(%d, %d) the chain is %v, wanted %v", from, to, chain, want)
		}
		if h, err := store.Head(t.Context(), index); err != nil || h != head {
			t.Errorf("Head = %+v, %v; wanted %+v", h, err, head)
		}
	}
	f(3, 5, false)
	f(0, 4, true, 4)
	f(0, 3, false, 4)
	f(0, 4, true, 4)
	f(3, 6, false, 4)
	f(4, 6, true, 4, 6)
	f(4, 7, false, 4, 6)
	f(6, 9, true, 4, 6, 9)
	f(0, 6, true, 6, 9) // what continues it stays
	f(0, 8, true, 8)    // what does not goes
	if err := store.Drop(t.Context(), index); err != nil {
		t.Fatal(err)
	}
	f(8, 9, false)
	if err := e.DeleteKnowledgeBase(t.Context(), notes.Ref); err != nil {
		t.Fatal(err)
	}
	f(0, 10, false)
}

// Many gateways store what they have at the same time: the newest base wins, and
// every chain that anybody can load is whole.
func TestPartsStoredAtTheSameTime(t *testing.T) {
	e := gateway(t, newSchema(t))
	store, index := &backend{e}, withNotes(t, e)
	var writers sync.WaitGroup
	for _, to := range seeds.New(t).Perm(24) {
		writers.Go(func() {
			b := tiered.Blob{To: int64(to) + 1, Docs: 1, Data: []byte("base")}
			if _, err := store.Save(context.Background(), index, b); err != nil {
				t.Error(err)
			}
			b.From, b.To = b.To, b.To+1
			if _, err := store.Save(context.Background(), index, b); err != nil {
				t.Error(err)
			}
			blobs, err := store.Load(context.Background(), index)
			for i := range blobs {
				if i > 0 && blobs[i].From != blobs[i-1].To {
					t.Errorf("a chain with a hole: %+v", blobs)
				}
			}
			if err != nil || len(blobs) == 0 || blobs[0].From != 0 {
				t.Errorf("loaded %+v, %v; want no error and some blobs and blobs[0].From 0", blobs, err)
			}
		})
	}
	writers.Wait()
	if blobs, err := store.Load(t.Context(), index); err != nil || blobs[0].To != 24 {
		t.Errorf("in the end %+v, %v; want no error and blobs[0].To 24", blobs, err)
	}
}

func TestOneGatewayHoldsTheLock(t *testing.T) {
	schema := newSchema(t)
	a, b := gateway(t, schema), gateway(t, schema)
	index := withNotes(t, a)
	ctx, stop := context.WithCancel(t.Context())
	unlock, err := (&backend{a}).Lock(ctx, index)
	if err != nil {
		t.Fatal(err)
	}
	stop() // the lock outlives the context that waited for it
	impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := (&backend{b}).Lock(impatient, index); err == nil {
		t.Error("two gateways hold one lock")
	}
	other := index
	other.Field = "question"
	if free, err := (&backend{b}).Lock(t.Context(), other); err != nil {
		t.Error(err)
	} else {
		free()
	}
	unlock()
	again, err := (&backend{b}).Lock(t.Context(), index)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("never:", what)
}

// TestChangesOfNothing leave the generation as it is, and with it what is cached.
func TestChangesOfNothing(t *testing.T) {
	e := gateway(t, newSchema(t))
	withNotes(t, e)
	put(t, e, note("a", "one"))
	generation := func() string {
		g, err := e.Generation(t.Context(), &notes)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	before := generation()
	if n, err := e.DeleteChunks(t.Context(), notes, []string{"nosuch"}); n != 0 || err != nil {
		t.Errorf("deleted %d, %v; want n 0 and no error", n, err)
	}
	if n, err := e.DeleteDocument(t.Context(), notes, "nosuch"); n != 0 || err != nil {
		t.Errorf("deleted %d, %v; want n 0 and no error", n, err)
	}
	if after := generation(); after != before {
		t.Errorf("the generation went from %s to %s", before, after)
	}
}

// TestLogIsTrimmed: once a keyword index that has seen them is stored, many deletions
// are forgotten, and an index of before them is made anew.
func TestLogIsTrimmed(t *testing.T) {
	e := gateway(t, newSchema(t))
	index := withNotes(t, e)
	put(t, e, note("a", "one"))
	_, err := e.pool.Exec(t.Context(), `INSERT INTO deleted_chunks (kb_id, generation, row)
		SELECT $1, 1, 1000 + n FROM generate_series(1, $2) AS n`, index.KnowledgeBase, logTrimThreshold+1)
	if err != nil {
		t.Fatal(err)
	}
	own := &backend{e}
	if saved, err := own.Save(t.Context(), index, tiered.Blob{To: 1, Data: []byte{1}}); !saved || err != nil {
		t.Fatalf("%t, %v; want saved and no error", saved, err)
	}
	left, from := 0, 0
	err = e.pool.QueryRow(t.Context(), `SELECT (SELECT COUNT(*) FROM deleted_chunks WHERE kb_id = $1), log_from
		FROM knowledge_bases WHERE number = $1`, index.KnowledgeBase).Scan(&left, &from)
	if err != nil || left != 0 || from != 1 {
		t.Errorf("%d deletions are left, the log begins at %d: %v; want no error and left 0 and from 1", left, from, err)
	}
}
