package evaluation_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/golden"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// tolerance is how far nDCG@10 may be from what is recorded.
const tolerance = 0.002

var (
	chosenSets    = flag.String("sets", "xquad_zh,xquad_en2zh,stackfaq", "retrieval sets, separated by commas")
	chosenPresets = flag.String("presets", "text,vector,rrf,balanced", "presets, separated by commas")
)

var analyzer = sync.OnceValues(func() (*analysis.Analyzer, error) {
	return analysis.New(analysis.Options{DictionaryDir: filepath.Join(os.TempDir(), "hybridge-dictionary")})
})

// TestRelevance holds nDCG@10 of presets on retrieval sets to what is recorded,
// so that a change that ranks worse (or better) shows up in review.
func TestRelevance(t *testing.T) {
	folder := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(folder); err != nil {
		devservices.Missing(t, "the retrieval sets are missing: "+err.Error())
	}
	measured := map[string]map[string]float64{}
	for _, name := range strings.Split(*chosenSets, ",") {
		set, err := evaluation.Load(filepath.Join(folder, name), "e5")
		if err != nil {
			t.Fatal(err)
		}
		measured[name] = measure(t, set, strings.Split(*chosenPresets, ","))
	}
	compare(t, measured)
}

// measure gives nDCG@10 by preset, to four decimals.
func measure(t *testing.T, set *evaluation.Set, names []string) map[string]float64 {
	t.Helper()
	analyzer, err := analyzer()
	if err != nil {
		t.Fatal(err)
	}
	store, err := embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: analyzer})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	shelf, err := evaluation.Shelve(t.Context(), store, set)
	if err != nil {
		t.Fatal(err)
	}
	searcher := search.New(search.Options{
		Catalog: shelf, Analyzer: analyzer, Planners: evaluation.Planners(presets.Builtin()),
	})
	figures, ten := map[string]float64{}, 10
	for _, name := range names {
		system := evaluation.System{Name: name, Request: search.Request{Preset: name, TopK: &ten}}
		result, err := evaluation.Run(t.Context(), searcher, shelf, set, system)
		if err != nil {
			t.Fatal(err)
		}
		figures[name] = math.Round(result.NDCG10()*1e4) / 1e4
		t.Logf("%-16s %-24s %.4f", set.Name, name, figures[name])
	}
	return figures
}

// compare with the golden file; sets and presets that it lacks are printed only.
func compare(t *testing.T, measured map[string]map[string]float64) {
	t.Helper()
	if golden.Updating() {
		golden.JSON(t, "relevance.json", measured)
		return
	}
	content, err := os.ReadFile(filepath.Join("testdata", "relevance.json"))
	if err != nil {
		t.Fatal(err)
	}
	var recorded map[string]map[string]float64
	if err := json.Unmarshal(content, &recorded); err != nil {
		t.Fatal(err)
	}
	for set, figures := range measured {
		for preset, got := range figures {
			want, known := recorded[set][preset]
			if known && math.Abs(got-want) > tolerance {
				t.Errorf("%s by %s: nDCG@10 is %.4f, recorded is %.4f (-update records it)", set, preset, got, want)
			}
		}
	}
}
