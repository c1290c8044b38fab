package evaluation_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

const dimensions = 384

var (
	chosenSets    = flag.String("sets", "xquad_zh,stackfaq,xquad_en2zh", "retrieval sets, separated by commas, or all")
	chosenPresets = flag.String("presets", "text,vector,rrf,balanced", "presets, separated by commas")
)

var analyzer = sync.OnceValues(func() (*analysis.Analyzer, error) {
	return analysis.New(analysis.Options{DictionaryDir: filepath.Join(os.TempDir(), "hybridge-dictionary")})
})

// data is the folder of the retrieval sets; without it the test is skipped,
// except in CI.
func data(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../shared/data")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the retrieval sets are missing: %v", err)
		}
		t.Skipf("the retrieval sets are missing: %v", err)
	}
	return dir
}

// TestRelevance prints nDCG@10 of every chosen preset on every chosen set.
func TestRelevance(t *testing.T) {
	dir := data(t)
	sets := strings.Split(*chosenSets, ",")
	if *chosenSets == "all" {
		sets = nil
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() {
				sets = append(sets, e.Name())
			}
		}
	}
	for _, name := range sets {
		set, err := evaluation.Load(filepath.Join(dir, name), "e5", dimensions)
		if err != nil {
			t.Fatal(err)
		}
		searcher := shelve(t, set)
		for _, preset := range strings.Split(*chosenPresets, ",") {
			values := make([]float64, 0, len(set.Queries))
			for _, q := range set.Queries {
				ranking := rank(t, searcher, preset, &q)
				values = append(values, evaluation.NDCG(ranking, set.Judgments[q.ID], 10))
			}
			t.Logf("%-18s %-14s %.4f", name, preset, evaluation.Bootstrap(values).Mean)
		}
	}
}

func rank(t *testing.T, searcher *search.Searcher, preset string, q *evaluation.Query) []string {
	t.Helper()
	topK, off := 10, 0
	req := search.Request{
		Query: q.Text, KnowledgeBases: []string{"set"}, Preset: preset, Plain: true, Vector: q.Vector, TopK: &topK,
		Highlight: &search.Highlight{Fragments: &off},
	}
	response, err := searcher.Search(context.Background(), search.Scope{Tenant: "eval"}, req)
	if err != nil {
		t.Fatalf("%s: %v", q.ID, err)
	}
	ranking := make([]string, len(response.Hits))
	for i, hit := range response.Hits {
		ranking[i] = hit.ID
	}
	return ranking
}

// shelve puts a set into an embedded engine of its own.
func shelve(t *testing.T, set *evaluation.Set) *search.Searcher {
	t.Helper()
	analyzer, err := analyzer()
	if err != nil {
		t.Fatal(err)
	}
	store, err := embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: analyzer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	known := catalog.New([]engine.Engine{store}, catalog.Options{DefaultEngine: store.Name()})
	n := dimensions
	kb, err := known.Create(t.Context(), search.Scope{Tenant: "eval"}, catalog.Spec{ID: "set", Dimensions: &n})
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < len(set.Corpus); from += 1000 {
		var chunks []engine.Chunk
		for _, p := range set.Corpus[from:min(from+1000, len(set.Corpus))] {
			chunks = append(chunks, engine.Chunk{
				ID: p.ID, DocumentID: p.ID, Title: p.Title, Content: p.Text, Available: true,
				Vectors: map[string][]float32{engine.FieldVector: p.Vector},
			})
		}
		if _, err := store.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: chunks}); err != nil {
			t.Fatal(err)
		}
	}
	return search.New(search.Options{
		Catalog: known, Analyzer: analyzer,
		Planners: presets.Builtin(), DefaultPreset: presets.Default,
	})
}
