package search_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/search"
)

// library is chunks of which the first few are long and on another subject.
func library() []engine.Chunk {
	var chunks []engine.Chunk
	for i := range 24 {
		text := "the refund of an order"
		if i%3 == 0 {
			text = "a wombat and its burrow"
		}
		if i < 8 {
			text = strings.Repeat("long words about burrows at night ", 3+i) + text
		}
		if i%5 == 0 {
			text += " within three days"
		}
		chunks = append(chunks, chunk(fmt.Sprintf("c%02d", i), "d", text, float32(i%7)/10, float32(i%4)/10))
	}
	return chunks
}

// testSeveralAreOne: chunks that are divided over knowledge bases have the scores and the
// order that they have in one.
func testSeveralAreOne(b *bench) {
	all := library()
	b.fill("one", all...)
	b.fill("left", all[:8]...)
	b.fill("right", all[8:]...)
	tolerance, exact := 1e-6, true
	if b.engine.Name() == elastic.Name { // compares lengths with the averages of each: textquery.Lengths
		tolerance, exact = 0.2, false
	}
	for preset := range passagePresets() {
		ask := func(bases string) *search.Response {
			return b.answer(`{"query": "refund of an order within days", "knowledge_bases": [` + bases +
				`], "vector": [1, 0, 0, 0], "top_k": 24, "candidates": 100, "copies": "keep", "preset": "` + preset + `"}`)
		}
		one, several := ask(`"one"`), ask(`"left", "right"`)
		if several.MergedBy != "pooled" || exact && several.Total != one.Total {
			b.Errorf("%s: merged by %q, %+v of %+v hits", preset, several.MergedBy, several.Total, one.Total)
		}
		for i := range one.Hits {
			want := &one.Hits[i]
			at := slices.IndexFunc(several.Hits, func(h search.Hit) bool { return h.ID == want.ID })
			if exact && at != i {
				b.Errorf("%s: hit %d of one, %s, is number %d of several", preset, i, want.ID, at)
			}
			if at < 0 {
				continue
			}
			got := &several.Hits[at]
			if math.Abs(got.Score-want.Score) > tolerance || math.Abs(got.RawScore-want.RawScore) > tolerance*max(1, want.RawScore) {
				b.Errorf("%s: %s has score %v (raw %v), in one knowledge base %v (raw %v)",
					preset, want.ID, got.Score, got.RawScore, want.Score, want.RawScore)
			}
		}
	}
}

// TestWhatCannotBePooled is merged by score: knowledge bases of other models or legs.
func TestWhatCannotBePooled(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("passages", shelf()...)
	b.fillKind(engine.KindQA, "pairs", faq()...)
	r := b.answer(`{"query": "refund", "knowledge_bases": ["passages", "pairs"], "vector": [1, 0, 0, 0], "top_k": 20}`)
	if r.MergedBy != "score" || !strings.Contains(ids(r), "refund-en") || !strings.Contains(ids(r), "full") {
		t.Errorf(`merged by %q: %s; want r.MergedBy "score" and "refund-en" in it and "full" in it`, r.MergedBy, ids(r))
	}
}
