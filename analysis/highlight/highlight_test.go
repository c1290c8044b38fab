package highlight

import (
	"bytes"
	"encoding/json"
	"flag"
	"html"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/textquery"
)

var update = flag.Bool("update", false, "write the golden files anew")

var shared *tokens.Analyzer

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if shared, err = realtokens.Analyzer(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// query is that of a question, with synonyms of its first term, if any.
func query(question string, synonyms ...textquery.Phrase) textquery.Query {
	q := analysis.Compose(shared.Parse(question), analysis.Frequencies{}, nil, analysis.Rules{})
	if len(q.Terms) > 0 {
		q.Terms[0].Synonyms = synonyms
	}
	return q
}

func matcher(question string, synonyms ...textquery.Phrase) *Matcher {
	return newMatcher(question, shared, synonyms...)
}

func newMatcher(question string, t Tokenizer, synonyms ...textquery.Phrase) *Matcher {
	asked := shared.Parse(question)
	return NewMatcher(&asked, query(question, synonyms...), t)
}

// ofTerms is the matcher of a text query that no question was parsed for.
func ofTerms(q textquery.Query, t Tokenizer) *Matcher { return NewMatcher(&analysis.Query{}, q, t) }

// wholly selects every token of a text.
type wholly struct{}

func (wholly) Selector([]string, func(string) bool) analysis.Selector {
	return func(tokens []analysis.Token, text string) []analysis.Token {
		return append(tokens, shared.Tokens(text)...)
	}
}

func run(question, text string, o Options) []string {
	fragments, _ := newMatcher(question, wholly{}).Fragments(text, o)
	return fragments
}

// TestGolden runs the cases of testdata/cases.json.
func TestGolden(t *testing.T) {
	type entry struct {
		Comment   string   `json:"comment"`
		Query     string   `json:"query"`
		Text      string   `json:"text"`
		Repeat    int      `json:"repeat,omitempty"` // the text so many times
		Size      int      `json:"size,omitempty"`
		Fragments int      `json:"fragments,omitempty"`
		Want      []string `json:"want"`
	}
	const path = "testdata/cases.json"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for i, e := range all {
		text := strings.Repeat(e.Text, max(1, e.Repeat))
		all[i].Want = run(e.Query, text, Options{FragmentSize: e.Size, Fragments: e.Fragments})
		got, want := strings.Join(all[i].Want, "\n"), strings.Join(e.Want, "\n")
		if !*update && got != want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", e.Comment, got, want)
		}
	}
	if *update {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		if err := enc.Encode(all); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSynonymOfSeveralWordsStandsTogether(t *testing.T) {
	text := "A learning machine, or a machine for learning, is not machine learning."
	m := matcher("ML", textquery.Phrase{Terms: []string{"machin", "learn"}})
	got, _ := m.Fragments(text, Options{})
	want := "A learning machine, or a machine for learning, is not <em>machine</em> <em>learning</em>."
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOwnMarks(t *testing.T) {
	got := run("refund", "a <refund> now", Options{Pre: "[", Post: "]"})
	if len(got) != 1 || got[0] != "a &lt;[refund]&gt; now" {
		t.Errorf(`got %q; want 1 got and got[0] "a &lt;[refund]&gt; now"`, got)
	}
}

// TestHugeField: linear in the text (a quadratic way would take hours).
func TestHugeField(t *testing.T) {
	f := func(text string) {
		t.Helper()
		got := run("退款 refund", text, Options{})
		if len(got) != 5 {
			t.Errorf("%.20q…: %d fragments; want 5 got", text, len(got))
		}
	}
	f(strings.Repeat("用户申请退款需要等待审核", 1<<20/36))
	f(strings.Repeat("refund ", 1<<20/7))
	f(strings.Repeat(strings.Repeat("x", 1000)+" refund ", 1000))
}

var pieces = []string{
	"退款", "申请", "中华人民共和国", "，", "。", "！", "\n", " ", "  ", ". ", "refund", "Refunds", "request", "a", "é", "e\u0301",
	"👍🏽", "👨‍👩‍👧", "🇨🇳", "🇩🇪", "<b>", "&amp;", "\"", "ﬁ", "Ａ", "\u00ad", "\u200d", "か\u3099", "か", "한", "ᄒ", "ᅡ", "ᆫ", "\r\n",
	"\x00", "ภา", "ि", "क्", "ष", strings.Repeat("z", 40), strings.Repeat("\u0301", 30), "乒乓球拍卖",
}

// TestProperties: a fragment without its marks is a stretch of the text, cut
// between graphemes, within the size; a mark is a union of matching tokens.
//
// Promise: "never split a character or a marked word" (docs/guide/en/filters.md).
func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 80).Draw(rt, "text"), "")
		question := rapid.SampledFrom([]string{
			"退款", "refund", "申请退款 request", "中华人民共和国", "人民", "nothing here", "?", "か", "乒乓球 拍卖", "zzzz",
		}).Draw(rt, "question")
		o := Options{
			FragmentSize: rapid.IntRange(1, 60).Draw(rt, "size"), Fragments: rapid.IntRange(1, 5).Draw(rt, "n"),
			Pre: "\ue000", Post: "\ue001",
		}
		got := run(question, text, o)
		if len(got) > o.Fragments {
			rt.Fatalf("%d fragments of %d", len(got), o.Fragments)
		}
		for _, f := range got {
			check(rt, text, f, o)
		}
	})
}

func check(t *rapid.T, text, fragment string, o Options) {
	plain := html.UnescapeString(strings.NewReplacer(o.Pre, "", o.Post, "").Replace(fragment))
	if n := utf8.RuneCountInString(plain); n == 0 || n > o.FragmentSize {
		t.Fatalf("%q: %d runes of %d", plain, n, o.FragmentSize)
	}
	at := places(text, plain)
	if len(at) == 0 {
		t.Fatalf("%q is not in %q", plain, text)
	}
	whole := false
	for _, i := range at {
		whole = whole || graphemes(text)[i] && graphemes(text)[i+len(plain)]
	}
	if !whole {
		t.Fatalf("%q cuts a grapheme of %q; want whole", plain, text)
	}
	checkMarks(t, text, fragment, plain, o)
}

func checkMarks(t *rapid.T, text, fragment, plain string, o Options) {
	if strings.Count(fragment, o.Pre) != strings.Count(fragment, o.Post) {
		t.Fatalf("%q: marks do not match", fragment)
	}
	starts, ends := map[int]bool{}, map[int]bool{}
	for _, tok := range shared.Tokens(text) {
		starts[tok.Start], ends[tok.End] = true, true
	}
	rest, at := fragment, 0
	var cuts []int // start and end of each mark in plain
	for {
		i := strings.IndexAny(rest, o.Pre+o.Post)
		if i < 0 {
			break
		}
		at += len(html.UnescapeString(rest[:i]))
		cuts = append(cuts, at)
		rest = rest[i+len(o.Pre):]
	}
	fits := false
	for _, base := range places(text, plain) {
		ok := true
		for i, cut := range cuts {
			ok = ok && (i%2 == 0 && starts[base+cut] || i%2 == 1 && ends[base+cut])
		}
		fits = fits || ok
	}
	if !fits {
		t.Fatalf("%q in %q: a mark cuts a token; want fits", fragment, text)
	}
}

func places(text, part string) (all []int) {
	for i := 0; i+len(part) <= len(text); i++ {
		if text[i:i+len(part)] == part {
			all = append(all, i)
		}
	}
	return all
}

func graphemes(text string) map[int]bool {
	all := map[int]bool{0: true}
	at, state := 0, -1
	for rest := text; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
		all[at] = true
	}
	return all
}

func FuzzHighlight(f *testing.F) {
	f.Add("退款", "如何申请退款？请看。\xff\x00", 20)
	f.Add("refund", "refund\u0301 <b>refund</b>", 3)
	f.Fuzz(func(t *testing.T, question, text string, size int) {
		o := Options{FragmentSize: size % 500}
		for _, fragment := range run(question, text, o) {
			if n := utf8.RuneCountInString(html.UnescapeString(
				strings.NewReplacer("<em>", "", "</em>", "").Replace(fragment))); n > o.withDefaults().FragmentSize {
				t.Errorf("%q: %d runes", fragment, n)
			}
		}
	})
}

// TestPairsAreMarkedAsOneWord: neighbouring pairs of kana or hangul are one mark, whatever
// ending stands at the word.
func TestPairsAreMarkedAsOneWord(t *testing.T) {
	f := func(question, text, want string) {
		t.Helper()
		if got, _ := matcher(question).Fragments(text, Options{}); len(got) != 1 || got[0] != want {
			t.Errorf("%q in %q: %q, want %q", question, text, got, want)
		}
	}
	f("날씨", "오늘 서울 날씨는 맑습니다.", "오늘 서울 <em>날씨</em>는 맑습니다.")
	f("날씨가", "서울의 날씨는 맑고, 저녁에는 흐리다.", "서울의 <em>날씨</em>는 맑고, 저녁에는 흐리다.")
	f("기상청은", "기상청에서 알려 드립니다.", "<em>기상청</em>에서 알려 드립니다.")
	f("コーヒー", "熱いｺｰﾋｰを飲む。", "熱い<em>ｺｰﾋｰ</em>を飲む。")
	f("食べる", "パンを食べない。", "パンを<em>食</em>べない。")
}
