package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/resultcache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	scope = access.Scope{Tenant: "acme", Key: "anna"}
	begin = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
)

// memory is a log that forgets when the test ends. It keeps what events.Log does.
type memory struct {
	mu      sync.Mutex
	entries []*events.Entry
	now     func() time.Time
}

func (m *memory) note(_ access.Scope, s *live.Searched) {
	q := &events.Query{
		Timestamp: m.now(), ClientID: s.Request.ClientID, UserQuery: s.Request.Query,
		Attributes: events.QueryAttributes{
			SessionID: s.Request.SessionID, KnowledgeBases: s.Request.KnowledgeBases,
			TookMS: float64(s.Took) / float64(time.Millisecond), Experiments: s.Experiments,
		},
	}
	if s.Request.Offset != nil {
		q.Attributes.Offset = *s.Request.Offset
	}
	if s.Err != nil {
		q.QueryID, q.Attributes.Error = search.NewQueryID(), fault.KindOf(s.Err)
	} else {
		q.QueryID, q.Attributes.Empty = s.Response.QueryID, s.Response.Empty
		for _, hit := range s.Response.HitNames() {
			q.HitIDs = append(q.HitIDs, events.HitID(hit.KnowledgeBase, hit.ID))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, &events.Entry{QueryID: q.QueryID, Query: q})
}

// click is on a hit of a search, by its place on the page from 0.
func (m *memory) click(query string, at int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range slices.Backward(m.entries) {
		if e.QueryID == query {
			object := &events.Object{ObjectID: e.Query.HitIDs[at]}
			e.Events = append(e.Events, events.Event{
				QueryID: query, ActionName: events.ActionClick, Attributes: events.EventAttributes{Object: object},
			})
			return
		}
	}
}

func (m *memory) last() *events.Query {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[len(m.entries)-1].Query
}

// Read implements live.Log.
func (m *memory) Read(_ context.Context, _ string, from, to time.Time) iter.Seq2[events.Entry, error] {
	m.mu.Lock()
	entries := slices.Clone(m.entries)
	m.mu.Unlock()
	return func(yield func(events.Entry, error) bool) {
		for _, e := range entries {
			if at := e.Query.Timestamp; at.Before(from) || !at.Before(to) {
				continue
			}
			if !yield(*e, nil) {
				return
			}
		}
	}
}

// bench is a gateway's searcher with experiments, on the embedded engine.
type bench struct {
	testing.TB

	engine   engine.Engine
	keeper   engine.RecordKeeper
	catalog  *catalog.Catalog
	below    *resultcache.Searcher
	store    *live.Store
	searcher *live.Searcher
	log      *memory

	mu   sync.Mutex
	time time.Time
}

// chunks are how many a knowledge base has. All have the word that is asked for, more or less often, and vectors in
// another order.
const chunks = 40

func newBench(t testing.TB) *bench {
	t.Helper()
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	local, err := embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: analyzer})
	if err != nil {
		t.Fatal(err)
	}
	b := newBenchOn(t, local, local, analyzer)
	b.fill("manuals", chunks)
	return b
}

// newBenchOn is a bench on an engine, without a knowledge base.
func newBenchOn(t testing.TB, e engine.Engine, keeper engine.RecordKeeper, analyzer *tokens.Analyzer) *bench {
	t.Helper()
	b := &bench{TB: t, time: begin, engine: e, keeper: keeper}
	b.log = &memory{now: b.now}
	b.catalog = catalog.New([]engine.Engine{e}, catalog.Options{})
	searcher := search.New(search.Options{
		Catalog: b.catalog, Analyzer: analyzer, Planners: presets.Builtin(), DefaultPreset: "text",
	})
	var err error
	b.below, err = resultcache.New(searcher, resultcache.Options{TTL: time.Hour, Memory: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.below.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	b.store = b.another()
	b.searcher = live.NewSearcher(b.below, b.store, b.log.note)
	return b
}

// another is the store of another gateway.
func (b *bench) another() *live.Store {
	return live.New(live.Options{Keeper: b.keeper, Planner: b.below, Catalog: b.catalog, Log: b.log, Now: b.now})
}

func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.time
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.time = b.time.Add(d)
}

func (b *bench) fill(id string, n int) {
	b.Helper()
	ctx := b.Context()
	dimensions := 2
	kb, err := b.catalog.Create(ctx, scope, catalog.Spec{ID: id, Dimensions: &dimensions})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	req := engine.WriteRequest{KB: kb, Refresh: true}
	for i := range n {
		content := "An answer about something."
		for range i%7 + 1 {
			content += " A refund."
		}
		req.Chunks = append(req.Chunks, engine.Chunk{
			ID: fmt.Sprintf("c%02d", i), DocumentID: fmt.Sprintf("d%d", i%10), Content: content, Available: true,
			Vectors: map[string][]float32{engine.FieldVector: {random.Float32(), random.Float32()}},
		})
	}
	outcomes, err := b.engine.Write(ctx, req)
	if err != nil || outcomes[0].Err != nil {
		b.Fatal(err, outcomes)
	}
}

// refund is a search that is asked by words and by a vector.
func refund(client string) search.Request {
	return search.Request{
		Query: "refund", KnowledgeBases: []string{"manuals"}, Vector: []float32{1, 0}, ClientID: client,
	}
}

func (b *bench) ask(req search.Request) *search.Response {
	b.Helper()
	response, err := b.searcher.Search(b.Context(), scope, req)
	if err != nil {
		b.Fatal(err)
	}
	return response
}

// halves is an experiment of two presets on the knowledge base.
func halves(id string, of ...string) live.Definition {
	d := live.Definition{KnowledgeBases: []string{"manuals"}, Experiment: experiments.Experiment{
		ID: id, Traffic: 1, Unit: experiments.ByUser, Mode: experiments.Split,
		Start: begin, End: begin.AddDate(0, 0, 14),
	}}
	for i, members := range of {
		d.Variants = append(d.Variants, experiments.Variant{
			Name: fmt.Sprintf("v%d", i+1), Share: 1 / float64(len(of)), Request: json.RawMessage(members),
		})
	}
	return d
}

func interleaved(id string, of ...string) live.Definition {
	d := halves(id, of...)
	d.Mode = experiments.Interleave
	return d
}

const (
	byText   = `{"preset":"text"}`
	byVector = `{"preset":"vector"}`
)

func (b *bench) create(d live.Definition) *live.Experiment {
	b.Helper()
	e, err := b.store.Create(b.Context(), scope, d)
	if err != nil {
		b.Fatal(err)
	}
	return e
}
