package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/textquery"
)

func queryOf(text string) *textquery.Query {
	q := &textquery.Query{}
	for _, word := range strings.Fields(text) {
		q.Terms = append(q.Terms, textquery.Term{Text: word, Weight: 1})
	}
	return q
}

// wait polls until something holds, for half a minute at most.
func wait(t testing.TB, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen")
		}
	}
}

func both(kb engine.KnowledgeBase, word string, v ...float32) *engine.Request {
	return &engine.Request{KB: kb, Legs: []engine.Leg{
		{Name: "text", Field: engine.FieldText, K: 1000, Text: queryOf(word)},
		{Name: "vector", Field: engine.FieldVector, K: 1000, Vector: v},
	}}
}

// TestServerRestartsMidSearchAndMidCopy: searches and writes fail as unavailable
// while the server is away, go on when it is back, and no write is half there.
//
// Promise: "every acknowledged document is there as a whole" (docs/stamina.md).
func TestServerRestartsMidSearchAndMidCopy(t *testing.T) {
	server := devservices.StartPostgres(t)
	options := postgres.Options{URL: server.URL, Tokenizer: enginetest.Words{}}
	var e *postgres.Engine
	wait(t, func() (ready bool) { // it listens before it answers
		var err error
		e, err = postgres.Open(t.Context(), options)
		if err == nil && e.Ping(t.Context()) != nil {
			return e.Close() != nil
		}
		return err == nil
	})
	t.Cleanup(func() { _ = e.Close() })
	kb := baseOf(t, e, 4, nil)
	ctx, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	acknowledged := map[string]bool{}
	work.Go(func() { acknowledged = writeMuch(ctx, t, e, kb) })
	work.Go(func() { searchMuch(ctx, t, e, kb) })
	for range 2 {
		time.Sleep(300 * time.Millisecond)
		server.Restart()
	}
	server.Kill()
	server.Start()
	wait(t, func() bool { return e.Ping(t.Context()) == nil })
	time.Sleep(300 * time.Millisecond)
	stop()
	work.Wait()
	checkBatches(t, e, kb, acknowledged)
}

const batchSize = 400

// writeMuch writes documents of batchSize chunks and gives those acknowledged.
func writeMuch(ctx context.Context, t *testing.T, e *postgres.Engine, kb engine.KnowledgeBase) map[string]bool {
	acknowledged := map[string]bool{}
	for i := 0; ctx.Err() == nil; i++ {
		document := fmt.Sprintf("d%04d", i)
		chunks := make([]engine.Chunk, batchSize)
		for j := range chunks {
			chunks[j] = engine.Chunk{
				ID: fmt.Sprintf("%s-%d", document, j), DocumentID: document, Available: true, Content: "word " + document,
				Vectors: map[string][]float32{engine.FieldVector: {1, float32(i), float32(j), 0}},
			}
		}
		_, err := e.Write(ctx, engine.WriteRequest{KB: kb, Chunks: chunks})
		switch {
		case err == nil:
			acknowledged[document] = true
		case ctx.Err() == nil && !isAway(err):
			t.Errorf("writing: %v", err)
		}
	}
	return acknowledged
}

func isAway(err error) bool {
	return fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Timeout) || fault.Is(err, fault.Overloaded)
}

// searchMuch wants whole batches in every answer.
func searchMuch(ctx context.Context, t *testing.T, e *postgres.Engine, kb engine.KnowledgeBase) {
	for ctx.Err() == nil {
		result, err := e.Search(ctx, both(kb, "word", 1, 0, 0, 0))
		if err != nil {
			if ctx.Err() == nil && !isAway(err) {
				t.Errorf("searching: %v", err)
			}
			continue
		}
		for _, leg := range result.Legs {
			if leg.Err != nil && !isAway(leg.Err) && ctx.Err() == nil {
				t.Errorf("a leg failed: %v", leg.Err)
			}
		}
	}
}

// checkBatches wants every acknowledged document whole, and every other one whole
// or not there.
func checkBatches(t *testing.T, e *postgres.Engine, kb engine.KnowledgeBase, acknowledged map[string]bool) {
	t.Helper()
	var documents []engine.Document
	var described *engine.Description
	wait(t, func() bool { // until no write ends meanwhile that nobody waited for
		before := len(documents)
		var err, failed error
		described, err = e.Describe(t.Context(), kb)
		documents, failed = e.Documents(t.Context(), kb, "", 100_000)
		if err = errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		return len(documents) == before
	})
	if len(documents) < len(acknowledged) || len(acknowledged) == 0 {
		t.Errorf("%d documents of %d acknowledged", len(documents), len(acknowledged))
	}
	for _, d := range documents {
		if d.Chunks != batchSize {
			t.Errorf("document %s has %d chunks of %d", d.ID, d.Chunks, batchSize)
		}
		leg := engine.Leg{Name: "text", Field: engine.FieldText, K: 1000, Text: queryOf(d.ID)}
		result, err := e.Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{leg}})
		if err != nil || len(result.Hits) != batchSize {
			t.Errorf("document %s: %v; want no error and batchSize result.Hits", d.ID, err)
		}
	}
	if d := described; d.Chunks != len(documents)*batchSize || d.Vectors != d.Chunks {
		t.Errorf("described as %+v, with %d documents", d, len(documents))
	}
}

func TestAwayAtTheStart(t *testing.T) {
	devservices.Postgres(t)
	e, err := postgres.Open(t.Context(), postgres.Options{
		URL: "postgres://postgres@127.0.0.1:1/postgres", Tokenizer: enginetest.Words{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	if err := e.Ping(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("ping: %v; want an error of kind Unavailable", err)
	}
	if _, err := e.KnowledgeBases(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("listing: %v; want an error of kind Unavailable", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	f := func(o postgres.Options) {
		t.Helper()
		o.Tokenizer = enginetest.Words{}
		_, err := postgres.Open(t.Context(), o)
		var typed *fault.Error
		if !errors.As(err, &typed) || typed.Kind != fault.InvalidArgument || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	f(postgres.Options{URL: "postgres://u:s3cr3t@[::1/x"})
	f(postgres.Options{URL: "postgres://u:s3cr3t@h:99999/x"})
	f(postgres.Options{Settings: postgres.Settings{Schema: `a"; DROP SCHEMA public; --`}, URL: "postgres://h/x"})
	if _, err := postgres.Open(t.Context(), postgres.Options{URL: "postgres://h/x"}); err == nil {
		t.Error("opened without a tokenizer")
	}
}

// TestWhatTheServerSaysBecomesAKind: a trigger of somebody's says each code to a write, as the server does when it has
// such a trouble; what waiting does not mend says so.
func TestWhatTheServerSaysBecomesAKind(t *testing.T) {
	options := optionsOf(t)
	e := open(t, options)
	kb := baseOf(t, e, 2, nil)
	tables, err := postgres.Tables(t.Context(), e)
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables %v, %v; want no error and 1 tables", tables, err)
	}
	execute(t, options.URL, "CREATE FUNCTION "+options.Schema+".says() RETURNS trigger LANGUAGE plpgsql AS "+
		"$$ BEGIN RAISE EXCEPTION 'hush' USING ERRCODE = left(NEW.id, 5); END $$")
	execute(t, options.URL, "CREATE TRIGGER says BEFORE INSERT ON "+options.Schema+"."+tables[0]+
		" FOR EACH ROW WHEN (NEW.id LIKE '_____-%') EXECUTE FUNCTION "+options.Schema+".says()")
	f := func(code string, want fault.Kind, lasting bool) {
		t.Helper()
		chunk := engine.Chunk{ID: code + "-x", DocumentID: "d", Available: true, Content: "word"}
		_, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{chunk}})
		if !fault.Is(err, want) || fault.IsLasting(err) != lasting {
			t.Errorf("%s: %v, lasting %v; want %s, lasting %v", code, err, fault.IsLasting(err), want, lasting)
		}
	}
	f("53300", fault.Overloaded, false)  // too many connections
	f("53100", fault.DiskFull, false)    // disk full
	f("53200", fault.Unavailable, false) // out of memory
	f("57014", fault.Timeout, false)     // canceled by its timeout
	f("57P03", fault.Unavailable, false) // starting up
	f("58030", fault.Unavailable, false) // input or output failed
	f("40001", fault.Unavailable, false) // to be repeated
	f("25006", fault.Unavailable, false) // read-only: a standby
	f("08006", fault.Unavailable, false) // connection lost
	f("28000", fault.Unavailable, false) // refused
	f("XX001", fault.Corrupt, false)
	f("XX002", fault.Corrupt, false)
	f("42501", fault.Unavailable, true) // no rights
	f("42703", fault.Unavailable, true) // a column is gone
	f("42883", fault.Unavailable, true) // a function is gone
	f("42704", fault.Unavailable, true) // a type is gone
	f("23514", fault.Unavailable, true) // a constraint of somebody's
	f("P0001", fault.Unavailable, true) // a trigger of somebody's
	f("55000", fault.Unavailable, true)
	f("55P03", fault.Internal, false) // a lock that was not to be had
	f("22012", fault.Internal, false) // ours
	if _, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{
		{ID: "fine", DocumentID: "d", Available: true, Content: "word"},
	}}); err != nil {
		t.Error(err)
	}
}

// TestAServerWithoutAConnectionLeft keeps no gateway from starting: it is used when it has one.
func TestAServerWithoutAConnectionLeft(t *testing.T) {
	options := optionsOf(t)
	role := options.Schema
	t.Cleanup(func() { execute(t, devservices.Postgres(t), "DROP ROLE "+role) })
	open(t, options) // makes what the role may not
	execute(t, options.URL, "CREATE ROLE "+role+" LOGIN CONNECTION LIMIT 0 IN ROLE postgres")
	limited := options
	limited.URL = strings.Replace(options.URL, "postgres@", role+"@", 1)
	e := open(t, limited)
	if _, err := e.KnowledgeBases(t.Context()); !fault.Is(err, fault.Overloaded) {
		t.Errorf("got %v, want overloaded", err)
	}
	execute(t, options.URL, "ALTER ROLE "+role+" CONNECTION LIMIT -1")
	if _, err := e.KnowledgeBases(t.Context()); err != nil {
		t.Errorf("with connections left: %v", err)
	}
}
