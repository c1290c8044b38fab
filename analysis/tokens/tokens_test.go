package tokens

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestTokensGolden shows what every text becomes: text[start:end], a part
// with +, a stop word with -.
func TestTokensGolden(t *testing.T) {
	type entry struct {
		Text   string   `json:"text"`
		Tokens []string `json:"tokens"`
	}
	var got []entry
	for _, text := range readTexts(t, "texts.json") {
		e := entry{Text: text, Tokens: []string{}}
		for _, tok := range shared.Tokens(text) {
			s := tok.Text + " ← " + text[tok.Start:tok.End]
			if tok.Part {
				s += " +"
			}
			if tok.Stop {
				s += " -"
			}
			e.Tokens = append(e.Tokens, s)
		}
		got = append(got, e)
	}
	golden(t, "texts.golden.json", got)
}

// TestFoldMatches pairs texts that must be found by each other.
func TestFoldMatches(t *testing.T) {
	f := func(a, b string) {
		t.Helper()
		x, y := join(shared.Terms(a)), join(shared.Terms(b))
		if x != y || x == "" {
			t.Errorf("%q gives %q, %q gives %q", a, x, b, y)
		}
	}
	f("退款申請", "退款申请")
	f("ＩＰｈｏｎｅ１５", "iphone15")
	f("ﬁle", "file")
	f("e\u0301tude", "étude")
	f("requests", "REQUEST")
	f("straße", "STRASSE")
	f("user’s", "user")
	f("soft\u00adware", "software")
	f("退\u200b款", "退款")
	f("Σίσυφος", "ΣΊΣΥΦΟΣ")
	f("ｶﾞﾗｽ", "ガラス")
	f("ﾃﾞｰﾀ", "データ")
	f("\u1102\u1161\u11af\u110a\u1175", "날씨") // as macOS writes names of files
}

func TestInvalidBytesLoseNothingElse(t *testing.T) {
	text := "退款\xff\xfe申请\xe4\xb8 refund\x00policy"
	got := join(shared.Terms(text))
	if want := "退款 申请 refund polici"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	last := shared.Tokens(text)[3]
	if text[last.Start:last.End] != "policy" || last.RuneStart != 16 {
		t.Errorf(`token behind invalid bytes: %+v; want text[last.Start:last.End] "policy" and last.RuneStart 16`, last)
	}
}

// TestFingerprint: an index that was made by other rules is built anew, so whoever changes
// the tokens of texts raises the rules too.
func TestFingerprint(t *testing.T) {
	if got, want := shared.Fingerprint(), shared.segmenter.Fingerprint()+"-2"; got != want {
		t.Errorf("the fingerprint is %s, want %s", got, want)
	}
}

// TestWords: what is one, and what is not.
func TestWords(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := join(shared.Terms(text)); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	f("3.14 3.x y.4 5. .6", "3.14 3 x y 4 5 6")
	f("C++ C# C#a x++ 3# ab#", "c++ c# c a x++ 3 ab")
	f("o'clock 3'4", "o'clock 3 4")
	f("날씨는 씨", "날씨 씨는 씨")
	f("API는 3월에", "api 는 3 월에")
	f("コーヒー", "コー ーヒ ヒー")
	f("食べる、本のページ", "食 べる 本 のペ ペー ージ")
	f("한국の한국", "한국 の 한국")
	f("날씨。날씨", "날씨 날씨")
	f(strings.Repeat("x", 121), strings.Repeat("x", 120))
}

func TestLongTokensAreCut(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("x", 1<<20), strings.Repeat("é", 5000), strings.Repeat("한", 40000),
		strings.Repeat("退款", 50000), strings.Repeat("a中", 50000), strings.Repeat("e\u0301\u0302", 50000),
		strings.Repeat("の", 50000), strings.Repeat("1.", 50000),
		"の" + strings.Repeat("\u0302", 50000), "가" + strings.Repeat("\u302e", 50000),
	} {
		for _, tok := range shared.Tokens(text) {
			if n := utf8.RuneCountInString(tok.Text); n > maxTokenRunes || tok.RuneEnd-tok.RuneStart > 4*maxTokenRunes {
				t.Fatalf("%.10q…: a token of %d runes over %d", text, n, tok.RuneEnd-tok.RuneStart)
			}
		}
	}
}

// anyText draws texts with everything that folding treats specially.
func anyText() *rapid.Generator[string] {
	pieces := rapid.SampledFrom([]string{
		"退款", "中华人民共和国", "後", "，", "Ａ", "ﬁ", "e\u0301", "\u0301", "refund", "User's", "C++", "3.14", "b超",
		" ", "\n", "\x00", "\xff", "\xe4\xb8", "👍🏽", "👨‍👩‍👧", "\u00ad", "\u200d", "ß", "İ", "か゛", "ｶﾞ", "ภา", "한", "ᄒ", "ᅡ",
		"날씨는", "ー", "ｰ", "か\u3099", "あ\u3099", "한\u302e", "ㅋ", "ﾡ", "データ",
		"𝐁", "½", "㎏", "-", "\"", "“", "”", "_", "'", "’", "乒乓球",
	})
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "bytes") {
			return string(rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "raw"))
		}
		return strings.Join(rapid.SliceOfN(pieces, 0, 30).Draw(t, "pieces"), "")
	})
}

func TestOffsets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { checkTokens(rt, anyText().Draw(rt, "text")) })
}

type failer interface {
	Fatalf(format string, args ...any)
}

// checkTokens holds what is true of the tokens of any bytes.
func checkTokens(t failer, text string) {
	tokens := shared.Tokens(text)
	runes := boundaries(text)
	lastWord := 0
	for i, tok := range tokens {
		if tok.Start < 0 || tok.End > len(text) || tok.Start >= tok.End {
			t.Fatalf("%q: token %+v is out of bounds", text, tok)
		}
		if runes[tok.Start] != tok.RuneStart || runes[tok.End] != tok.RuneEnd {
			t.Fatalf("%q: token %+v cuts a rune or has wrong rune offsets", text, tok)
		}
		if tok.Position != i || tok.Text == "" || !utf8.ValidString(tok.Text) || strings.ContainsAny(tok.Text, " \x00") {
			t.Fatalf("%q: bad token %+v", text, tok)
		}
		if !strings.Contains(stemAll(shared.folding.String(text[tok.Start:tok.End])), tok.Text) {
			t.Fatalf("%q: %q is not in %q", text, tok.Text, text[tok.Start:tok.End])
		}
		if !tok.Part {
			if tok.Start < lastWord {
				t.Fatalf("%q: word %+v begins before %d", text, tok, lastWord)
			}
			lastWord = tok.Start
		}
	}
	if got, want := join(shared.Terms(text)), join(texts(tokens)); got != want {
		t.Fatalf("%q: Terms %q, Tokens %q", text, got, want)
	}
}

// stemAll is a folded text beside the stem of each of its words.
func stemAll(s string) string {
	all := s
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r != '\'' && (r < 'a' || r > 'z') }) {
		all += " " + stem(w)
	}
	return all
}

// boundaries gives the rune offset of each byte offset that cuts no rune; -1
// for the others.
func boundaries(text string) []int {
	all := make([]int, len(text)+1)
	for i := range all {
		all[i] = -1
	}
	runes := 0
	for i := range text {
		all[i] = runes
		runes++
	}
	all[len(text)] = runes
	return all
}

func FuzzTokens(f *testing.F) {
	raw, err := os.ReadFile("testdata/texts.json")
	if err != nil {
		f.Fatal(err)
	}
	var seeds []string
	if err := json.Unmarshal(raw, &seeds); err != nil {
		f.Fatal(err)
	}
	for _, s := range seeds {
		f.Add(s)
	}
	f.Add("\xff\xe4\xb8中\x00")
	f.Fuzz(func(t *testing.T, text string) {
		checkTokens(t, text)
		checkQuery(t, text)
	})
}

func TestConcurrentUse(t *testing.T) {
	all := readTexts(t, "texts.json")
	want := make([]string, len(all))
	for i, text := range all {
		want[i] = join(shared.Terms(text))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, text := range all {
				if got := join(shared.Terms(text)); got != want[i] {
					t.Errorf("%q: %q, want %q", text, got, want[i])
				}
				shared.Tokens(text)
				shared.Parse(text)
			}
		})
	}
	wg.Wait()
}

func BenchmarkTerms(b *testing.B) {
	f := func(name, text string) {
		text = strings.Repeat(text, 200)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				shared.Terms(text)
			}
		})
	}
	f("english", "The quick brown fox jumps over the lazy dogs, requesting refunds for 3 late orders. ")
	f("chinese", "用户如何在系统中申请退款？请先登录账户，然后在订单页面点击“申请售后”，等待商家审核。")
}
