package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/textquery"
)

func searchCases() []testCase {
	return []testCase{
		{"search/empty knowledge base", searchEmpty},
		{"search/unknown knowledge base", searchUnknown},
		{"search/a leg fails alone", legFailsAlone},
		{"search/no leg can run", noLegRuns},
		{"search/many ties are cut by id", manyTies},
		{"search/k beyond the number of chunks", largeK},
		{"search/another tenant's chunks", otherTenant},
		{"search/chunks by id", chunksByID},
		{"search/scores left for later", lateScores},
		{"search/chunks brought along", chunksBrought},
	}
}

func searchEmpty(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	legs := []engine.Leg{words(10, "anything"), near(10, 1, 0)}
	result := b.search(engine.Request{Legs: legs})
	same(t, "hits", hitIDs(result.Hits), []string{})
	result = b.search(engine.Request{Legs: legs, Sum: &engine.Sum{Candidates: 5, Weights: []float64{1, 1}}})
	same(t, "hits of the sum", hitIDs(result.Hits), []string{})
}

func searchUnknown(t *testing.T, s *suite) {
	kb := s.definition(schema{Dimensions: 2})
	_, err := s.engine.Search(t.Context(), &engine.Request{KB: kb, Legs: []engine.Leg{words(1, "x")}})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("searching what does not exist gave %v, want not_found", err)
	}
}

func legFailsAlone(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	b.write(passage("a", "red fox", 1, 0))
	for _, broken := range []engine.Leg{
		near(5, 1, 0, 0),
		near(5, float32(math.NaN()), 0),
		near(5, float32(math.Inf(1)), 0),
		{Name: "lost", Field: "nosuch_vector", K: 5, Vector: []float32{1, 0}},
		{Name: "lost", Field: "nosuch", K: 5, Text: queryOf("red")},
	} {
		result := b.tolerant(engine.Request{Legs: []engine.Leg{words(5, "red"), broken}})
		same(t, "text leg", ranking(result, 0), []string{"a"})
		if result.Legs[1].Err == nil {
			t.Errorf("leg %+v did not fail", broken)
		}
		sum := &engine.Sum{Candidates: 3, Weights: []float64{1, 1}}
		result = b.tolerant(engine.Request{Legs: []engine.Leg{words(5, "red"), broken}, Sum: sum})
		same(t, "sum", hitIDs(result.Hits), []string{"a"})
	}
}

func noLegRuns(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	b.write(passage("a", "red fox", 1, 0))
	_, err := s.engine.Search(t.Context(), &engine.Request{KB: b.kb, Legs: []engine.Leg{near(5, 1, 0, 0)}})
	if err == nil {
		t.Error("a search without a leg that can run succeeded")
	}
}

// manyTies writes in an order that is neither the ids' nor its reverse.
func manyTies(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	const n = 40
	var chunks []engine.Chunk
	for i := range n {
		chunks = append(chunks, passage(fmt.Sprintf("t%02d", i*17%n), "same words", 1, 1))
	}
	b.write(chunks...)
	want := []string{"t00", "t01", "t02", "t03", "t04", "t05", "t06"}
	same(t, "text", b.ids(words(7, "words"), engine.Filter{}), want)
	same(t, "vector", b.ids(near(7, 1, 0), engine.Filter{}), want)
	result := b.search(engine.Request{
		Legs: []engine.Leg{words(1, "words"), near(1, 1, 0)},
		Sum:  &engine.Sum{Candidates: 7, Weights: []float64{1, 1}},
	})
	same(t, "sum", hitIDs(result.Hits), want)
}

func largeK(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	b.write(passage("a", "red", 1, 0), passage("b", "red", 0, 1))
	same(t, "text", b.ids(words(10000, "red"), engine.Filter{}), []string{"a", "b"})
	same(t, "vector", b.ids(near(10000, 1, 0), engine.Filter{}), []string{"a", "b"})
	result := b.search(engine.Request{
		Legs: []engine.Leg{words(1, "red"), near(1, 0, 1)},
		Sum:  &engine.Sum{Candidates: 10000, Weights: []float64{1, 1}},
	})
	same(t, "sum", hitIDs(result.Hits), []string{"b", "a"})
}

// otherTenant gives two tenants a knowledge base of the same id, and one
// tenant two of them, all with chunks of the same ids.
func otherTenant(t *testing.T, s *suite) {
	kinds := []bool{false}
	if s.engine.Capabilities().Shared {
		kinds = append(kinds, true)
	}
	for _, shared := range kinds {
		first := s.base(t, schema{Dimensions: 2, Shared: shared})
		kb := first.kb
		kb.Tenant = unique("tenant")
		second := s.create(t, kb)
		kb = first.kb
		kb.ID = unique("kb")
		third := s.create(t, kb)
		for i, b := range []*base{first, second, third} {
			b.write(passage("same", fmt.Sprint("common word", i), 1, 0), passage(fmt.Sprint("own", i), "common", 0, 1))
		}
		for i, b := range []*base{first, second, third} {
			want := []string{fmt.Sprint("own", i), "same"}
			sameSet(t, "text", b.ids(words(10, "common"), engine.Filter{}), want)
			sameSet(t, "vector", b.ids(near(10, 1, 0), engine.Filter{}), want)
			other := fmt.Sprint("word", (i+1)%3)
			same(t, "another's word", b.ids(words(10, other), engine.Filter{}), []string{})
		}
		if n, err := s.engine.DeleteDocument(t.Context(), first.kb, "doc-same"); err != nil || n != 1 {
			t.Errorf("deleting gave %d, %v", n, err)
		}
		same(t, "after the delete", second.ids(words(10, "word0"), engine.Filter{}), []string{})
		sameSet(t, "others keep theirs", second.ids(words(10, "common"), engine.Filter{}), []string{"own1", "same"})
		sameSet(t, "its own is gone", first.ids(words(10, "common"), engine.Filter{}), []string{"own0"})
	}
}

func chunksByID(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	hidden := passage("h", "hidden", 1, 0)
	hidden.Available = false
	b.write(passage("a", "first", 1, 0), passage("b", "second"), hidden)
	get := func(hidden bool, ids ...string) []string {
		chunks, err := s.engine.Chunks(t.Context(), engine.ChunksRequest{KB: b.kb, IDs: ids, Hidden: hidden})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range chunks {
			if c.Vectors != nil {
				t.Errorf("chunk %q came with vectors", c.ID)
			}
			got = append(got, c.ID)
		}
		return got
	}
	same(t, "in the order asked", get(false, "b", "zz", "a"), []string{"b", "a"})
	same(t, "hidden ones are left out", get(false, "h", "a"), []string{"a"})
	same(t, "unless asked for", get(true, "h", "a"), []string{"h", "a"})
	same(t, "none asked", get(true), nil)
}

// phrase is a text query of one term that is always there and one phrase.
func phrase(anchor string, slop int, terms ...string) *textquery.Query {
	return &textquery.Query{
		Terms:   []textquery.Term{{Text: anchor, Weight: 1}},
		Phrases: []textquery.Phrase{{Terms: terms, Slop: slop, Weight: 1}},
	}
}
