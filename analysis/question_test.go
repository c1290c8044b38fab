package analysis

import (
	"slices"
	"strings"
	"testing"
)

// TestNeighbours: words are, over two stop words and not over three.
func TestNeighbours(t *testing.T) {
	f := func(question string, want ...string) {
		t.Helper()
		q := Parse(question, func(text string) []Token {
			tokens := words(text)
			for i := range tokens {
				tokens[i].Stop = tokens[i].Text == "of" || tokens[i].Text == "the"
			}
			return tokens
		})
		var got []string
		for _, c := range q.Compounds {
			got = append(got, strings.Join(c.Terms, " "))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
	f("a of the b", "a b")
	f("a of the of b")
	f("a b of c", "a b", "b c")
}

// TestPhrasesAreKeptOnce: also where another one stands between them.
func TestPhrasesAreKeptOnce(t *testing.T) {
	q := Parse(`"a b" "c d" "a b" -"x y" -z -"x y"`, words)
	if len(q.Required) != 2 || len(q.Excluded) != 2 {
		t.Errorf("required %v, excluded %v; want 2 q.Required and 2 q.Excluded", q.Required, q.Excluded)
	}
	places := []int{1, 3, 7, 9, 13, 15}
	for i, tok := range q.Tokens {
		if tok.Position != i || tok.Start != places[i] {
			t.Errorf("token %d: %+v, want it at %d", i, tok, places[i])
		}
	}
}
