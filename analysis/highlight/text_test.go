package highlight

import (
	"cmp"
	"html"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/textquery"
)

var more = append([]string{
	"卡拉ok", "T恤", "t恤衫", "b超", "web超时", "人民", "共和国", "乒乓球", "拍", "款", "款项", "申", "请", "refunding", "ugly", "uglier",
	"c++", "3.14", "的", "the ", "后", "後", "x",
}, pieces...)

// anyQuery draws terms with synonyms, also of several words, from the tokens
// of texts like the one to mark.
func anyQuery(t *rapid.T) textquery.Query {
	words := rapid.Custom(func(t *rapid.T) []string {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(more), 1, 3).Draw(t, "words"), "")
		return shared.Terms(text)
	}).Filter(func(terms []string) bool { return len(terms) > 0 })
	var q textquery.Query
	for range rapid.IntRange(0, 3).Draw(t, "terms") {
		term := textquery.Term{Text: words.Draw(t, "term")[0], Weight: 1}
		for range rapid.IntRange(0, 2).Draw(t, "synonyms") {
			term.Synonyms = append(term.Synonyms, textquery.Phrase{Terms: words.Draw(t, "synonym"), Weight: 1})
		}
		q.Terms = append(q.Terms, term)
	}
	return q
}

// TestSelectingIsEnough: the tokens selected give the fragments of all tokens.
func TestSelectingIsEnough(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(more), 0, 60).Draw(rt, "text"), "")
		q := anyQuery(rt)
		o := Options{
			FragmentSize: rapid.IntRange(1, 60).Draw(rt, "size"), Fragments: rapid.IntRange(1, 5).Draw(rt, "n"),
		}
		sameFragments(rt, ofTerms(q, shared), ofTerms(q, wholly{}), text, o)
	})
}

func sameFragments(t *rapid.T, m, other *Matcher, text string, o Options) {
	got, matched := m.Fragments(text, o)
	want, also := other.Fragments(text, o)
	if !slices.Equal(got, want) || matched != also {
		t.Fatalf("%q: got %q, want %q", text, got, want)
	}
}

// TestEscaped: as the standard library escapes, wherever a sign is.
func TestEscaped(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"&", "'", `"`, "<", ">", "退款", "=", "refund "}), rapid.String(),
		)).Draw(rt, "pieces"), "")
		want := html.EscapeString(text)
		if got := string(appendEscaped(nil, text)); got != want {
			rt.Fatalf("%q: %q, want %q", text, got, want)
		}
		if got := needsEscaping(text); got != (want != text) {
			rt.Fatalf("%q: that anything is escaped is %t", text, got)
		}
	})
}

// TestInsert: the best of many fragments, as a stable sort gives them.
func TestInsert(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var all []fragment
		for range rapid.IntRange(0, 20).Draw(rt, "fragments") {
			all = append(all, fragment{
				start: len(all), distinct: rapid.IntRange(1, 3).Draw(rt, "distinct"), hits: rapid.IntRange(1, 3).Draw(rt, "hits"),
			})
		}
		limit := rapid.IntRange(1, 6).Draw(rt, "limit")
		var c cutter
		for i := range all {
			c.insert(&all[i], limit)
		}
		slices.SortStableFunc(all, func(a, b fragment) int {
			return cmp.Or(cmp.Compare(b.distinct, a.distinct), cmp.Compare(b.hits, a.hits))
		})
		want := all[:min(limit, len(all))]
		if !slices.EqualFunc(c.best, want, func(a, b fragment) bool { return a.start == b.start }) {
			rt.Fatalf("got %+v, want %+v", c.best, want)
		}
	})
}

// BenchmarkPage marks ten chunks of 500 to 800 characters, as for one page.
func BenchmarkPage(b *testing.B) {
	f := func(name, question, text string, times int) {
		text = strings.Repeat(text, times)
		b.Run(name+"/whole", func(b *testing.B) {
			m := newMatcher(question, wholly{})
			for b.Loop() {
				for range 10 {
					m.Fragments(text, Options{})
				}
			}
		})
		b.Run(name+"/wanted", func(b *testing.B) {
			m := matcher(question)
			for b.Loop() {
				for range 10 {
					m.Fragments(text, Options{})
				}
			}
		})
	}
	const chinese = "平台自成立以来一直重视用户的权益，并设有专门的客服部门。用户如需申请退款，请先登录账户，" +
		"然后在订单页面选择相应的商品，上传照片和说明，等待商家审核。审核通常需要三个工作日，节假日顺延；" +
		"逾期未处理的，系统将自动转交人工客服。商品已经发货的，应当先联系物流公司拒收，运费由责任方承担。"
	const english = "The platform has valued its customers since it was founded. To request a refund, sign in, " +
		"choose the order, upload photos, and wait for the merchant to review it within three working days. "
	f("chinese", "如何申请退款", chinese, 5)
	f("chinese nothing", "区块链挖矿", chinese, 5)
	f("english", "how to request a refund", english, 4)
}
