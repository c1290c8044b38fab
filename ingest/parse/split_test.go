package parse

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

func TestOverlapBeginsAtASentence(t *testing.T) {
	o := Options{Target: 60, Overlap: 25}.WithDefaults()
	text := "The first sentence is here. A second one. The third is a bit longer than it. Four. 如何申请退款?请在三十天内提出申请。谢谢!"
	var got []string
	passages, err := o.split([]section{{title: "T", blocks: []block{{text: text}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range passages {
		got = append(got, p.Content)
	}
	want := []string{
		"The first sentence is here. A second one.",
		"A second one. The third is a bit longer than it. Four.",
		"Four. 如何申请退款?请在三十天内提出申请。谢谢!",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// No letter is lost, doubled or moved, no passage is over the target, and
// lines are within the block's.
func TestSplittingKeepsEveryLetter(t *testing.T) {
	squeeze := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s)
	}
	words := rapid.SampledFrom([]string{
		"word", "退款", "a", "。", ". ", "! ", "\n", " ", "e\u0301", "🇩🇪", "한국어", "x.y", "\t", "Longerwordwithoutspaces",
	})
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Target: rapid.IntRange(2, 60).Draw(t, "target"), Overlap: -1}.WithDefaults()
		var blocks []block
		var all strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "blocks") {
			text := strings.Trim(strings.Join(rapid.SliceOfN(words, 0, 40).Draw(t, "words"), ""), "\n")
			blocks = append(blocks, block{
				text: text, first: 5, last: 5 + strings.Count(text, "\n"), byLines: rapid.Bool().Draw(t, "byLines"),
			})
			all.WriteString(text)
		}
		var got strings.Builder
		passages, err := o.split([]section{{blocks: blocks}})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range passages {
			// Blank lines between blocks are not counted.
			if n := letters(squeeze(p.Content)); n > o.Target {
				t.Fatalf("%d letters in %q, target %d", n, p.Content, o.Target)
			}
			if p.First < 5 || p.Last < p.First && len(blocks) == 1 {
				t.Fatalf("lines %d to %d", p.First, p.Last)
			}
			got.WriteString(p.Content)
		}
		if squeeze(got.String()) != squeeze(all.String()) {
			t.Fatalf("got %q, want %q", got.String(), all.String())
		}
	})
}
