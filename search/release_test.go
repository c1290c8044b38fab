package search_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// fleeting is still, but its hits are gone when they are released.
type fleeting struct {
	*still
	released int
}

func (f *fleeting) Get(ctx context.Context, scope search.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	kb, _, err := f.still.Get(ctx, scope, id)
	return kb, f, err
}

func (f *fleeting) Search(context.Context, *engine.Request) (*engine.Result, error) {
	result := f.result
	result.Hits = slices.Clone(f.result.Hits)
	for i := range result.Hits {
		result.Hits[i].Observations = slices.Clone(result.Hits[i].Observations)
	}
	result.Release = func() {
		f.released++
		for i := range result.Hits {
			clear(result.Hits[i].Observations)
			result.Hits[i] = engine.Hit{Candidate: scoring.Candidate{ID: "gone"}, DocumentID: "gone"}
		}
	}
	return &result, nil
}

// TestAnswersKeepNothingThatIsReleased compares the answers of an engine that takes
// its hits back with those of one that does not, written after further searches.
func TestAnswersKeepNothingThatIsReleased(t *testing.T) {
	const searches = 3
	for _, preset := range []string{"script_score", "balanced", "rrf", "linear"} {
		kept := newStill(200, 60, preset == "script_score")
		lost := &fleeting{still: kept}
		answers := map[search.Catalog][]*search.Response{}
		for _, catalog := range []search.Catalog{kept, lost} {
			s := search.New(search.Options{
				Catalog: catalog, Analyzer: silent{}, Planners: presets.Builtin(), DefaultPreset: presets.Default,
			})
			for n := range searches {
				topK := 5 + n
				response, err := s.Search(t.Context(), scope, search.Request{
					Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: preset, TopK: &topK,
					Vector: make([]float32, 384), Explain: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				answers[catalog] = append(answers[catalog], response)
			}
		}
		if lost.released != searches {
			t.Errorf("%s: hits were released %d times in %d searches", preset, lost.released, searches)
		}
		for n := range searches {
			if want, got := timeless(t, answers[kept][n]), timeless(t, answers[lost][n]); want != got {
				t.Errorf("%s: answer %d differs after its hits were released:\n%s\n%s", preset, n, want, got)
			}
		}
	}
}

// timeless is the JSON of an answer without what differs between two of them.
func timeless(t *testing.T, r *search.Response) string {
	t.Helper()
	r.QueryID, r.TookMS, r.Timings = "", 0, search.Timings{}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
