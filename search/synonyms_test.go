package search_test

import (
	"encoding/json"
	"math"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/search"
)

// testSynonymsOfUnknownWords: a word that no chunk holds asks for what its synonym does.
func testSynonymsOfUnknownWords(b *bench) {
	b.fill("manuals", shelf()...)
	b.searcher.Synonyms = thesaurus{"zorp": "refund"}
	body := func(query, preset string) string {
		return `{"query": "` + query + `", "knowledge_bases": ["manuals"], "vector": [1, 0, 0, 0], "preset": "` + preset + `"}`
	}
	// z-scores see that all texts of the synonym weigh 0.8: the answer is the same.
	want, got := b.answer(body("refund", "balanced")), b.answer(body("zorp", "balanced"))
	for i, hit := range want.Hits {
		if got.Hits[i].ID != hit.ID || math.Abs(got.Hits[i].Score-hit.Score) > 1e-6 {
			b.Errorf("hit %d is %s of score %v, want %s of %v", i, got.Hits[i].ID, got.Hits[i].Score, hit.ID, hit.Score)
		}
	}
	if lost := b.answer(body("blarg", "balanced")); math.Abs(lost.Hits[0].Score-want.Hits[0].Score) < 1e-6 {
		b.Errorf("a word without synonyms scores %v too", lost.Hits[0].Score)
	}
	// So is relevance by words: the words could have no higher score than their synonyms.
	b.searcher.Bank = plane{}
	want, got = b.answer(body("refund", "text")), b.answer(body("zorp", "text"))
	if want.Answerable == nil || got.Answerable == nil || math.Abs(*want.Answerable-*got.Answerable) > 1e-6 {
		b.Errorf("answerable by the synonym %s, by the word %s; want a want.Answerable and a got.Answerable and math.Abs(*want.Answerable - *got.Answerable) at most 1e-6", show(got.Answerable), show(want.Answerable))
	}
	b.searcher.Bank = nil
	// script_score weighs each word by its idf: the unknown one by its synonym's.
	analyze := func(query string) *search.AnalyzeResponse {
		var req search.Request
		if err := json.Unmarshal([]byte(body(query, "script_score")), &req); err != nil {
			b.Fatal(err)
		}
		shown, err := b.searcher.Analyze(b.Context(), scope, req)
		if err != nil {
			b.Fatal(err)
		}
		return shown
	}
	known, unknown := analyze("refund wombat"), analyze("zorp wombat")
	if unknown.Known != 1 || unknown.Tokens[0].DF != 0 {
		b.Errorf("known %v, in %d chunks; want unknown.Known 1 and unknown.Tokens[0].DF 0", unknown.Known, unknown.Tokens[0].DF)
	}
	for i := range known.Tokens {
		if got, want := unknown.Tokens[i].Weight, known.Tokens[i].Weight; got != want {
			b.Errorf("%s weighs %v, want %v", unknown.Tokens[i].Text, got, want)
		}
	}
	if s := unknown.Query.Terms[0].Synonyms; len(s) != 1 || math.Abs(s[0].Weight-0.8*known.Tokens[0].Weight) > 1e-12 {
		b.Errorf("synonyms %+v; want 1 s and math.Abs(s[0].Weight - 0.8*known.Tokens[0].Weight) at most 1e-12", s)
	}
}

// testSynonymsOfSeveralAreOne: chunks that are divided over knowledge bases are found by
// the synonym of an unknown word as in one, also where one of them lacks the synonym.
func testSynonymsOfSeveralAreOne(b *bench) {
	exact := b.engine.Name() != elastic.Name // which compares lengths with the averages of each
	all := library()
	b.fill("one", all...)
	b.fill("left", all[:8]...)
	b.fill("right", all[8:]...)
	b.searcher.Synonyms = thesaurus{"zorp": "wombat", "blarg": "refund"}
	for _, preset := range []string{"balanced", "script_score", "text"} {
		ask := func(bases string) *search.Response {
			return b.answer(`{"query": "zorp blarg within days", "knowledge_bases": [` + bases +
				`], "vector": [1, 0, 0, 0], "top_k": 24, "candidates": 100, "copies": "keep", "preset": "` + preset + `"}`)
		}
		one, several := ask(`"one"`), ask(`"left", "right"`)
		if len(one.Hits) == 0 || len(several.Hits) != len(one.Hits) {
			b.Fatalf("%s: %d hits of several, %d of one", preset, len(several.Hits), len(one.Hits))
		}
		if got, want := sortedIDs(several), sortedIDs(one); got != want {
			b.Errorf("%s: several find %s, one %s", preset, got, want)
		}
		for i, want := range one.Hits {
			if got := several.Hits[i]; exact && (got.ID != want.ID || math.Abs(got.Score-want.Score) > 1e-6) {
				b.Errorf("%s: hit %d is %s of score %v, want %s of %v", preset, i, got.ID, got.Score, want.ID, want.Score)
			}
		}
	}
}

// thesaurus has a synonym for single words.
type thesaurus map[string]string

func (th thesaurus) For(engine.Ref) analysis.Expander { return th }

func (th thesaurus) Expand(terms []string) (found analysis.Expansions) {
	for i, term := range terms {
		if synonym, ok := th[term]; ok {
			found.All = append(found.All, analysis.Expansion{Start: i, End: i + 1, Terms: []string{synonym}, Weight: 1})
		}
	}
	return found
}
