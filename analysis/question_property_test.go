package analysis

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// anyTokens are up to a hundred words of a few letters, some of them stop words and
// some with parts in front.
var anyTokens = rapid.Custom(func(t *rapid.T) []Token {
	n := rapid.IntRange(0, 100).Draw(t, "tokens")
	letters := rapid.IntRange(1, 90).Draw(t, "words")
	tokens := make([]Token, n)
	for i := range tokens {
		tokens[i] = Token{
			Text: string(rune('a' + rapid.IntRange(0, letters).Draw(t, "word"))), Start: 2 * i, End: 2*i + 1,
			Stop: rapid.IntRange(0, 3).Draw(t, "stop") == 0,
			Part: i < n-1 && rapid.IntRange(0, 3).Draw(t, "part") == 0,
		}
	}
	return tokens
})

// TestTermsAreDistinct: those found one by one and by a map are those that a plain
// search finds.
func TestTermsAreDistinct(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tokens := anyTokens.Draw(rt, "tokens")
		onlyStops := !slices.ContainsFunc(tokens, func(t Token) bool { return !t.Stop })
		var want []QueryTerm
		for _, tok := range tokens {
			if tok.Stop && !onlyStops {
				continue
			}
			at := slices.IndexFunc(want, func(q QueryTerm) bool { return q.Text == tok.Text })
			if at < 0 {
				at = len(want)
				want = append(want, QueryTerm{Text: tok.Text, Start: tok.Start, End: tok.End, Stop: tok.Stop})
			}
			want[at].Count++
			want[at].Part = want[at].Part || tok.Part
		}
		if got := distinct(tokens); !slices.Equal(got, want) {
			rt.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}

// TestCompoundsAreOfWords: those of the words with their parts, taken one by one.
func TestCompoundsAreOfWords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tokens := anyTokens.Draw(rt, "tokens")
		source := strings.Repeat(rapid.SampledFrom([]string{"x-", "x "}).Draw(rt, "source"), len(tokens))
		want := plainCompounds(tokens, source)
		same := func(a, b Compound) bool { return a.Kind == b.Kind && slices.Equal(a.Terms, b.Terms) }
		if got := compounds(tokens, source); !slices.EqualFunc(got, want, same) {
			rt.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}

func plainCompounds(tokens []Token, source string) (found []Compound) {
	add := func(kind CompoundKind, of ...Token) {
		c := Compound{Terms: texts(of), Kind: kind}
		known := slices.ContainsFunc(found, func(other Compound) bool { return slices.Equal(other.Terms, c.Terms) })
		if len(of) > 1 && !known && !repeats(c.Terms) {
			found = append(found, c)
		}
	}
	var words [][]Token // each behind its parts
	for from, i := 0, 0; i < len(tokens); i++ {
		if !tokens[i].Part {
			words, from = append(words, tokens[from:i+1]), i+1
		}
	}
	for i, word := range words {
		whole := word[len(word)-1]
		add(Parts, word[:len(word)-1]...)
		for before := i - 1; !whole.Stop && before >= max(0, i-1-maxStopsBetween); before-- {
			if last := words[before][len(words[before])-1]; !last.Stop {
				add(neighbourKind(source, last.End, word[0].Start), last, word[0])
				break
			}
		}
	}
	return found
}

func TestTextsOnOneLine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			" ", "  ", "a", "退款", "\t", "\u3000", "\u00a0", "\xff", "\ufffd", "é",
		})).Draw(rt, "text"), "")
		want := strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " ")
		if got := singleSpaced(text); got != want {
			rt.Fatalf("%q: got %q, want %q", text, got, want)
		}
	})
}
