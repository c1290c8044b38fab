package tiered

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/bm25"
)

// history notes the chunks of every generation.
type history struct {
	*database
	mu     sync.Mutex
	chunks map[int64][]bm25.Doc
}

func (h *history) change(r *rand.Rand) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var del []uint32
	for range r.IntN(4) {
		del = append(del, uint32(r.IntN(int(h.nextKey)+1)))
	}
	h.write(del, texts(r.IntN(6))...)
	h.chunks[h.now()] = h.docs()
}

func (h *history) at(generation int64) []bm25.Doc {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.chunks[generation]
}

// While chunks change, parts are damaged and indexes dropped, every search that
// is answered is answered from the generation that it asked for.
//
// Promise: "Every change of chunks increases a generation number" (docs/postgresql.md)
// Promise: "Every change of chunks raises a generation number" (docs/guide/en/postgres.md)
func TestSearchesGetTheirGeneration(t *testing.T) {
	h := &history{database: newDatabase(), chunks: map[int64][]bm25.Doc{}}
	seed := rand.New(rand.NewPCG(1, 2))
	h.change(seed)
	options := func(o *Options) { o.DeltaRows = 10 }
	gateways := []*Cache{open(t, h.database, options), open(t, h.database, options)}
	done := make(chan struct{})
	var searchers sync.WaitGroup
	for i := range 4 {
		searchers.Go(func() {
			for answered := 0; ; {
				generation := h.now()
				s, err := gateways[i%2].At(t.Context(), manuals, generation)
				var moved *MovedError
				switch {
				case err == nil:
					answered++
					wantHits(t, s, h.at(generation), generation)
				case !errors.As(err, &moved) || moved.Have <= generation:
					t.Errorf("generation %d: %v", generation, err)
				}
				select {
				case <-done:
					if answered > 0 {
						return
					}
				default:
				}
			}
		})
	}
	for i := range 150 {
		h.change(seed)
		switch i % 15 {
		case 5:
			h.damage(seed.IntN(1 << 20))
		case 10:
			if err := gateways[i%2].Invalidate(t.Context(), manuals); err != nil {
				t.Error(err)
			}
		}
	}
	close(done)
	searchers.Wait()
}

func wantHits(t *testing.T, s *bm25.Snapshot, docs []bm25.Doc, generation int64) {
	q := query("w1", "w3")
	want := fresh(t, docs).Search(t.Context(), q, 100, nil)
	if got := s.Search(t.Context(), q, 100, nil); !slices.Equal(got, want) || s.Docs() != len(docs) {
		t.Errorf("generation %d gives %v, wanted %v", generation, got, want)
	}
}
