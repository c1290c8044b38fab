package embedded_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/textquery"
)

func TestRefusedDefinitions(t *testing.T) {
	e := open(t, t.TempDir())
	defer mustClose(t, e)
	f := func(want fault.Kind, change func(kb *engine.KnowledgeBase)) {
		t.Helper()
		kb := testKB
		change(&kb)
		if err := e.CreateKnowledgeBase(t.Context(), kb); !fault.Is(err, want) {
			t.Errorf("creating %+v gave %v, want %s", kb, err, want)
		}
	}
	f(fault.InvalidArgument, func(kb *engine.KnowledgeBase) { kb.ID = "" })
	f(fault.InvalidArgument, func(kb *engine.KnowledgeBase) { kb.Kind = "nosuch" })
	f(fault.InvalidArgument, func(kb *engine.KnowledgeBase) { kb.Analyzer = "ik_smart" })
	f(fault.InvalidArgument, func(kb *engine.KnowledgeBase) { kb.Dimensions = -1 })
	f(fault.InvalidArgument, func(kb *engine.KnowledgeBase) { kb.Dimensions = 4097 })
	f(fault.Unsupported, func(kb *engine.KnowledgeBase) { kb.Shared = true })
	f(fault.Unsupported, func(kb *engine.KnowledgeBase) { kb.Attach = &engine.Attachment{Index: "x"} })
}

func TestRefusedRequests(t *testing.T) {
	e := open(t, t.TempDir())
	defer mustClose(t, e)
	mustCreate(t, e)
	text := engine.Leg{Name: "text", Field: engine.FieldText, K: 1, Text: &textquery.Query{}}
	f := func(req engine.Request) {
		t.Helper()
		req.KB = testKB
		if _, err := e.Search(t.Context(), &req); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("searching %+v gave %v; want an error of kind InvalidArgument", req, err)
		}
	}
	f(engine.Request{})
	f(engine.Request{Legs: []engine.Leg{text}, Sum: &engine.Sum{Candidates: 1}})
	f(engine.Request{Legs: []engine.Leg{text}, Filter: engine.Filter{
		Fields: []string{"nosuch"}, Required: []textquery.Phrase{{Terms: []string{"x"}}},
	}})
	for _, req := range []engine.StatisticsRequest{
		{Field: "nosuch"},
		{Field: engine.FieldText, VectorField: "nosuch", Vector: []float32{1, 0}},
		{Field: engine.FieldText, VectorField: engine.FieldVector, Vector: []float32{1}},
	} {
		req.KB = testKB
		if _, err := e.Statistics(t.Context(), &req); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("statistics of %+v gave %v; want an error of kind InvalidArgument", req, err)
		}
	}
	_, err := e.DocumentChunks(t.Context(), engine.DocumentChunksRequest{KB: testKB, DocumentID: "d", After: "nosuch", To: -1, Limit: 1})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("continuing after an unknown chunk gave %v; want an error of kind NotFound", err)
	}
}

// TestSavedInBackground: after many writes the index is in the file without a
// Close.
func TestSavedInBackground(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	defer mustClose(t, e)
	mustCreate(t, e)
	var chunks []engine.Chunk
	for i := range 2500 {
		chunks = append(chunks, chunk(fmt.Sprint("c", i), "d", "word"))
	}
	mustWrite(t, e, chunks...)
	for len(storedIndexes(t, dir)) == 0 { // the test's own time limit ends it
		time.Sleep(time.Millisecond)
	}
	again := open(t, copyDir(t, dir))
	defer mustClose(t, again)
	if n := len(found(t, again, "word")); n != len(chunks) {
		t.Errorf("found %d of %d", n, len(chunks))
	}
}
