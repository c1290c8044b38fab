package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/textquery"
)

// impatient opens an engine of two connections whose searches wait 300 ms for a keyword
// index.
func impatient(t *testing.T, schema string) *Engine {
	t.Helper()
	e, err := Open(t.Context(), Options{
		Settings: Settings{Schema: schema, PoolSize: 2},
		URL:      devservices.Postgres(t), Tokenizer: enginetest.Words{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// withVector makes a knowledge base of one chunk.
func withVector(t *testing.T, e *Engine, id string) engine.KnowledgeBase {
	t.Helper()
	kb := notes
	kb.ID = id
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatal(err)
	}
	chunk := note("a", "word")
	chunk.Vectors = map[string][]float32{engine.FieldVector: {1, 0}}
	if _, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{chunk}}); err != nil {
		t.Fatal(err)
	}
	return kb
}

var (
	byText = engine.Leg{
		Name: "text", Field: engine.FieldText, K: 5,
		Text: &textquery.Query{Terms: []textquery.Term{{Text: "word", Weight: 1}}},
	}
	byVector = engine.Leg{Name: "vector", Field: engine.FieldVector, K: 5, Vector: []float32{1, 0}}
)

// asked is a search by words and a vector, with how long it took.
func asked(t *testing.T, e *Engine, kb engine.KnowledgeBase) (text engine.LegOutcome, took time.Duration) {
	t.Helper()
	begun := time.Now()
	result, err := e.Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{byText, byVector}})
	if err != nil || len(result.Hits) != 1 || result.Legs[1].Err != nil {
		t.Fatalf("%+v, %v; want no error and 1 result.Hits and no error", result, err)
	}
	return result.Legs[0], time.Since(begun)
}

// TestVectorsAnswerWithoutTheKeywordIndex: while another gateway builds it, for longer
// than a search waits, the text leg alone is unavailable; afterwards it is there.
func TestVectorsAnswerWithoutTheKeywordIndex(t *testing.T) {
	schema := newSchema(t)
	builder, waiting := gateway(t, schema), impatient(t, schema)
	kb := withVector(t, builder, "held")
	finish, err := (&backend{builder}).Lock(t.Context(), indexOf(t, builder, kb))
	if err != nil {
		t.Fatal(err)
	}
	if text, took := asked(t, waiting, kb); !fault.Is(text.Err, fault.Unavailable) || took > 3*time.Second {
		t.Errorf("the text leg while another builds: %+v after %v; want an error of kind Unavailable and took at most 3 * time.Second", text, took)
	}
	stats, err := waiting.Statistics(t.Context(), &engine.StatisticsRequest{
		KB: kb, Field: engine.FieldText, Terms: []string{"word"}, VectorField: engine.FieldVector, Vector: []float32{1, 0},
	})
	if err != nil || !fault.Is(stats.TextErr, fault.Unavailable) || stats.Vectors != 1 || stats.Cosine.Mean < 0.99 {
		t.Errorf("statistics while another builds: %+v, %v; want no error and an error of kind Unavailable and stats.Vectors 1 and stats.Cosine.Mean at least 0.99", stats, err)
	}
	alone := make(chan error, 1)
	go func() {
		_, err := waiting.Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{byText}})
		alone <- err
	}()
	time.Sleep(time.Second)
	finish()
	if err := <-alone; err != nil {
		t.Errorf("words alone, for which nothing else answers: %v", err)
	}
	until(t, "the text leg answers", func() bool {
		text, _ := asked(t, waiting, kb)
		return text.Err == nil
	})
	if all, _ := waiting.keywords.Totals(); all.Builds != 1 {
		t.Errorf("built %d times; want all.Builds 1", all.Builds)
	}
}

// TestVectorsAnswerWhileAllKeywordIndexesAreHeldUp: work on the indexes of several
// knowledge bases, all of which waits for one table, leaves connections to searches.
func TestVectorsAnswerWhileAllKeywordIndexesAreHeldUp(t *testing.T) {
	e := impatient(t, newSchema(t))
	bases := []engine.KnowledgeBase{withVector(t, e, "one"), withVector(t, e, "two"), withVector(t, e, "three")}
	conn, err := connect(t.Context(), &e.options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE bm25_indexes"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, kb := range bases {
			if text, took := asked(t, e, kb); !fault.Is(text.Err, fault.Unavailable) || took > 3*time.Second {
				t.Errorf("the text leg of %s: %+v after %v; want an error of kind Unavailable and took at most 3 * time.Second", kb.ID, text, took)
			}
		}
	}
	_ = conn.Close(t.Context())
	for _, kb := range bases {
		until(t, "the text leg answers", func() bool {
			text, _ := asked(t, e, kb)
			return text.Err == nil
		})
	}
}

// TestVectorsAnswerWhenNoKeywordIndexCanBeBuilt: a chunk in the database is damaged.
func TestVectorsAnswerWhenNoKeywordIndexCanBeBuilt(t *testing.T) {
	e := impatient(t, newSchema(t))
	kb := withVector(t, e, "broken")
	damage := fmt.Sprintf("UPDATE chunks_%d SET body = 'no JSON'", indexOf(t, e, kb).KnowledgeBase)
	if _, err := e.pool.Exec(t.Context(), damage); err != nil {
		t.Fatal(err)
	}
	if text, took := asked(t, e, kb); text.Err == nil || took > 3*time.Second {
		t.Errorf("the text leg: %+v after %v; want an error and took at most 3 * time.Second", text, took)
	} else {
		t.Logf("the text leg, after %v: %v (%s)", took, text.Err, fault.KindOf(text.Err))
	}
	stats, err := e.Statistics(t.Context(), &engine.StatisticsRequest{
		KB: kb, Field: engine.FieldText, Terms: []string{"word"}, VectorField: engine.FieldVector, Vector: []float32{1, 0},
	})
	if err != nil || stats.TextErr == nil || stats.Vectors != 1 {
		t.Errorf("statistics: %+v, %v; want no error and a stats.TextErr and stats.Vectors 1", stats, err)
	}
	if _, err := e.Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{byText}}); err == nil {
		t.Error("words alone are answered")
	}
}

// TestARefreshMakesTheKeywordIndexReady: a writer that asked for it waits for the build,
// and the search that follows need not.
func TestARefreshMakesTheKeywordIndexReady(t *testing.T) {
	e := gateway(t, newSchema(t))
	withNotes(t, e)
	put(t, e, note("a", "word"))
	e.options.KeywordWait = time.Nanosecond
	if ids := find(t, e, "word"); len(ids) != 1 {
		t.Errorf("found %v; want 1 ids", ids)
	}
}
