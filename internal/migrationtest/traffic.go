package migrationtest

import (
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/engine"
)

// traffic writes, updates, replaces and deletes until it is stopped, and knows what
// there must be then.
type traffic struct {
	mu   sync.Mutex
	want map[string]engine.Chunk
	ops  int
	stop chan struct{}
	done sync.WaitGroup
}

func trafficOf(s *site, want map[string]engine.Chunk) *traffic {
	tr := &traffic{want: maps.Clone(want), stop: make(chan struct{})}
	for w := range 2 {
		tr.done.Go(func() { tr.run(s, w) })
	}
	tr.done.Go(func() { tr.search(s) })
	return tr
}

// run changes the ids of one writer: those whose number is w modulo 2. The
// knowledge base it knows may be of the shape before.
func (tr *traffic) run(s *site, w int) {
	rng := mathrand.New(mathrand.NewPCG(uint64(w), 1))
	for version := 1; ; version++ {
		select {
		case <-tr.stop:
			return
		default:
		}
		id := fmt.Sprintf("c%04d", rng.IntN(200)*2+w)
		kb, _, err := s.Catalog.Get(s.t.Context(), Tenant, "kb")
		if err != nil {
			s.t.Error(err)
			return
		}
		tr.mu.Lock()
		_, there := tr.want[id]
		tr.mu.Unlock()
		if there && rng.IntN(3) == 0 {
			if n, err := s.Engine.DeleteChunks(s.t.Context(), kb, []string{id}); err != nil || n != 1 {
				s.t.Errorf("delete %s: %d, %v", id, n, err)
				return
			}
			tr.note(id, nil)
			continue
		}
		c := chunkOf(id, version)
		vectors, _ := Embed(s.t.Context(), kb.EmbeddingModel, []string{c.Content})
		c.Vectors[engine.FieldVector] = vectors[0]
		outcomes, err := s.Engine.Write(s.t.Context(), engine.WriteRequest{KB: kb, Chunks: []engine.Chunk{c}})
		if err != nil || outcomes[0].Err != nil {
			s.t.Errorf("write %s: %v, %+v", id, err, outcomes)
			return
		}
		tr.note(id, &c)
	}
}

// search wants an answer of every text leg, always.
func (tr *traffic) search(s *site) {
	for {
		select {
		case <-tr.stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		kb, _, err := s.Catalog.Get(s.t.Context(), Tenant, "kb")
		if err != nil {
			s.t.Error(err)
			return
		}
		result, err := s.Engine.Search(s.t.Context(), both(kb, "word", []float32{1, 1, 1}[:kb.Dimensions]...))
		if err != nil || result.Legs[0].Err != nil || len(result.Hits) == 0 {
			s.t.Errorf("searching: %v, %+v", err, result)
			return
		}
	}
}

func (tr *traffic) note(id string, c *engine.Chunk) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.ops++
	if c == nil {
		delete(tr.want, id)
		return
	}
	tr.want[id] = *c
}

func (tr *traffic) end() map[string]engine.Chunk {
	close(tr.stop)
	tr.done.Wait()
	return tr.want
}
