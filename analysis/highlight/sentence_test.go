package highlight

import (
	"html"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWhole(t *testing.T) {
	f := func(question, text, want string) {
		t.Helper()
		if got := matcher(question).Whole(text, Options{FragmentSize: 10, Fragments: 1}); got != want {
			t.Errorf("%q in %q: %q, want %q", question, text, got, want)
		}
	}
	f("refund", "", "")
	f("refund", "Orders & returns", "")
	f("how do I get a refund", "How do I begin?", "")
	f("refund", "Refunds & returns of <things>, by refund", "<em>Refunds</em> &amp; returns of &lt;things&gt;, by <em>refund</em>")
	f("退款", "如何申请退款？", "如何申请<em>退款</em>？")
	f(`"terms of service"`, "Our terms of service", "Our <em>terms</em> <em>of</em> <em>service</em>")
}

func TestSentences(t *testing.T) {
	f := func(text string, limit int, want ...string) {
		t.Helper()
		var got []string
		for _, s := range Sentences(text, limit) {
			got = append(got, text[s.Start:s.End])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f("", 24)
	f(" \n ", 24)
	f("One.", 24, "One.")
	f("The burrow is dug at night. It costs 3.14 euro to fill!  Nobody knows why, as ever", 24,
		"The burrow is dug at night.", "It costs 3.14 euro to fill!", "Nobody knows why, as ever")
	f("申请退款请点击退款按钮。“三个工作日内到账！”节假日顺延至工作日。", 24,
		"申请退款请点击退款按钮。", "“三个工作日内到账！”", "节假日顺延至工作日。")
	f("## Refunds\nPress the button below.\nIt is.", 24, "## Refunds\nPress the button below.\nIt is.")
	f("## Refunds\nPress the button, which is green.\n## Returns\nSend it back to us.\n", 24,
		"## Refunds\nPress the button, which is green.", "## Returns\nSend it back to us.")
	f("提高向量的权重时要多加小心。\n\n\"weights\" 按名字设置字段的权重。", 24,
		"提高向量的权重时要多加小心。", "\"weights\" 按名字设置字段的权重。")
	f(strings.Repeat("Four sentences are two! ", 4)+"Five", 3,
		"Four sentences are two! Four sentences are two!", "Four sentences are two! Four sentences are two! Five")
}

// TestSentencesCoverTheText: in order, all of it but white space, and no more than asked for.
func TestSentencesCoverTheText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(more), 0, 80).Draw(rt, "text"), "")
		limit := rapid.IntRange(1, 30).Draw(rt, "limit")
		all, end := Sentences(text, limit), 0
		for _, s := range all {
			if strings.Trim(text[end:s.Start], white) != "" || s.End <= s.Start {
				rt.Fatalf("%q: %v", text, all)
			}
			end = s.End
		}
		if strings.Trim(text[end:], white) != "" || len(all) > limit {
			rt.Fatalf("%q: %d of at most %d, up to %d", text, len(all), limit, end)
		}
	})
}

// TestFromASentence: a fragment begins with the sentence asked for and has its neighbours as far as there
// is room.
func TestFromASentence(t *testing.T) {
	const text = "The burrow is dug at night.\nIt costs <3 euro to fill! Nobody knows why. 申请退款请点击退款按钮。三个工作日内到账。"
	f := func(begins string, size int, want string) {
		t.Helper()
		got := From(text, strings.Index(text, begins), Options{FragmentSize: size})
		if len(got) != 1 || html.UnescapeString(got[0]) != want {
			t.Errorf("%q: %q, want %q", begins, got, want)
		}
	}
	f("The", 30, "The burrow is dug at night.")
	f("It costs", 30, "It costs <3 euro to fill!")
	f("It costs", 50, "It costs <3 euro to fill! Nobody knows why.")
	f("申请", 13, "申请退款请点击退款按钮。")
	f("申请", 120, "申请退款请点击退款按钮。三个工作日内到账。")
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 80).Draw(rt, "text"), "")
		o := Options{FragmentSize: rapid.IntRange(1, 60).Draw(rt, "size"), Pre: "\ue000", Post: "\ue001"}
		for _, s := range Sentences(text, 24) {
			for _, fragment := range From(text, s.Start, o) {
				check(rt, text, fragment, o)
			}
		}
	})
}
