package search_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search"
)

// TestRawScoresThatComeWithThePage: each hit has its own, also behind a chunk that is
// gone since it was found.
func TestRawScoresThatComeWithThePage(t *testing.T) {
	topK := 30
	late := &lateStill{still: newStill(30, 20, false)}
	for i := range late.result.Hits {
		if o := late.result.Hits[i].Observations; o[1].Rank == 0 {
			o[1].Raw = math.NaN()
		}
	}
	s := searcherOver(late)
	request := search.Request{
		Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "rrf", TopK: &topK, Vector: make([]float32, 384),
	}
	response, err := s.Search(t.Context(), scope, request)
	if err != nil || len(response.Hits) != topK-1 {
		t.Fatalf("%d hits, %v", len(response.Hits), err)
	}
	unranked := 0
	for _, hit := range response.Hits {
		vector := hit.Legs[1]
		if vector.Rank != nil {
			if vector.Raw == nil || *vector.Raw == late.raw(hit.ID) {
				t.Errorf("hit %s: %v, want what the leg itself said", hit.ID, vector.Raw)
			}
			continue
		}
		if unranked++; vector.Raw == nil || *vector.Raw != late.raw(hit.ID) {
			t.Errorf("hit %s: %v, want %v", hit.ID, vector.Raw, late.raw(hit.ID))
		}
	}
	if unranked == 0 {
		t.Error("no hit is without a rank in the vectors")
	}
}

// TestWhatDecidesIsNotDeferred: a threshold on a leg needs its raw scores, and a leg
// that failed is not asked again.
func TestWhatDecidesIsNotDeferred(t *testing.T) {
	f := func(name string, fails, deferred bool, scored int, change func(*search.Request)) {
		t.Helper()
		late := &lateStill{still: newStill(30, 20, false)}
		if fails {
			late.result.Legs[1].Err = errors.New("no vectors today")
		}
		request := search.Request{
			Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "rrf", TopK: new(30), Vector: make([]float32, 384),
		}
		change(&request)
		if _, err := searcherOver(late).Search(t.Context(), scope, request); err != nil {
			t.Fatal(err)
		}
		if late.deferred != deferred || late.scored != scored {
			t.Errorf("%s: deferred %v, scored by %d legs; want %v, %d", name, late.deferred, late.scored, deferred, scored)
		}
	}
	f("rrf", false, true, 2, func(*search.Request) {})
	f("a threshold", false, false, 0, func(r *search.Request) { r.Threshold.Vector = new(0.1) })
	f("a failed leg", true, true, 1, func(*search.Request) {})
	f("linear", false, false, 0, func(r *search.Request) { r.Preset = "linear" })
}

// lateStill scores chunks when they are read, and has lost the second of a page.
type lateStill struct {
	*still
	deferred bool // the last search left scores for later
	scored   int  // legs that scored the page
}

func (s *lateStill) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	s.deferred = req.DeferScores
	return s.still.Search(ctx, req)
}

func (s *lateStill) Get(ctx context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	kb, _, err := s.still.Get(ctx, scope, id)
	return kb, s, err
}

func (s *lateStill) ScoreChunks(ctx context.Context, req engine.ChunksRequest, legs []engine.Leg) (
	[]engine.Chunk, [][]float64, error,
) {
	s.scored = len(legs)
	chunks, err := s.Chunks(ctx, req)
	chunks = append(chunks[:1], chunks[2:]...)
	raw := make([][]float64, len(chunks))
	for i := range chunks {
		raw[i] = make([]float64, len(legs))
		raw[i][len(legs)-1] = s.raw(chunks[i].ID)
	}
	return chunks, raw, err
}

// raw is another number for every chunk.
func (s *lateStill) raw(id string) float64 {
	for i := range s.result.Hits {
		if s.result.Hits[i].ID == id {
			return 0.5 + float64(i)/1000
		}
	}
	return 0
}
