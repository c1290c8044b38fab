package postgres

import (
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/textquery"
)

// TestVectorsAnswerWithoutTheKeywordIndex: while another gateway builds it, for
// longer than a search waits, the text leg alone is unavailable; afterwards it is
// there.
func TestVectorsAnswerWithoutTheKeywordIndex(t *testing.T) {
	schema := newSchema(t)
	builder, waiting := gateway(t, schema), gateway(t, schema)
	index := withNotes(t, builder)
	chunk := note("a", "word")
	chunk.Vectors = map[string][]float32{engine.FieldVector: {1, 0}}
	put(t, builder, chunk)
	own := &backend{waiting}
	waiting.keywords.Close()
	waiting.keywords = tiered.New(tiered.Options{Source: own, Store: own, Locker: own, Wait: 50 * time.Millisecond})
	legs := func() []engine.LegOutcome {
		t.Helper()
		text := &textquery.Query{Terms: []textquery.Term{{Text: "word", Weight: 1}}}
		result, err := waiting.Search(t.Context(), &engine.Request{KB: notes, Legs: []engine.Leg{
			{Name: "text", Field: engine.FieldText, K: 5, Text: text},
			{Name: "vector", Field: engine.FieldVector, K: 5, Vector: []float32{1, 0}},
		}})
		if err != nil || len(result.Hits) != 1 || result.Legs[1].Err != nil {
			t.Fatalf("%+v, %v", result, err)
		}
		return result.Legs
	}
	finish, err := (&backend{builder}).Lock(t.Context(), index)
	if err != nil {
		t.Fatal(err)
	}
	if got := legs(); !fault.Is(got[0].Err, fault.Unavailable) {
		t.Errorf("the text leg while another builds: %+v", got[0])
	}
	finish()
	until(t, "the text leg answers", func() bool { return legs()[0].Err == nil })
}
