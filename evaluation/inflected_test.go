package evaluation_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// byWords asks a set of our own all of its questions, by words alone.
func byWords(t *testing.T, name string) (*evaluation.Set, *evaluation.Result) {
	t.Helper()
	set, err := evaluation.Load(filepath.Join("testdata", "sets", name), "")
	if err != nil {
		t.Fatal(err)
	}
	store, err := embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: opened(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	stored, err := evaluation.Store(t.Context(), store, set)
	if err != nil {
		t.Fatal(err)
	}
	searcher := search.New(search.Options{
		Catalog: stored, Analyzer: opened(t), Planners: evaluation.Planners(presets.Builtin()),
	})
	result, err := evaluation.Run(t.Context(), searcher, stored, set, evaluation.Preset("text"))
	if err != nil {
		t.Fatal(err)
	}
	return set, result
}

// TestInflectedWords: questions in Japanese and Korean find passages that say the same with
// other endings and particles. docs/relevance.md has the figures of before and after.
func TestInflectedWords(t *testing.T) {
	f := func(name string, least, leastFound float64) {
		t.Helper()
		_, result := byWords(t, name)
		found := 0.0
		for i := range result.Rows {
			found += result.Rows[i].Recall10 / float64(len(result.Rows))
		}
		t.Logf("%s: nDCG@10 %.4f, recall@10 %.4f", name, result.NDCG10(), found)
		if got := result.NDCG10(); got < least || found < leastFound {
			t.Errorf("%s: nDCG@10 is %.4f and recall@10 %.4f; at least %.2f and %.2f are wanted", name, got, found, least, leastFound)
		}
	}
	f("life_ko", 0.9, 0.95) // 0.37 and 0.44 by whole words
	f("life_ja", 0.95, 0.99)
}

// TestProlongedVowels: a question of one word with ー finds the few passages that have the
// word, and not every one that has a letter of it.
func TestProlongedVowels(t *testing.T) {
	set, result := byWords(t, "life_ja")
	oneWord := map[string]bool{}
	for _, query := range set.Queries {
		oneWord[query.ID] = regexp.MustCompile(`^[ァ-ヺ]*ー[ァ-ヺー]*$`).MatchString(query.Text)
	}
	questions, hits := 0, 0
	for i := range result.Rows {
		if oneWord[result.Rows[i].Query] {
			questions++
			hits += len(result.Rows[i].Ranking)
		}
	}
	if questions < 5 || hits > 5*questions { // 15 by single letters, all that were asked for
		t.Errorf("%d questions of one word have %d hits", questions, hits)
	}
	t.Logf("%d hits of %d questions", hits, questions)
}
