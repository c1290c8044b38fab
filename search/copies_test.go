package search_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

const (
	refundZh = "申请退款请在订单页面点击退款按钮，三个工作日内到账，节假日顺延。"
	refundEn = "To request a refund open the order page and press the refund button; it takes three days."
)

// withCopies fills two knowledge bases that have two texts in common, one of them nearly.
func withCopies(b *bench) {
	b.Helper()
	b.fill("one",
		chunk("zh-1", "a", refundZh, 0.95, 0), chunk("zh-again", "a", refundZh, 0.9, 0),
		chunk("en-1", "a", refundEn, 0.7, 0), chunk("short", "a", "refund!", 0.5, 0), chunk("other", "a", "Wombats dig burrows.", 0.2, 0))
	b.fill("two",
		chunk("zh-2", "b", "申请退款，请在订单页面点击“退款”按钮。三个工作日内到账，节假日顺延", 0.92, 0),
		chunk("en-2", "b", "TO REQUEST A REFUND, open the order page and press the refund button. It takes three days", 0.8, 0),
		chunk("short-2", "b", "Refund", 0.4, 0), chunk("short-3", "b", "Refunds", 0.3, 0))
}

func copied(h *search.Hit) string {
	var list []string
	for _, c := range h.Copies {
		list = append(list, c.KnowledgeBase+"/"+c.DocumentName+"/"+c.ID)
	}
	return strings.Join(list, " ")
}

func testCopiesAreFolded(b *bench) {
	withCopies(b)
	f := func(more, want string, copies map[string]string) *search.Response {
		b.Helper()
		r := b.answer(`{"query": "refund", "vector": [1, 0, 0, 0], "preset": "vector", "facets": ["document_id"], ` + more + `}`)
		if got := ids(r); got != want {
			b.Errorf("%s: %s\nwant %s", more, got, want)
		}
		for i := range r.Hits {
			if h := &r.Hits[i]; copied(h) != copies[h.ID] {
				b.Errorf("%s: %s stands for %q, want %q", more, h.ID, copied(h), copies[h.ID])
			}
		}
		return r
	}
	both := `"knowledge_bases": ["one", "two"]`
	across := map[string]string{"zh-1": "two/b.md/zh-2", "en-2": "one/a.md/en-1", "short": "two/b.md/short-2"}
	r := f(both, "zh-1 zh-again en-2 short short-3 other", across)
	if r.Total != (search.Total{Value: 9, Relation: "eq", Folded: 3}) || r.Documents[0].Count+r.Documents[1].Count != 9 {
		b.Errorf("total %+v, documents %+v: copies count", r.Total, r.Documents)
	}
	f(both+`, "copies": "fold"`, "zh-1 en-2 short short-3 other", map[string]string{
		"zh-1": "two/b.md/zh-2 one/a.md/zh-again", "en-2": "one/a.md/en-1", "short": "two/b.md/short-2",
	})
	f(both+`, "copies": "keep"`, "zh-1 zh-2 zh-again en-2 en-1 short short-2 short-3 other", nil)
	f(both+`, "top_k": 2`, "zh-1 zh-again", map[string]string{"zh-1": "two/b.md/zh-2"})
	f(both+`, "group_by": "document_id"`, "zh-1", map[string]string{"zh-1": "two/b.md/zh-2"})
	f(`"knowledge_bases": ["one"]`, "zh-1 zh-again en-1 short other", nil)
	f(`"knowledge_bases": ["one"], "copies": "fold"`, "zh-1 en-1 short other", map[string]string{"zh-1": "one/a.md/zh-again"})
	for preset := range passagePresets() {
		r := b.answer(`{"query": "refund 退款", "vector": [1, 0, 0, 0], "preset": "` + preset + `", ` + both + `}`)
		for _, pair := range [][2]string{{"zh-1", "zh-2"}, {"en-1", "en-2"}} {
			if found := strings.Fields(ids(r)); slices.Contains(found, pair[0]) == slices.Contains(found, pair[1]) {
				b.Errorf("%s: %s; want one of %v", preset, ids(r), pair)
			}
		}
		for _, h := range r.Hits {
			for _, leg := range h.Legs {
				if leg.Raw == nil && preset != "text" {
					b.Errorf("%s: nothing is known of %s by %s", preset, h.ID, leg.Leg)
				}
			}
		}
	}
	var req search.ExplainRequest
	text := `{"query": "refund", "vector": [1, 0, 0, 0], "preset": "vector", "chunk_id": "en-1", ` + both + `}`
	if err := json.Unmarshal([]byte(text), &req); err != nil {
		b.Fatal(err)
	}
	why, err := b.searcher.Explain(b.Context(), scope, req)
	if err != nil || why.Outcome != search.OutcomeGrouped || !strings.Contains(why.Detail, `"en-2" of knowledge base "two"`) {
		b.Errorf("explain of the copy: %+v, %v; want no error and why.Outcome OutcomeGrouped and `\"en-2\" of knowledge base \"two\"` in it", why, err)
	}
}

// testCopiesOfPairs: a pair with the same question and another answer is no copy.
func testCopiesOfPairs(b *bench) {
	const question = "How do I get a refund for an order that arrived broken?"
	b.fillKind(engine.KindQA, "faq",
		pair("first", question, "Press the button on the invoice page within fourteen days.", 1, 0),
		pair("again", question, "Press the button on the invoice page, within fourteen days!", 0.9, 0),
		pair("other", question, "Write to the shop; it sends a label for the parcel by mail.", 0.8, 0))
	r := b.answer(`{"query": "refund", "vector": [1, 0, 0, 0], "preset": "linear", "weights": {"question_vector": 1}, "copies": "fold", "knowledge_bases": ["faq"]}`)
	if got, want := ids(r), "first other"; got != want {
		b.Errorf("pairs of one question are %q, want %q", got, want)
	}
}

// testPagesOfFoldedCopies: pages are parts of one folded answer, and every chunk is on one
// of them, as a hit or as the copy of one.
func testPagesOfFoldedCopies(b *bench) {
	var left, right []engine.Chunk
	for i := range 20 {
		text := fmt.Sprintf("a refund of order number %d%d%d, which the customer sent back", i, i, i)
		left = append(left, chunk(fmt.Sprintf("l%02d", i), "d", text, 1-float32(i)/40, 0))
		if i%3 > 0 {
			right = append(right, chunk(fmt.Sprintf("r%02d", i), "d", strings.ToUpper(text), 1-float32(i%7)/20, 0.01))
		}
	}
	b.fill("left", left...)
	b.fill("right", right...)
	for preset := range passagePresets() {
		body := `{"query": "refund of an order", "knowledge_bases": ["left", "right"], "vector": [1, 0, 0, 0], "top_k": 60, "candidates": 100, "preset": "` + preset + `"`
		whole := b.answer(body + "}")
		if whole.Total.Value != 33 || len(whole.Hits) != 20 {
			b.Errorf("%s: %d hits of %d; want 20 of 33", preset, len(whole.Hits), whole.Total.Value)
		}
		seen := map[string]bool{}
		for _, h := range whole.Hits {
			seen[h.ID] = true
			for _, c := range h.Copies {
				seen[c.ID] = true
			}
		}
		if len(seen) != 33 {
			b.Errorf("%s: %d chunks on the page or in its copies, want 33", preset, len(seen))
		}
		for from := 0; from < len(whole.Hits); from += 3 {
			page := b.answer(body + fmt.Sprintf(`, "limit": 3, "offset": %d}`, from))
			for i := range page.Hits {
				got, want := &page.Hits[i], &whole.Hits[from+i]
				if got.ID != want.ID || got.Score != want.Score || !slices.EqualFunc(got.Legs, want.Legs, sameRaw) {
					b.Errorf("%s: hit %d from %d is %s, want %s", preset, i, from, got.ID, want.ID)
				}
			}
		}
	}
}

func testBoosts(b *bench) {
	texts := []string{"A refund of an order takes a week.", "Open the order page for your refund.", "Orders are sent by parcel.", "Nothing of the kind here."}
	fill := func(id string) {
		var chunks []engine.Chunk
		for i, text := range texts {
			chunks = append(chunks, chunk(fmt.Sprintf("%s%d", id, i), "d", text+" "+strings.Repeat(id, 3), 0.9-float32(i)/5, 0))
		}
		b.fill(id, chunks...)
	}
	fill("left")
	fill("right")
	for preset := range passagePresets() {
		ask := func(more string) *search.Response {
			b.Helper()
			return b.answer(`{"query": "refund of an order", "knowledge_bases": ["left", "right"], "vector": [1, 0, 0, 0], "top_k": 20, "copies": "keep", "preset": "` + preset + `"` + more + `}`)
		}
		plain := ask("")
		for _, even := range []string{`{"left": 1, "right": 1}`, `{"left": 3, "right": 3}`, `{"left": 1}`, `{}`} {
			if got := ask(`, "boosts": ` + even); !slices.EqualFunc(got.Hits, plain.Hits, sameHit) {
				b.Errorf("%s: boosts %s change the hits", preset, even)
			}
		}
		before := places(plain)
		for _, boost := range []string{"1.1", "1.5", "3", "20", "100"} {
			got := ask(`, "boosts": {"right": ` + boost + `}`)
			after := places(got)
			for id, place := range after {
				if right := strings.HasPrefix(id, "right"); right && place > before[id] || !right && place < before[id] {
					b.Errorf("%s: right × %s moves %s from %d to %d", preset, boost, id, before[id], place)
				}
			}
			for i := range got.Hits {
				h, was := &got.Hits[i], &plain.Hits[slices.IndexFunc(plain.Hits, func(h search.Hit) bool { return h.ID == got.Hits[i].ID })]
				if h.Boost == nil || h.RawScore != was.RawScore || h.KnowledgeBase == "right" && (h.Score != was.Score || *h.Boost != 1) ||
					h.KnowledgeBase == "left" && h.Score > was.Score {
					b.Errorf("%s: right × %s: %s has score %v (raw %v), was %v (raw %v)", preset, boost, h.ID, h.Score, h.RawScore, was.Score, was.RawScore)
				}
			}
			before = after
		}
		if best := plain.Hits[0].Score; preset == "script_score" {
			// Before the threshold: 0.5 / 1 leaves at most half of the score.
			cut := ask(fmt.Sprintf(`, "boosts": {"left": 0.5}, "threshold": {"score": %v}`, best*0.51))
			if got := ids(cut); got == "" || strings.Contains(got, "left") {
				b.Errorf(`above half of the best: %s; want got other than "" and no "left" in it`, got)
			}
			var req search.ExplainRequest
			text := fmt.Sprintf(`{"query": "refund of an order", "knowledge_bases": ["left", "right"], "vector": [1, 0, 0, 0], "copies": "keep",
				"preset": "script_score", "chunk_id": "left0", "boosts": {"left": 0.5}, "threshold": {"score": %v}}`, best*0.51)
			if err := json.Unmarshal([]byte(text), &req); err != nil {
				b.Fatal(err)
			}
			if why, err := b.searcher.Explain(b.Context(), scope, req); err != nil || why.Outcome != search.OutcomeThreshold {
				b.Errorf("explain of what a boost and a threshold cut: %+v, %v; want no error and why.Outcome OutcomeThreshold", why, err)
			}
		}
	}
}

func sameRaw(a, b scoring.Contribution) bool {
	return (a.Raw == nil) == (b.Raw == nil) && (a.Raw == nil || *a.Raw == *b.Raw)
}

func places(r *search.Response) map[string]int {
	at := map[string]int{}
	for i := range r.Hits {
		at[r.Hits[i].ID] = i
	}
	return at
}

func sameHit(a, b search.Hit) bool {
	x, err := json.Marshal(a)
	y, failed := json.Marshal(b)
	return err == nil && failed == nil && string(x) == string(y)
}

// TestFoldingCostsNoRequest unless something is folded.
func TestFoldingCostsNoRequest(t *testing.T) {
	f := func(name string, asked int64, change func(*bringing, *search.Request)) {
		t.Helper()
		e := &bringing{still: newStill(30, 20, true), brings: 30}
		n := 0
		for id, c := range e.chunks {
			c.Content = fmt.Sprintf("%d %s", n, strings.Repeat(string(rune('a'+n)), 30))
			e.chunks[id] = c
			n++
		}
		request := search.Request{
			Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "script_score", TopK: new(10), Vector: make([]float32, 384),
			Copies: search.CopiesFold,
		}
		change(e, &request)
		r, err := searcherOver(e).Search(t.Context(), scope, request)
		if err != nil || len(r.Hits) != 10 {
			t.Fatalf("%s: %d hits, %v; want no error and 10 r.Hits", name, len(r.Hits), err)
		}
		if e.asked.Load() != asked {
			t.Errorf("%s: asked %d times, want %d", name, e.asked.Load(), asked)
		}
	}
	f("no copies", 0, func(*bringing, *search.Request) {})
	alike := func(n int) func(*bringing, *search.Request) { // the best
		return func(e *bringing, _ *search.Request) {
			for i := range n {
				hit := e.chunks[e.result.Hits[i].ID]
				hit.Content = strings.Repeat("the same ", 5)
				e.chunks[hit.ID] = hit
			}
		}
	}
	f("the page is full of the 15 that came along", 0, alike(6))
	f("they are not enough", 1, alike(12))
	f("no copies, read", 1, func(e *bringing, _ *search.Request) { e.brings = 0 })
}
