package evaluation_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/internal/golden"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/internal/skips"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// tolerance is how far nDCG@10 may be from what is recorded.
const tolerance = 0.002

// What is recorded; hybridge eval measures others.
var (
	recordedSets    = []string{"xquad_zh", "xquad_en2zh", "stackfaq"}
	recordedPresets = []string{"text", "vector", "rrf", "balanced"}
)

// measuredFolder is dataFolder for what `make memory` runs.
func measuredFolder(t *testing.T) string {
	t.Helper()
	if raceDetector {
		skips.ByDesign(t, "make memory measures it without the race detector")
	}
	return dataFolder(t)
}

// TestRelevance holds nDCG@10 of presets on retrieval sets to what is recorded,
// so that a change that ranks worse (or better) shows up in review.
func TestRelevance(t *testing.T) {
	folder := measuredFolder(t)
	var systems []evaluation.System
	ten := 10
	for _, name := range recordedPresets {
		systems = append(systems, evaluation.System{Name: name, Request: search.Request{Preset: name, TopK: &ten}})
	}
	measured := map[string]map[string]float64{}
	for _, name := range recordedSets {
		set, err := evaluation.Load(filepath.Join(folder, name), "e5")
		if err != nil {
			t.Fatal(err)
		}
		set.Model = "multilingual-e5-small"
		measured[name] = measure(t, set, systems)
	}
	compare(t, measured)
}

func dataFolder(t *testing.T) string {
	t.Helper()
	folder := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(folder); err != nil {
		skips.Missing(t, "the retrieval sets are missing: "+err.Error())
	}
	return folder
}

// measure gives nDCG@10 by system, to four decimals, on the embedded engine.
func measure(t *testing.T, set *evaluation.Set, systems []evaluation.System) map[string]float64 {
	t.Helper()
	store, err := embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: opened(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	return measureOn(t, store, set, systems)
}

func opened(t *testing.T) *tokens.Analyzer {
	t.Helper()
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	return analyzer
}

// theBank has the centres of the model that made the vectors, which come with the program.
func theBank(t *testing.T) search.Bank {
	t.Helper()
	keeper, err := bank.Open(bank.Options{Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(keeper.Close)
	return keeper
}

func measureOn(
	t *testing.T, store engine.Engine, set *evaluation.Set, systems []evaluation.System,
) map[string]float64 {
	t.Helper()
	stored, err := evaluation.Store(t.Context(), store, set)
	if err != nil {
		t.Fatal(err)
	}
	searcher := search.New(search.Options{
		Catalog: stored, Analyzer: opened(t), Planners: evaluation.Planners(presets.Builtin()), Bank: theBank(t),
	})
	figures := map[string]float64{}
	for _, system := range systems {
		result, err := evaluation.Run(t.Context(), searcher, stored, set, system)
		if err != nil {
			t.Fatal(err)
		}
		figures[system.Name] = math.Round(result.NDCG10()*1e4) / 1e4
		t.Logf("%-16s %-24s %.4f", set.Name, system.Name, figures[system.Name])
	}
	return figures
}

// pairSystems are the presets for pairs, and what they are to beat: each path
// alone, and two legs over question and answer as one text.
func pairSystems() []evaluation.System {
	alone := func(name, path string) evaluation.System {
		weights := map[string]float64{path: 1}
		for _, other := range []string{"question", "answer", "question_vector", "answer_vector"} {
			if other != path {
				weights[other] = 0
			}
		}
		return evaluation.System{Name: name, Request: search.Request{Preset: "linear", Overrides: search.Overrides{Weights: weights}}}
	}
	ten := 10
	systems := []evaluation.System{
		evaluation.Preset("qa_four_path"), evaluation.Preset("qa_balanced"), evaluation.Preset("rrf"),
		alone("question dense", "question_vector"), alone("answer dense", "answer_vector"),
		alone("question sparse", "question"), alone("answer sparse", "answer"),
	}
	for i := range systems {
		systems[i].Request.TopK = &ten
	}
	return systems
}

// TestPairs holds the presets for pairs to the figures known of the classic one,
// and the balanced one to beating everything that it is made of.
func TestPairs(t *testing.T) {
	folder := measuredFolder(t)
	f := func(name string, classic, least float64) {
		t.Helper()
		set, err := evaluation.Load(filepath.Join(folder, name), "e5")
		if err != nil {
			t.Fatal(err)
		}
		figures := measure(t, set, pairSystems())
		if got := figures["qa_four_path"]; math.Abs(got-classic) > 0.01 {
			t.Errorf("%s: qa_four_path has nDCG@10 %.4f; known is %.4f", name, got, classic)
		}
		if got := figures["qa_balanced"]; got < least {
			t.Errorf("%s: qa_balanced has nDCG@10 %.4f; at least %.4f is wanted", name, got, least)
		}
		for system, figure := range figures {
			if system != "qa_balanced" && figure >= figures["qa_balanced"] {
				t.Errorf("%s: %s has nDCG@10 %.4f, qa_balanced %.4f", name, system, figure, figures["qa_balanced"])
			}
		}
	}
	f("stackfaq", 0.7799, 0.905)
	f("lecoqa_faq", 0.8247, 0.862)
}

// compare with the golden file, which has the same sets and presets.
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
	for _, difference := range differences(recorded, measured) {
		t.Error(difference + " (-update records it)")
	}
}

// differences beyond the tolerance, and figures that only one of both has.
func differences(recorded, measured map[string]map[string]float64) []string {
	var all []string
	for set, figures := range measured {
		for preset, got := range figures {
			if want, known := recorded[set][preset]; !known {
				all = append(all, fmt.Sprintf("%s by %s: nDCG@10 is %.4f, none is recorded", set, preset, got))
			} else if math.Abs(got-want) > tolerance {
				all = append(all, fmt.Sprintf("%s by %s: nDCG@10 is %.4f, recorded is %.4f", set, preset, got, want))
			}
		}
	}
	for set, figures := range recorded {
		for preset, want := range figures {
			if _, known := measured[set][preset]; !known {
				all = append(all, fmt.Sprintf("%s by %s: nDCG@10 %.4f is recorded, none was measured", set, preset, want))
			}
		}
	}
	return all
}

// TestDifferences: a figure that is missing on either side is a difference.
func TestDifferences(t *testing.T) {
	recorded := map[string]map[string]float64{"a": {"text": 0.5, "rrf": 0.6}}
	f := func(want int, measured map[string]map[string]float64) {
		t.Helper()
		if got := differences(recorded, measured); len(got) != want {
			t.Errorf("%d differences are wanted, got %q", want, got)
		}
	}
	f(0, map[string]map[string]float64{"a": {"text": 0.501, "rrf": 0.6}})
	f(1, map[string]map[string]float64{"a": {"text": 0.503, "rrf": 0.6}})
	f(1, map[string]map[string]float64{"a": {"text": 0.5, "rrf": 0.6, "vector": 0.7}})
	f(1, map[string]map[string]float64{"a": {"text": 0.5, "rrf": 0.6}, "b": {"text": 0.5}})
	f(2, map[string]map[string]float64{})
}
