package enginetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/textquery"
)

func loadCases() []testCase {
	return []testCase{
		{"load/a thousand chunks in one write", manyChunks},
		{"load/nothing to write", nothingToWrite},
		{"load/writers and searches at once", concurrently},
		{"load/a query of many words", longQuery},
		{"load/several legs over one field", sameField},
		{"load/every call on an unknown knowledge base", unknownEverywhere},
	}
}

func manyChunks(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	chunks := make([]engine.Chunk, 1000)
	for i := range chunks {
		chunks[i] = passage(fmt.Sprintf("c%04d", i*7%1000), "word", 1, float32(i*7%1000))
	}
	b.write(chunks...) // checks the order of the outcomes
	want := []string{"c0000", "c0001", "c0002"}
	same(t, "vector", b.ids(near(3, 1, 0), engine.Filter{}), want)
	same(t, "text", b.ids(words(3, "word"), engine.Filter{}), want)
	if d := b.describe(); d.Chunks != 1000 || d.Documents != 1000 || d.Vectors != 1000 {
		t.Errorf("described as %+v", d)
	}
}

func nothingToWrite(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write()
	same(t, "hits", b.ids(words(3, "word"), engine.Filter{}), []string{})
}

// concurrently lets writers and searches meet; a search sees a chunk's text
// and vector or neither, and in the end all is there.
func concurrently(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	const writers, rounds = 4, 5
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range rounds {
				chunks := []engine.Chunk{passage(fmt.Sprintf("w%d-%d", w, i), "word", 1, 0), passage("both", "word", 1, 0)}
				_, err := s.engine.Write(t.Context(), engine.WriteRequest{KB: b.kb, Chunks: chunks, Refresh: true})
				if err != nil {
					t.Errorf("writing: %v", err)
				}
				wholeChunks(t, b)
			}
		})
	}
	group.Wait()
	if n := len(b.ids(words(100, "word"), engine.Filter{})); n != writers*rounds+1 {
		t.Errorf("%d chunks, want %d", n, writers*rounds+1)
	}
}

func wholeChunks(t *testing.T, b *base) {
	req := engine.Request{KB: b.kb, Legs: []engine.Leg{words(100, "word"), near(100, 1, 0)}}
	req.Sum = &engine.Sum{Candidates: 100, Weights: []float64{1, 1}}
	result, err := b.engine.Search(t.Context(), &req)
	if err != nil {
		t.Errorf("searching: %v", err)
		return
	}
	for _, h := range result.Hits {
		if h.Observations[0].Raw == 0 || !h.Observations[1].Known() {
			t.Errorf("half of chunk %s: %+v", h.ID, h.Observations)
		}
	}
}

func longQuery(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(passage("a", "w7"), passage("b", "w7 w150"), passage("c", "other"))
	q := &textquery.Query{}
	for i := range 200 {
		q.Terms = append(q.Terms, textquery.Term{
			Text: fmt.Sprint("w", i), Weight: 1,
			Synonyms: []textquery.Phrase{{Terms: []string{fmt.Sprint("s", i)}, Weight: 0.8}},
		})
	}
	for i := range 50 {
		q.Phrases = append(q.Phrases, textquery.Phrase{Terms: []string{fmt.Sprint("w", i), fmt.Sprint("w", i+1)}, Weight: 1})
	}
	leg := engine.Leg{Name: "text", Field: engine.FieldText, K: 5, Text: q}
	same(t, "hits", b.ids(leg, engine.Filter{}), []string{"b", "a"})
	same(t, "a long word", b.ids(words(5, strings.Repeat("x", 200)), engine.Filter{}), []string{})
}

func sameField(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	b.write(passage("a", "red", 1, 0), passage("b", "blue", 0, 1), passage("c", "red blue", 1, 1))
	named := func(leg engine.Leg, name string) engine.Leg {
		leg.Name = name
		return leg
	}
	result := b.search(engine.Request{Legs: []engine.Leg{
		named(words(5, "red"), "one"), named(words(5, "blue"), "two"),
		named(near(1, 1, 0), "three"), named(near(2, 0, 1), "four"),
	}})
	for i, want := range [][]string{{"a", "c"}, {"b", "c"}, {"a"}, {"b", "c"}} {
		same(t, fmt.Sprint("leg ", i), ranking(result, i), want)
	}
}

func unknownEverywhere(t *testing.T, s *suite) {
	kb := s.definition(schema{Dimensions: 2})
	write := engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{passage("a", "word")}}
	ask := engine.StatisticsRequest{KB: kb, Field: engine.FieldText, Terms: []string{"a"}}
	_, statistics := s.engine.Statistics(t.Context(), &ask)
	_, replaced := s.engine.ReplaceDocument(t.Context(), "doc-a", write)
	_, document := s.engine.DeleteDocument(t.Context(), kb, "doc-a")
	_, chunks := s.engine.DeleteChunks(t.Context(), kb, []string{"a"})
	_, documents := s.engine.Documents(t.Context(), kb, "", 10)
	list := engine.DocumentChunksRequest{KB: kb, DocumentID: "d", To: -1, Limit: 10}
	_, parts := s.engine.DocumentChunks(t.Context(), list)
	_, fetched := s.engine.Chunks(t.Context(), engine.ChunksRequest{KB: kb, IDs: []string{"a"}})
	for name, err := range map[string]error{
		"Statistics": statistics, "ReplaceDocument": replaced, "DeleteDocument": document, "DeleteChunks": chunks,
		"Documents": documents, "DocumentChunks": parts, "Chunks": fetched,
	} {
		var typed *fault.Error
		if !errors.As(err, &typed) || typed.Kind != fault.NotFound {
			t.Errorf("%s gave %v, want not_found", name, err)
		}
	}
}
