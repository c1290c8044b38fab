package cli

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"search", "serve", "synonyms", "kb", "keys"}
	f := func(word string, want ...string) {
		t.Helper()
		if got := nearest(word, known); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", word, got, want)
		}
	}
	f("serch", "search")
	f("sarve", "serve")
	f("saerch", "search")
	f("k", "kb", "keys")
	f("SERVE", "serve")
	f("ab", "kb")
	f("ax")
	f("")
	f("nothing")
	f("搜索")
}
