package bm25

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/textquery"
)

// TestCombinedIsRepetition holds BM25F to what it stands for: an index in which the tokens of a
// part stand as often as the part is boosted. Chunks come in several segments, and some go.
func TestCombinedIsRepetition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // documents
	words := []string{"a", "b", "c", "d", "e"}
	some := func(n int) (tokens []string) {
		for range r.IntN(n) {
			tokens = append(tokens, words[r.IntN(len(words))])
		}
		return tokens
	}
	whole, title, notes, repeated := New(Options{}), New(Options{}), New(Options{}), New(Options{})
	key := uint32(0)
	for range 5 {
		var all [4][]Doc
		for range 30 {
			key++
			inTitle, inNotes, rest := some(3), some(4), some(6)
			text := slices.Concat(inTitle, rest, inNotes)
			for i, tokens := range [][]string{
				text, inTitle, inNotes, slices.Concat(text, inTitle, inTitle, inNotes), // boosted 3 and 2
			} {
				all[i] = append(all[i], Doc{Key: key, Tokens: tokens})
			}
		}
		gone := []uint32{key - 3, key - 11, key - 20}
		for i, index := range []*Index{whole, title, notes, repeated} {
			if err := index.Add(all[i]); err != nil {
				t.Fatal(err)
			}
			index.Delete(gone)
		}
	}
	combined := &Combined{Whole: whole.Snapshot(), Parts: []Part{{title.Snapshot(), 3}, {notes.Snapshot(), 2}}}
	for i, q := range []textquery.Query{
		{Terms: []textquery.Term{{Text: "a", Weight: 1}}},
		{Terms: []textquery.Term{{Text: "a", Weight: 1}, {Text: "b", Weight: 0.4}, {Text: "none", Weight: 1}}, MinimumMatch: 2},
		{Terms: []textquery.Term{{Text: "c", Weight: 2, Synonyms: []textquery.Phrase{{Terms: []string{"d"}, Weight: 1.5}}}, {Text: "e", Weight: 0}}},
	} {
		want := map[uint32]float32{}
		repeated.Snapshot().ScoreAll(t.Context(), &q, func(key uint32, score float32) { want[key] = score })
		var keys []uint32
		combined.ScoreAll(t.Context(), &q, func(key uint32, score float32) {
			keys = append(keys, key)
			if d := score - want[key]; d > 1e-5 || d < -1e-5 {
				t.Errorf("query %d, chunk %d: %v, want %v", i, key, score, want[key])
			}
		})
		if len(keys) != len(want) || !slices.IsSorted(keys) {
			t.Errorf("query %d: %d chunks, want %d: %v", i, len(keys), len(want), keys)
		}
		even := func(key uint32) bool { return key%2 == 0 }
		got := combined.Search(t.Context(), &q, 7, even)
		if expected := repeated.Snapshot().Search(t.Context(), &q, 7, even); !alike(got, expected) {
			t.Errorf("query %d: %v, want %v", i, got, expected)
		}
		asked := []uint32{9, 2, 9, 1000, key - 3, 40}
		scores := combined.Scores(t.Context(), &q, asked)
		for j, key := range asked {
			if d := scores[j] - want[key]; d > 1e-5 || d < -1e-5 {
				t.Errorf("query %d: chunk %d has %v, want %v", i, key, scores[j], want[key])
			}
		}
	}
}

// alike compares keys but for those of equal scores, which rounding may swap.
func alike(a, b []Hit) bool {
	round := func(h Hit) string { return fmt.Sprintf("%.4f", h.Score) }
	return slices.EqualFunc(a, b, func(x, y Hit) bool { return round(x) == round(y) })
}
