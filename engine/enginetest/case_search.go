package enginetest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// chunksBrought holds an engine that brings chunks along with a ranking to those that it
// gives when asked for them, and to the same ranking.
func chunksBrought(t *testing.T, s *suite) {
	b := s.base(t, schema{Dimensions: 2})
	full := passage("full", "red <b>&</b> more\nlines \\ \"中文\" 😀 \u2028", 1, 0)
	full.DocumentName, full.Ordinal, full.Title, full.Owner = "guide.md", 70_000, "A “title”", "u1"
	full.WrittenAt = "2026-11-28T16:00:00Z"
	full.Positions = [][]float64{{1, 72.5, 520, 90, -1e-9}, {2, 1, 2, 3, 4}}
	full.Metadata = map[string]any{
		"s": "红\t", "long": strings.Repeat("long ", 20), "empty": "", "b": true, "f": false,
		"n": -1.5, "whole": 9007199254740993.0, "big": 1e300, "list": []any{"a", 2.0, true},
	}
	hidden := passage("hidden", "red fox")
	hidden.Available = false
	b.write(full, passage("a", "red"), passage("b", "red blue sea"), passage("c", "blue"), hidden)
	b.bringAlike("a text leg", engine.Request{Legs: []engine.Leg{words(10, "red")}})
	both := []engine.Leg{words(10, "red"), near(10, 1, 1)}
	for name, sum := range map[string]engine.Sum{
		"a sum":              {Candidates: 10, Weights: []float64{0.3, 0.7}},
		"a sum of few":       {Candidates: 2, Weights: []float64{0.3, 0.7}},
		"a sum of equals":    {Candidates: 2, Weights: []float64{0, 0}},
		"a sum of saturated": {Candidates: 10, Weights: []float64{1, 1}, Pivot: 2},
	} {
		b.bringAlike(name, engine.Request{Legs: both, Sum: &sum})
	}
	b.bringAlike("a sum of one", engine.Request{
		Legs: both[:1], Sum: &engine.Sum{Candidates: 10, Weights: []float64{1}},
	})

	pairs := s.base(t, schema{Kind: engine.KindQA})
	pairs.write(engine.Chunk{ID: "q", DocumentID: "d", Available: true, Title: "t", QA: &engine.QA{
		Question: "q?", Answer: "red", FullAnswer: "full", Summary: "s",
		URL: "u", Category: "c", Date: "2026-01-31", Group: "g",
	}})
	leg := engine.Leg{Name: "answer", Field: engine.FieldAnswer, K: 10, Text: queryOf("red")}
	for _, got := range pairs.search(engine.Request{Legs: []engine.Leg{leg}, Prefetch: 1}).Chunks {
		if diff := cmp.Diff(pairs.chunk("q"), got); diff != "" {
			t.Errorf("a pair came with the ranking (-asked for +brought):\n%s", diff)
		}
	}
}

// bringAlike searches with more and more hits shown.
func (b *base) bringAlike(name string, req engine.Request) {
	b.t.Helper()
	req.KB = b.kb
	want := hitIDs(b.search(req).Hits)
	for prefetch := range 5 {
		req.Prefetch = prefetch
		result, err := b.engine.Search(b.t.Context(), &req)
		if err != nil {
			b.t.Fatal(err)
		}
		same(b.t, "hits of "+name, hitIDs(result.Hits), want)
		for _, got := range result.Chunks {
			if diff := cmp.Diff(b.chunk(got.ID), got); diff != "" || !got.Available {
				b.t.Errorf("%q came with the ranking of %s (-asked for +brought):\n%s", got.ID, name, diff)
			}
		}
		if len(result.Chunks) == 0 && prefetch == 3 {
			b.t.Logf("%s brings no chunks with the ranking of %s", b.engine.Name(), name)
		}
	}
}

// lateScores holds an engine that may leave raw scores for later to giving, with
// the chunks, the very scores that it gives at once when asked at once.
func lateScores(t *testing.T, s *suite) {
	scorer, ok := s.engine.(engine.DeferredScorer)
	if !ok {
		t.Logf("%s gives all scores at once", s.engine.Name())
	}
	b := s.base(t, schema{Dimensions: 2})
	b.write(
		passage("a", "red fox", 1, 0), passage("b", "red fox red", 0, 1), passage("c", "red", 3, 4),
		passage("d", "blue bird", 1, 0.1), passage("e", "red bird"),
	)
	req := engine.Request{Legs: []engine.Leg{words(2, "red"), near(2, 1, 0)}}
	atOnce := b.search(req)
	req.DeferScores, req.KB = true, b.kb
	later, err := s.engine.Search(t.Context(), &req)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "hits", hitIDs(later.Hits), hitIDs(atOnce.Hits))
	if !ok {
		same(t, "raw scores", rawScores(later.Hits), rawScores(atOnce.Hits))
		return
	}
	ids := hitIDs(atOnce.Hits)
	slices.Reverse(ids)
	page := engine.ChunksRequest{KB: b.kb, IDs: append(ids, "absent")}
	chunks, raw, err := scorer.ScoreChunks(t.Context(), page, req.Legs)
	if err != nil {
		t.Fatal(err)
	}
	unknown := 0
	for i, id := range ids {
		if chunks[i].ID != id || chunks[i].Content == "" {
			t.Fatalf("chunk %d is %+v, want %s", i, chunks[i], id)
		}
		at := len(ids) - 1 - i
		for leg, o := range later.Hits[at].Observations {
			want := atOnce.Hits[at].Observations[leg].Raw
			if !nearly(raw[i][leg], want, 1e-6) || o.Known() && !nearly(o.Raw, want, 1e-6) {
				t.Errorf("%s by leg %d: %v later and %v by the search, want %v", id, leg, raw[i][leg], o.Raw, want)
			}
			if !o.Known() {
				unknown++
			}
		}
	}
	if len(chunks) != len(ids) || unknown == 0 {
		t.Errorf("%d chunks for %d ids, %d scores were left for later", len(chunks), len(ids), unknown)
	}
}

// rawScores concatenates the raw scores of all hits.
func rawScores(hits []engine.Hit) []string {
	var raw []string
	for i := range hits {
		for _, o := range hits[i].Observations {
			raw = append(raw, fmt.Sprint(o.Raw))
		}
	}
	return raw
}
