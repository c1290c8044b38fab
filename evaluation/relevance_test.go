package evaluation_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/golden"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// tolerance is how far nDCG@10 may be from what is recorded.
const tolerance = 0.002

var (
	chosenSets    = flag.String("sets", "xquad_zh,xquad_en2zh,stackfaq", "retrieval sets, separated by commas")
	chosenPresets = flag.String("presets", "text,vector,rrf,balanced", "presets, separated by commas")
)

// TestRelevance holds nDCG@10 of presets on retrieval sets to what is recorded,
// so that a change that ranks worse (or better) shows up in review.
func TestRelevance(t *testing.T) {
	folder := dataFolder(t)
	var systems []evaluation.System
	ten := 10
	for _, name := range strings.Split(*chosenPresets, ",") {
		systems = append(systems, evaluation.System{Name: name, Request: search.Request{Preset: name, TopK: &ten}})
	}
	measured := map[string]map[string]float64{}
	for _, name := range strings.Split(*chosenSets, ",") {
		set, err := evaluation.Load(filepath.Join(folder, name), "e5")
		if err != nil {
			t.Fatal(err)
		}
		measured[name] = measure(t, set, systems)
	}
	compare(t, measured)
}

func dataFolder(t *testing.T) string {
	t.Helper()
	folder := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(folder); err != nil {
		devservices.Missing(t, "the retrieval sets are missing: "+err.Error())
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

func measureOn(
	t *testing.T, store engine.Engine, set *evaluation.Set, systems []evaluation.System,
) map[string]float64 {
	t.Helper()
	shelf, err := evaluation.Shelve(t.Context(), store, set)
	if err != nil {
		t.Fatal(err)
	}
	searcher := search.New(search.Options{
		Catalog: shelf, Analyzer: opened(t), Planners: evaluation.Planners(presets.Builtin()),
	})
	figures := map[string]float64{}
	for _, system := range systems {
		result, err := evaluation.Run(t.Context(), searcher, shelf, set, system)
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
		return evaluation.System{Name: name, Request: search.Request{Preset: "linear", Weights: weights}}
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
	folder := dataFolder(t)
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
