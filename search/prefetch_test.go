package search_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// TestChunksThatCameAlong: an engine is told how many hits will be shown where their
// ranking alone decides that, and is not asked again for chunks that it brought. What
// it found is given back, once, whatever becomes of it.
func TestChunksThatCameAlong(t *testing.T) {
	document := search.GroupByDocument
	for name, c := range map[string]struct {
		change       func(*search.Request)
		brings       int
		shown, asked int64
	}{
		"all of the page":          {func(*search.Request) {}, 10, 10, 0},
		"not all of it":            {func(*search.Request) {}, 9, 10, 1},
		"nothing":                  {func(*search.Request) {}, 0, 10, 1},
		"a later page":             {func(r *search.Request) { r.Offset, r.Limit = new(5), new(3) }, 8, 8, 0},
		"a page behind the answer": {func(r *search.Request) { r.Offset, r.Limit = new(20), new(3) }, 10, 10, 0},
		"grouped":                  {func(r *search.Request) { r.GroupBy = &document }, 10, 0, 1},
		"everything cut, relaxed":  {cutEverything, 10, 10, 0},
		"two knowledge bases":      {func(r *search.Request) { r.KnowledgeBases = []string{"a", "b"} }, 10, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			e := &bringing{still: newStill(30, 20, true), brings: c.brings}
			request := search.Request{
				Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "script_score", TopK: new(10),
				Vector: make([]float32, 384),
			}
			c.change(&request)
			got, err := searcherOver(e).Search(t.Context(), scope, request)
			if err != nil {
				t.Fatal(err)
			}
			want, err := searcherOver(e.still).Search(t.Context(), scope, request)
			if err != nil {
				t.Fatal(err)
			}
			if relaxed := name == "everything cut, relaxed"; (got.Relaxed != nil) != relaxed {
				t.Errorf("relaxed to %v", got.Relaxed)
			}
			same := slices.EqualFunc(got.Hits, want.Hits, func(a, b search.Hit) bool {
				return a.ID == b.ID && a.DocumentName == b.DocumentName
			})
			if shown, asked := e.shown.Load(), e.asked.Load(); !same || shown != c.shown || asked != c.asked {
				t.Errorf("told of %d hits and asked %d times, want %d and %d; the same hits: %v",
					shown, asked, c.shown, c.asked, same)
			}
		})
	}
}

func cutEverything(r *search.Request) {
	r.TextRequired, r.Threshold.Text = new(true), new(1e6)
}

func searcherOver(catalog search.Catalog) *search.Searcher {
	return search.New(search.Options{
		Catalog: catalog, Analyzer: silent{}, Planners: presets.Builtin(), DefaultPreset: presets.Default,
	})
}

// bringing brings chunks along, the last first.
type bringing struct {
	*still
	brings       int // at most so many
	shown, asked atomic.Int64
}

func (b *bringing) Get(ctx context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	kb, _, err := b.still.Get(ctx, scope, id)
	return kb, b, err
}

func (b *bringing) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	b.shown.Store(int64(req.Prefetch))
	result, err := b.still.Search(ctx, req)
	for i := min(req.Prefetch, b.brings) - 1; i >= 0; i-- {
		result.Chunks = append(result.Chunks, b.chunks[result.Hits[i].ID])
	}
	return result, err
}

func (b *bringing) Chunks(ctx context.Context, req engine.ChunksRequest) ([]engine.Chunk, error) {
	b.asked.Add(1)
	return b.still.Chunks(ctx, req)
}
