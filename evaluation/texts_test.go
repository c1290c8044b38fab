package evaluation_test

import (
	"context"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// knownVectors are those of a set's texts.
type knownVectors struct{ questions, texts map[string][]float32 }

func vectorsOf(set *evaluation.Set) *knownVectors {
	k := &knownVectors{map[string][]float32{}, map[string][]float32{}}
	for _, q := range set.Queries {
		k.questions[q.Text] = q.Vector
	}
	for _, p := range set.Corpus {
		chunk := engine.Chunk{Title: p.Title}
		chunk.Content = p.Text
		k.texts[chunk.FieldText(engine.FieldText)] = p.Vector
	}
	return k
}

func (*knownVectors) Model() string { return "multilingual-e5-small" }

func (k *knownVectors) Query(_ context.Context, text string) ([]float32, error) {
	return k.questions[text], nil
}

func (k *knownVectors) Passages(_ context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, len(texts))
	for i, text := range texts {
		all[i] = k.texts[text]
	}
	return all, nil
}

// byFusion is ScoreTexts as a reranker.
type byFusion struct{ searcher *search.Searcher }

func (b byFusion) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	answer, err := b.searcher.ScoreTexts(ctx, &search.TextsRequest{Query: query, Texts: texts})
	if err == nil && len(answer.Degraded) > 0 {
		err = fault.New(fault.Internal, "fusion was without %s", answer.Degraded[0].Leg)
	}
	if err != nil {
		return nil, err
	}
	return answer.Scores, nil
}

var textSets = flag.String("text-sets", "xquad_zh", "the retrieval sets that TestTextsAreRanked measures, with commas between")

// TestTextsAreRanked lets fusion rank the 50 texts that BM25 found, given nothing but the texts.
func TestTextsAreRanked(t *testing.T) {
	folder := measuredFolder(t)
	ten, window, weight := 10, 50, 1.0
	for name := range strings.SplitSeq(*textSets, ",") {
		set, err := evaluation.Load(filepath.Join(folder, name), "e5")
		if err != nil {
			t.Fatal(err)
		}
		set.Model = "multilingual-e5-small"
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
			Catalog: stored, Analyzer: opened(t), Planners: evaluation.Planners(presets.Builtin()), Bank: theBank(t),
			Embedder: vectorsOf(set),
		})
		searcher.Rerankers = map[string]search.Reranker{"fusion": byFusion{searcher}}
		measured := func(request search.Request) float64 {
			request.TopK = &ten
			result, err := evaluation.Run(t.Context(), searcher, stored, set, evaluation.System{Name: name, Request: request})
			if err != nil {
				t.Fatal(err)
			}
			return result.NDCG10()
		}
		found := measured(search.Request{Preset: "text"})
		fused := measured(search.Request{Preset: "text", Overrides: search.Overrides{
			Rerank: &search.Rerank{Name: "fusion", Window: &window, Weight: &weight},
		}})
		t.Logf("%-16s nDCG@10 by BM25 %.4f, by fusion of its best 50 %.4f", name, found, fused)
		if fused < found-0.01 {
			t.Errorf("%s: fusion ranks the texts worse", name)
		}
	}
}
