package answer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

// cutAll cuts a text that arrives at once.
func cutAll(text string) []Sentence {
	c := &cutter{sources: 4, room: MaxBytes}
	return c.add(text, true)
}

// cited is a sentence with citations.
func cited(text string, numbers ...int) Sentence {
	return Sentence{Text: text, Citations: append([]int{}, numbers...), Cited: len(numbers) > 0}
}

func TestSentences(t *testing.T) {
	f := func(text string, want ...Sentence) {
		t.Helper()
		if diff := cmp.Diff(want, cutAll(text)); diff != "" {
			t.Errorf(`%q: %s; want diff ""`, text, diff)
		}
	}
	f("")
	f(" \n ")
	f("A week", cited("A week"))
	f("A week [1]. By mail.[2][3] Then 【4】, too", cited("A week. ", 1), cited("By mail. ", 2, 3), cited("Then, too", 4))
	f("A week. [1] By mail! [2, 1]", cited("A week. ", 1), cited("By mail!", 2, 1))
	f("退款需要一周[1]。请发邮件申请。【2，3】要多久？［4］", cited("退款需要一周。", 1), cited("请发邮件申请。", 2, 3), cited("要多久？", 4))
	f("一周。[1][9]然后结束。", cited("一周。", 1), cited("然后结束。"))
	f("All. [2-4] None. [3–9] Back. [4-1]", cited("All. ", 2, 3, 4), cited("None. ", 3), cited("Back.", 4, 1))
	f("No such source. [5] [0] [77]", cited("No such source."))
	f("It costs 4.90, see example.com, e.g. there. By Dr. Smith of J. Smith. End [1].",
		cited("It costs 4.90, see example.com, e.g. there. "), cited("By Dr. Smith of J. Smith. "), cited("End.", 1))
	f("He said \"It is done.\" Then he left. **Bold.** [1] Last...", cited("He said \"It is done.\" "), cited("Then he left. "),
		cited("**Bold.** ", 1), cited("Last..."))
	f("Why?! Because. \"Who?\" asked she.", cited("Why?! "), cited("Because. "), cited("\"Who?\" asked she."))
	f("Two ways:\n\n1. By mail. [1]\n2. By phone [2]\n- or not\n", cited("Two ways:\n\n"), cited("1. By mail.\n", 1),
		cited("2. By phone\n", 2), cited("- or not\n"))
	f("First.\n[1]\n[2] says more.", cited("First.\n\n", 1), cited("says more.", 2))
	f("Run `a[1]. B` now [1]. `x", cited("Run `a[1]. B` now. ", 1), cited("`x"))
	f("Run:\n```sh\necho a[1]. B\n\nexit\n```\n[2]\nThen.", cited("Run:\n"), cited("```sh\necho a[1]. B\n\nexit\n```\n\n", 2), cited("Then."))
	f("```\nno end. [1]\nB", cited("```\nno end. [1]\nB"))
	f("[1]\n[2]")
	f("Half [1", cited("Half [1"))
	f("<think>Let me see. [1]\n</think>\n\nA week. [1]", cited("A week.", 1))
	f("\n<think></think><think>a</think> A <think> b", cited("A <think> b"))
	f("<think>for ever")
	f("<thin", cited("<thin"))
}

// What an answer is cut into does not depend on the pieces in which it came, and nothing but citations, white space in
// front and what the model thinks is lost.
func TestSentencesInPieces(t *testing.T) {
	words := []string{
		"A week", ".", ". ", "。", "[1]", " [2, 3]", "【4】", "[9]", "[", "]", "1", ",", "\n", "\n\n", " ", "```", "\n```\n", "`",
		"e.g. ", "Dr. ", "2. ", "退款", "?", "\"", "**", "<think>", "</think>", "…", "4.90", "-", "x",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 25).Draw(t, "words"), "")
		c := &cutter{sources: 4, room: MaxBytes}
		var got []Sentence
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			got = append(got, c.add(string(rest[:n]), false)...)
			rest = rest[n:]
		}
		got = append(got, c.add("", true)...)
		want := cutAll(text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf(`%q: %s; want diff ""`, text, diff)
		}
		if strings.Contains(text, "think>") {
			return
		}
		var all strings.Builder
		for _, s := range got {
			all.WriteString(s.Text)
		}
		if lost := letters(text); lost != letters(all.String()) {
			t.Fatalf("%q became %q", text, all.String())
		}
	})
}

// letters are what no citation has.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("Aweek.。edgDr退款?\"*…`x", r) {
			return r
		}
		return -1
	}, text)
}

func TestALongAnswerIsCut(t *testing.T) {
	c := &cutter{sources: 1, room: 23}
	got := append(c.add("退款需要一周。退款需要", false), c.add("一周。", false)...)
	got = append(got, c.add("", true)...)
	if diff := cmp.Diff([]Sentence{cited("退款需要一周。")}, got); diff != "" || !c.full {
		t.Errorf(`full %v: %s; want diff "" and c.full`, c.full, diff)
	}
}
