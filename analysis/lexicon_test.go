package analysis

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// realTexts gives each stride-th text of the data sets beside the clone.
func realTexts(t testing.TB, stride int) []string {
	t.Helper()
	files, err := filepath.Glob("../../shared/data/*/*.jsonl")
	if err != nil || len(files) == 0 {
		devservices.Missing(t, "no data sets in ../shared/data")
	}
	var all []string
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for n := 0; lines.Scan(); n++ {
			var e struct{ Title, Text, Question, Answer string }
			if n%stride > 0 {
				continue
			}
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			all = append(all, e.Title, e.Text, e.Question, e.Answer)
		}
		_ = file.Close()
	}
	return all
}

// hanStretches are what a text gives gojieba to cut, ASCII words included.
func hanStretches(a *Analyzer, text string) []string {
	var all []string
	s := &scanner{Analyzer: a, folded: folded{text: a.Fold(text)}}
	for i := 0; i < len(s.text); {
		start, hasHan := i, false
		for i-start < maxBlockBytes {
			r, ok := s.nextRun(i)
			if !ok {
				break
			}
			i, hasHan = r.end, hasHan || r.han
		}
		if hasHan {
			all = append(all, s.text[start:i])
		}
		if i == start {
			_, size := s.class(i)
			i += size
		}
	}
	return all
}

// checkCut compares the lexicon with gojieba.
func checkCut(t failer, a *Analyzer, text string) {
	want := partsMarked(a.segmenter.cut(text, nil))
	if got := a.segmenter.lexicon.cut(text, &lattice{}); !slices.Equal(got, want) {
		t.Fatalf("%q: cut at %v, by gojieba at %v", text, got, want)
	}
}

// partsMarked finds the parts among gojieba's words.
func partsMarked(words []extent) []extent {
	pieces := make([]piece, len(words))
	for i, w := range words {
		pieces[i] = piece{start: w.start, end: w.end}
	}
	markParts(pieces)
	for i, p := range pieces {
		words[i].part = p.part
	}
	return words
}

// TestLexiconIsGojieba on real texts, as all of them were once compared.
func TestLexiconIsGojieba(t *testing.T) {
	const stride = 20
	n := 0
	for _, text := range realTexts(t, stride) {
		for _, s := range hanStretches(shared, text) {
			checkCut(t, shared, s)
			n++
		}
	}
	if n < 5000 {
		t.Errorf("only %d stretches compared", n)
	}
}

// anyHan draws ideographs, common, rare and beyond the basic plane, words that
// overlap, and ASCII between them.
func anyHan() *rapid.Generator[string] {
	const common = "退款申请人民共和国工会部分钟头发现在线上海水平台北京东西方便宜家务必须要点心情的了一二三是不有"
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom([]string{
				"b", "t恤", "3.14", "user's", "c++", "卡拉ok", "ab2", "2ab", "1.", "𠀀", "㐀", "〇", "々", "混合桥接器", "云图pro",
				"中华人民共和国", "乒乓球拍卖完", "结婚的和尚未结婚的", "南京市长江大桥", "台湾繁體字後", "克里斯蒂亚诺罗纳尔多",
			}),
			rapid.StringOfN(rapid.RuneFrom([]rune(common)), 1, 12, -1),
			rapid.StringOfN(rapid.RuneFrom(nil, unicode.Han), 1, 6, -1),
		), 1, 20).Draw(t, "pieces"), "")
	})
}

func TestLexiconIsGojiebaOnAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { checkCut(rt, shared, anyHan().Draw(rt, "text")) })
}

// TestLexiconHasUserWords of every kind: known ones, new ones, of one rune, rare
// and frequent, with ASCII.
func TestLexiconHasUserWords(t *testing.T) {
	a, err := New(Options{UserDictionary: write(t,
		"混合桥接器\n雲圖Pro 100\n款 9000000 n\n发\n人民共 1 n\n工会 2000000000\n线上海 60000 nz\n申请人民 n\nb二 5\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	rapid.Check(t, func(rt *rapid.T) { checkCut(rt, a, anyHan().Draw(rt, "text")) })
}

// TestTooLargeForTheLexicon: gojieba cuts then.
func TestTooLargeForTheLexicon(t *testing.T) {
	l := &lexicon{edges: make([]uint64, 2*maxNodes), weights: make([]float64, maxNodes)}
	if l.add("退款", -1) {
		t.Error("a word was added to a full table")
	}
	s := &scanner{Analyzer: &Analyzer{segmenter: &segmenter{jieba: shared.segmenter.jieba}}, selecting: true}
	if got := s.cut("退款申请"); !slices.Equal(got, []extent{{start: 0, end: 6}, {start: 6, end: 12}}) {
		t.Errorf("cut at %v", got)
	}
}

func TestBadWordModel(t *testing.T) {
	f := func(text string) {
		t.Helper()
		if _, err := readWordModel(text); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%.20q: error %v", text, err)
		}
	}
	good := strings.Repeat("0 0 0 0\n", 5) + strings.Repeat("一:-1,二:-2\n", 4)
	if _, err := readWordModel("#\n\n" + good); err != nil {
		t.Error(err)
	}
	f("")
	f(strings.Replace(good, "0 0", "0 x", 1))
	f(strings.Replace(good, "-2", "x", 1))
}

func BenchmarkCut(b *testing.B) {
	const text = "平台自成立以来一直重视用户的权益并设有专门的客服部门用户如需申请退款"
	b.Run("lexicon", func(b *testing.B) {
		var s lattice
		for b.Loop() {
			shared.segmenter.lexicon.cut(text, &s)
		}
	})
	b.Run("gojieba", func(b *testing.B) {
		for b.Loop() {
			shared.segmenter.cut(text, nil)
		}
	})
}
