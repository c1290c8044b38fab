package search_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	b.fillBy("small", "tiny", 3, []float32{0, 0, 1})
	b.fillBy("other", "huge", 3, []float32{1, 0, 0})
	b.searcher.Embedders = map[string]search.Embedder{
		"tiny": &ownModel{name: "tiny", vector: []float32{0, 0, 1}}, "huge": &ownModel{name: "huge", vector: []float32{1, 0, 0}},
	}
	r = b.answer(`{"query": "wombats dig", "knowledge_bases": ["small", "other"], "copies": "keep"}`)
	if got, want := r.MergedBy, "score"; got != want || len(r.Hits) != 2 {
		t.Errorf("two models are merged by %q into %d hits, want by %q into 2", got, len(r.Hits), want)
	}
}

// TestALegOfAPoolHasItsCandidates: of two knowledge bases a leg has no more ranks than of one.
func TestALegOfAPoolHasItsCandidates(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("left", chunk("words", "d", "a refund of the refund", 0.5, 0), chunk("l1", "d", "burrow", 0.6, 0))
	b.fill("right", chunk("r1", "d", "wombat", 0.9, 0), chunk("r2", "d", "tunnel", 0.8, 0))
	r := b.answer(`{"query": "refund", "knowledge_bases": ["left", "right"], "vector": [1, 0, 0, 0], "preset": "rrf", "weights": {"text": 3}, "candidates": 2, "top_k": 2, "copies": "keep"}`)
	got := map[string]int{}
	for _, h := range r.Hits {
		for _, leg := range h.Legs {
			if leg.Rank != nil {
				got[h.ID+" "+leg.Leg] = *leg.Rank
			}
		}
	}
	want := map[string]int{"words text": 1, "r1 vector": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ranks in a pool of two candidates (-want +got):\n%s", diff)
	}
}

// TestTheOrderOfKnowledgeBasesChangesNoScore: not where the vectors of one cannot be compared, as it has none or
// others than the model gives. It counts for nothing in the statistics, and the legs of the others can be run.
func TestTheOrderOfKnowledgeBasesChangesNoScore(t *testing.T) {
	b := newBench(t, openEmbedded)
	b.fill("full", library()...)
	b.fill("empty")
	b.fillBy("three", "tiny", 3, []float32{0, 0, 1}, []float32{0, 1, 0})
	b.fillBy("four", "tiny", 4, []float32{0, 0, 1, 0})
	b.searcher.Embedders = map[string]search.Embedder{"tiny": &ownModel{name: "tiny", vector: []float32{0, 1, 0}}}
	const given, embedded = `"query": "refund of an order within days", "vector": [1, 0, 0, 0]`, `"query": "wombats dig"`
	for preset := range passagePresets() {
		ask := func(question, bases string) *search.Response {
			return b.answer(`{` + question + `, "knowledge_bases": [` + bases +
				`], "top_k": 24, "candidates": 5, "copies": "keep", "preset": "` + preset + `"}`)
		}
		same := func(what string, got, want *search.Response) {
			t.Helper()
			if got.MergedBy != "pooled" || !slices.EqualFunc(got.Hits, want.Hits, sameScore) {
				t.Errorf("%s, %s: %s merged by %q, want %s pooled", preset, what, scores(got), got.MergedBy, scores(want))
			}
		}
		alone := ask(given, `"full"`)
		same("before an empty one", ask(given, `"full", "empty"`), alone)
		same("behind an empty one", ask(given, `"empty", "full"`), alone)
		same("behind one of other vectors", ask(embedded, `"four", "three"`), ask(embedded, `"three", "four"`))
	}
}

func sameScore(a, b search.Hit) bool { return a.ID == b.ID && math.Abs(a.Score-b.Score) < 1e-9 }

// scores are the hits with theirs.
func scores(r *search.Response) string {
	var list []string
	for i := range r.Hits {
		list = append(list, fmt.Sprintf("%s %.4f", r.Hits[i].ID, r.Hits[i].Score))
	}
	return strings.Join(list, ", ")
}
