package fold

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/longbridgeapp/opencc"
	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/internal/golden"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// TestSimplified holds the table in the program to OpenCC.
func TestSimplified(t *testing.T) {
	converter, err := opencc.New("t2s")
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for r := rune(0x3400); r <= lastIdeograph; r++ {
		s, err := converter.Convert(string(r))
		if err != nil {
			t.Fatal(err)
		}
		if c, size := utf8.DecodeRuneInString(s); size == len(s) && c != r && c != utf8.RuneError {
			fmt.Fprintf(&lines, "%c%c\n", r, c)
		}
	}
	golden.Bytes(t, "../simplified.txt", []byte(lines.String()))
}

// TestIdeograph: all that the short ways for ideographs rely on.
func TestIdeograph(t *testing.T) {
	f := Load()
	for r := rune(firstIdeograph); r <= lastIdeograph; r++ {
		s := string(r)
		if Ideograph("x"+s, 1) != r || Ideograph(s[:2], 0) != 0 || f.Joins(s, 0) {
			t.Fatalf("%q is not seen, or joins", r)
		}
		to := f.runes[r]
		if f.Class(r) != Han || f.Class(to) != Han || Look(to) != f.Look(r) ||
			utf8.RuneLen(to) != IdeographBytes && to < firstLonger {
			t.Fatalf("%q becomes %q", r, to)
		}
		text := "退款" + s + s + "申"
		whole, bare := f.Fold(text, Folded{}, true), "退款"+string(to)+string(to)+"申"
		place := whole.Locator()
		if end := len(whole.Text); whole.Text != bare || place.Start(end-IdeographBytes) != len(text)-IdeographBytes {
			t.Fatalf("%q folds to %q, want %q, the end is at %d", text, whole.Text, bare, place.Start(end-1))
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.SliceOf(rapid.ByteRange(0x80, 0xef)), func(b []byte) string { return string(b) })).Draw(rt, "text")
		for i := range len(s) + 1 {
			r, _ := utf8.DecodeRuneInString(s[i:])
			if r < firstIdeograph || r > lastIdeograph {
				r = 0
			}
			if got := Ideograph(s, i); got != r {
				rt.Fatalf("%q at %d: %q, want %q", s, i, got, r)
			}
		}
	})
}

// TestRunesHoldVariants: every ideograph is seen that folds to a rune of the set.
func TestRunesHoldVariants(t *testing.T) {
	table := Load()
	for r := rune(firstIdeograph); r <= lastIdeograph; r++ {
		var set Runes
		if set.Add(table, table.runes[r]); !set.May(r) || !set.May(table.runes[r]) {
			t.Fatalf("%q is not seen, which folds to %q", r, table.runes[r])
		}
	}
}
