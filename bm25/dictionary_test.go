package bm25

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDictionary finds each of few or many terms, and none of the others, by hashes
// as by halving.
func TestDictionary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching("[ab词]{0,7}")
		terms := rapid.SliceOfNDistinct(word, 0, 2*hashed, rapid.ID[string]).Draw(t, "terms")
		slices.Sort(terms)
		var d dictionary
		for _, term := range terms {
			d.append([]byte(term))
		}
		d.index()
		for _, term := range append(terms, rapid.SliceOfN(word, 0, 20).Draw(t, "others")...) {
			if got, want := d.find(term), slices.Index(terms, term); got != want || d.halve(term) != want {
				t.Fatalf("%q is at %d and %d, want %d", term, got, d.halve(term), want)
			}
		}
	})
}
