package jieba

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/analysis/segment"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
	"github.com/hybridge-search/hybridge/internal/realtext"
)

type failer interface {
	Fatalf(format string, args ...any)
}

// checkCut compares the lexicon with gojieba.
func checkCut(t failer, s *Segmenter, text string) {
	if got, want := s.Lexicon().Segment(text, nil), s.Segment(text, nil); !slices.Equal(got, want) {
		t.Fatalf("%q: cut at %v, by gojieba at %v", text, got, want)
	}
}

func separates(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// TestLexiconIsGojieba on real texts, as all of them were once compared.
func TestLexiconIsGojieba(t *testing.T) {
	const stride = 20
	n := 0
	table := fold.Load()
	for _, text := range realtext.Every(t, stride, "../../../shared/data") {
		for _, s := range strings.FieldsFunc(table.String(text), separates) {
			if !fold.IsASCII(s) {
				checkCut(t, shared, s)
				n++
			}
		}
	}
	if n < 5000 {
		t.Errorf("only %d stretches compared; want n at least 5000", n)
	}
}

func TestLexiconIsGojiebaOnAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { checkCut(rt, shared, realtext.AnyHan().Draw(rt, "text")) })
}

// TestLexiconHasUserWords of every kind: known ones, new ones, of one rune, rare
// and frequent, with ASCII.
func TestLexiconHasUserWords(t *testing.T) {
	own, err := Open(Options{UserDictionary: write(t,
		"混合桥接器\n雲圖Pro 100\n款 9000000 n\n发\n人民共 1 n\n工会 2000000000\n线上海 60000 nz\n申请人民 n\nb二 5\n")})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) { checkCut(rt, own, realtext.AnyHan().Draw(rt, "text")) })
}

func BenchmarkCut(b *testing.B) {
	const text = "平台自成立以来一直重视用户的权益并设有专门的客服部门用户如需申请退款"
	b.Run("lexicon", func(b *testing.B) {
		var s segment.Lattice
		for b.Loop() {
			shared.Lexicon().Cut(text, &s)
		}
	})
	b.Run("gojieba", func(b *testing.B) {
		for b.Loop() {
			shared.Segment(text, nil)
		}
	})
}
