package search_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// meeting is where embedders wait for each other.
type meeting struct {
	guests int
	mu     sync.Mutex
	all    chan struct{} // closed when they are there
}

// arrive waits for all guests; false when they do not come.
func (m *meeting) arrive() bool {
	m.mu.Lock()
	if m.guests--; m.guests == 0 {
		close(m.all)
	}
	m.mu.Unlock()
	select {
	case <-m.all:
		return true
	case <-time.After(10 * time.Second):
		return false
	}
}

// ownModel is an embedder that gives every text one vector, and knows what it was asked.
type ownModel struct {
	name   string
	vector []float32
	err    error
	meet   *meeting // nil: it waits for nobody

	mu    sync.Mutex
	asked []string
}

func (e *ownModel) Model() string { return e.name }

func (e *ownModel) Query(_ context.Context, text string) ([]float32, error) {
	e.mu.Lock()
	e.asked = append(e.asked, text)
	e.mu.Unlock()
	if e.meet != nil && !e.meet.arrive() {
		return nil, fault.New(fault.Timeout, "%s waited in vain", e.name)
	}
	return e.vector, e.err
}

// fillBy fills a knowledge base of a model; its chunks have no word of a question.
func (b *bench) fillBy(id, model string, dimensions int, vectors ...[]float32) {
	b.Helper()
	kb, err := b.catalog.Create(b.Context(), scope, catalog.Spec{ID: id, EmbeddingModel: model, Dimensions: &dimensions})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = b.engine.DeleteKnowledgeBase(context.Background(), kb.Ref) })
	var chunks []engine.Chunk
	for i, v := range vectors {
		c := chunk(id+string(rune('0'+i)), "d", "wombats dig "+strings.Repeat("deep ", i), 0, 0)
		c.Vectors = map[string][]float32{engine.FieldVector: v}
		chunks = append(chunks, c)
	}
	if _, err := b.engine.Write(b.Context(), engine.WriteRequest{KB: kb, Chunks: chunks, Refresh: true}); err != nil {
		b.Fatal(err)
	}
}

// testModels: each knowledge base is asked by its own model, all models at the same time.
func testModels(b *bench) {
	b.fillBy("usual", "e5", 2, []float32{1, 0}, []float32{0, 1})
	b.fillBy("small", "tiny", 3, []float32{0, 0, 1}, []float32{0, 1, 0})
	b.fillBy("other", "huge", 3, []float32{1, 0, 0}, []float32{0, 0, 1})
	meet := &meeting{guests: 3, all: make(chan struct{})}
	usual := &ownModel{name: "e5", vector: []float32{1, 0}, meet: meet}
	tiny := &ownModel{name: "tiny", vector: []float32{0, 0, 1}, meet: meet}
	huge := &ownModel{name: "huge", vector: []float32{1, 0, 0}, meet: meet}
	b.searcher.Embedder, b.searcher.Embedders = usual, map[string]search.Embedder{"tiny": tiny, "huge": huge}
	const all = `"knowledge_bases": ["usual", "small", "other"]`
	best := func(r *search.Response) string {
		var first []string
		for i := range r.Hits {
			if o := r.Hits[i].VectorSimilarity; o != nil && *o > 0.99 {
				first = append(first, r.Hits[i].ID)
			}
		}
		slices.Sort(first)
		return strings.Join(first, " ")
	}
	r := b.answer(`{"query": "burrow", "copies": "keep", ` + all + `}`)
	if got := best(r); got != "other0 small0 usual0" || len(r.Degraded) != 0 {
		b.Errorf(`%s, degraded %+v; want got "other0 small0 usual0" and no r.Degraded`, got, r.Degraded)
	}
	usual.meet, tiny.meet, huge.meet = nil, nil, nil
	usual.asked, tiny.asked, huge.asked = nil, nil, nil
	r = b.answer(`{"query": "burrow", "queries": ["tunnel", "den"], "copies": "keep", "knowledge_bases": ["small"]}`)
	if slices.Sort(tiny.asked); best(r) != "small0" || !slices.Equal(tiny.asked, []string{"burrow", "den", "tunnel"}) || len(usual.asked)+len(huge.asked) != 0 {
		b.Errorf(`%s: asked %q, %q and %q; want best(r) "small0" and {"burrow", "den", "tunnel"} and the others asked nothing`, best(r), usual.asked, tiny.asked, huge.asked)
	}
	tiny.err = fault.New(fault.Unavailable, "tiny is away")
	r = b.answer(`{"query": "burrow", "copies": "keep", ` + all + `}`)
	if got := best(r); got != "other0 usual0" || len(r.Degraded) != 1 || r.Degraded[0].KnowledgeBase != "small" {
		b.Errorf(`%s, degraded %+v; want got "other0 usual0" and 1 r.Degraded and r.Degraded[0].KnowledgeBase "small"`, got, r.Degraded)
	}
	delete(b.searcher.Embedders, "tiny")
	r = b.answer(`{"query": "burrow", "copies": "keep", ` + all + `}`)
	if len(r.Degraded) != 1 || r.Degraded[0].KnowledgeBase != "small" || !strings.Contains(r.Degraded[0].Reason, `model "tiny"`) {
		b.Errorf("not configured: %+v", r.Degraded)
	}
	r = b.answer(`{"query": "burrow", "vector": [0, 0, 1], "copies": "keep", "knowledge_bases": ["small", "other"]}`)
	if got := best(r); got != "other1 small0" || len(r.Degraded) != 0 {
		b.Errorf(`a vector that is brought: %s, %+v; want got "other1 small0" and no r.Degraded`, got, r.Degraded)
	}
	b.searcher.Embedder = nil
	r = b.answer(`{"query": "burrow", "copies": "keep", "knowledge_bases": ["other"]}`)
	if got := best(r); got != "other0" || len(r.Degraded) != 0 {
		b.Errorf("without a usual model: %s, %+v", got, r.Degraded)
	}
	outcomes, err := b.searcher.Together(b.Context(), scope, []search.Request{
		{Query: "burrow", KnowledgeBases: []string{"other"}, Preset: "vector"},
		{Query: "burrow", KnowledgeBases: []string{"other"}, Preset: "rrf"},
	})
	if err != nil || best(outcomes[0].Response) != "other0" || best(outcomes[1].Response) != "other0" {
		b.Errorf(`together: %v, %+v; want no error and best(outcomes[0].Response) "other0" and best(outcomes[1].Response) "other0"`, err, outcomes)
	}
}
