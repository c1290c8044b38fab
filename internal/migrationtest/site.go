package migrationtest

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/textquery"
)

// Engine is what is tested.
type Engine interface {
	engine.Engine
	engine.Migrator
	engine.Scanner
}

// Gateway is a gateway's engine, which embeds by Embed, and the catalog over it.
type Gateway struct {
	Engine  Engine
	Catalog *catalog.Catalog
}

// Storage is what the gateways of a test share.
type Storage struct {
	// Open opens another gateway's engine; of a storage that one process has to itself, the one
	// that is open. The test closes it at its end.
	Open func(t *testing.T) Gateway
	// Reopen opens an engine that knows nothing of what the others have in memory.
	Reopen func(t *testing.T) Gateway
	// Tables counts the tables of chunks that there are.
	Tables func(t *testing.T) int
	// Schema has the engines, and what else is the storage's own.
	Schema engine.KnowledgeBase
	// Rebuild changes a shape and needs no new vectors.
	Rebuild migration.Change
}

// Run runs the suite, each case on a storage of its own.
func Run(t *testing.T, of func(t *testing.T) Storage) {
	for name, run := range map[string]func(*testing.T, Storage){
		"OnePlanIsAppliedOnce": testOnePlanIsAppliedOnce, "AnotherGatewayGoesOn": testAnotherGatewayGoesOn,
		"EveryStepMayBeRepeated": testEveryStepMayBeRepeated, "Cancelled": testCancelled,
		"TheGateAsksBothShapes": testTheGateAsksBothShapes, "WithoutTheOldModel": testWithoutTheOldModel,
		"AShapeBefore": testAShapeBefore, "FurtherVectors": testFurtherVectors, "SourcesInPlace": testSourcesInPlace,
		"NothingIsLost/rebuild": func(t *testing.T, s Storage) { testNothingIsLost(t, s, s.Rebuild) },
		"NothingIsLost/embed":   func(t *testing.T, s Storage) { testNothingIsLost(t, s, newModel) },
		"Boosts":                Boosts,
		"ARefusedTextIsNamed":   testARefusedTextIsNamed,
	} {
		t.Run(name, func(t *testing.T) { run(t, of(t)) })
	}
}

var newModel = migration.Change{EmbeddingModel: new("model3")}

// site is one gateway of a test, as far as migrations go; several share a storage.
type site struct {
	Gateway
	*migration.Service
	t       *testing.T
	storage Storage
	jobs    *jobs.Manager
}

var (
	// Tenant is whose knowledge base "kb" is.
	Tenant = access.Scope{Tenant: "t"}
	tester = migration.Caller{Scope: Tenant, Key: "tester"}
	ofKB   = engine.Ref{Tenant: "t", ID: "kb"}
)

func siteOf(t *testing.T, storage Storage, change func(*migration.Options)) *site {
	t.Helper()
	s := &site{Gateway: storage.Open(t), storage: storage, t: t, jobs: jobs.New()}
	t.Cleanup(s.jobs.Close) // before the engine closes
	o := migration.Options{
		Catalog: s.Catalog, Jobs: s.jobs, ModelDimensions: fakeDimensions, Takeover: time.Second, Patience: 10 * time.Second,
	}
	if change != nil {
		change(&o)
	}
	s.Service = migration.New(o)
	return s
}

// refusedText is in texts that "model3" refuses.
const refusedText = "unembeddable"

// Embed makes vectors of "model2" and "model3": [bytes, words] and [bytes, words, 1].
func Embed(_ context.Context, model string, texts []string) ([][]float32, error) {
	if model != "model2" && model != "model3" {
		return nil, fault.New(fault.Unsupported, "model %q is not configured", model)
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if model == "model3" && strings.Contains(text, refusedText) {
			return nil, fault.New(fault.InvalidArgument, "the embedding service answered 400: 512 tokens at most")
		}
		vectors[i] = []float32{float32(len(text)), float32(len(strings.Fields(text))), 1}
		if model == "model2" {
			vectors[i] = vectors[i][:2]
		}
	}
	return vectors, nil
}

func fakeDimensions(_ context.Context, model string) (int, error) {
	switch model {
	case "model2":
		return 2, nil
	case "model3":
		return 3, nil
	default:
		return 0, fault.Invalid("changes.embedding_model", model, "model2 or model3")
	}
}

// textOf has as many words as its version, so that every version has another vector.
func textOf(id string, version int) string { return id + strings.Repeat(" word", 1+version%7) }

func chunkOf(id string, version int) engine.Chunk {
	content := textOf(id, version)
	vectors, _ := Embed(context.Background(), "model2", []string{content})
	return engine.Chunk{
		ID: id, DocumentID: "d" + id[:2], Available: true, Content: content, Ordinal: version,
		WrittenAt: time.Unix(int64(version), 0).UTC().Format(time.RFC3339),
		Vectors:   map[string][]float32{engine.FieldVector: vectors[0]}, Metadata: map[string]any{"v": float64(version)},
	}
}

func someChunks(n int) map[string]engine.Chunk {
	all := map[string]engine.Chunk{}
	for i := range n {
		c := chunkOf(fmt.Sprintf("c%04d", i), 0)
		all[c.ID] = c
	}
	return all
}

func (s *site) create(chunks map[string]engine.Chunk) {
	s.t.Helper()
	kb := s.schema()
	kb.Dimensions, kb.EmbeddingModel = 2, "model2"
	if err := s.Engine.CreateKnowledgeBase(s.t.Context(), kb); err != nil {
		s.t.Fatal(err)
	}
	s.write(kb, slices.Collect(maps.Values(chunks))...)
}

func (s *site) schema() engine.KnowledgeBase {
	kb := s.storage.Schema
	kb.Ref, kb.Kind, kb.Analyzer = ofKB, engine.KindChunks, engine.AnalyzerJieba
	return kb
}

func (s *site) write(kb engine.KnowledgeBase, chunks ...engine.Chunk) {
	s.t.Helper()
	outcomes, err := s.Engine.Write(s.t.Context(), engine.WriteRequest{KB: kb, Chunks: chunks, Refresh: true})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			s.t.Fatal(o.Err)
		}
	}
}

// both asks for a word and for a vector.
func both(kb engine.KnowledgeBase, word string, v ...float32) *engine.Request {
	text := &textquery.Query{Terms: []textquery.Term{{Text: word, Weight: 1}}}
	return &engine.Request{KB: kb, Legs: []engine.Leg{
		{Name: "text", Field: engine.FieldText, K: 1000, Text: text},
		{Name: "vector", Field: engine.FieldVector, K: 1000, Vector: v},
	}}
}

// wait polls until something holds, for half a minute at most.
func wait(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen")
		}
	}
}

func (s *site) kb() engine.KnowledgeBase {
	s.t.Helper()
	s.Catalog.Expire()
	kb, _, err := s.Catalog.Get(s.t.Context(), Tenant, "kb")
	if err != nil {
		s.t.Fatal(err)
	}
	return kb
}

func (s *site) plan(change migration.Change, options engine.MappingOptions) *engine.MappingPlan {
	s.t.Helper()
	s.Catalog.Expire()
	plan, err := s.Plan(s.t.Context(), tester, "kb", migration.Request{Changes: change, Options: options})
	if err != nil {
		s.t.Fatal(err)
	}
	return plan
}

func (s *site) apply(change migration.Change, options engine.MappingOptions) {
	s.t.Helper()
	if _, err := s.Apply(s.t.Context(), tester, "kb", s.plan(change, options).ID); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) order(order migration.Order) {
	s.t.Helper()
	if _, err := s.Direct(s.t.Context(), tester, "kb", order); err != nil {
		s.t.Fatal(err)
	}
}

// until waits for a state, and for the end of the job that brought it.
func (s *site) until(state string) *engine.Migration {
	s.t.Helper()
	for {
		m, err := s.Status(s.t.Context(), Tenant, "kb")
		switch {
		case err != nil:
			s.t.Fatal(err)
		case m != nil && m.State == state:
			_ = s.jobs.Watch(s.t.Context(), "t", m.ID, func(jobs.Job) error { return nil })
			time.Sleep(20 * time.Millisecond)
			return m
		case s.t.Context().Err() != nil,
			m != nil && m.State != engine.MigrationRunning && m.State != engine.MigrationSwitched:
			s.t.Fatalf("the migration is %s at %s: %+v", m.State, m.Step, m.Error)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// copying waits until the copy is on its way.
func (s *site) copying() *engine.Migration {
	s.t.Helper()
	var m *engine.Migration
	wait(s.t, func() bool {
		var err error
		if m, err = s.Status(s.t.Context(), Tenant, "kb"); err != nil {
			s.t.Fatal(err)
		}
		return m.OwnStep() == "copy" && m.Progress.Done > 0
	})
	return m
}

// holds compares every chunk with what there must be, its vector included, and
// wants a search by word and by vector to find as many.
func (s *site) holds(want map[string]engine.Chunk) {
	s.t.Helper()
	kb := s.kb()
	all, err := s.Engine.Scan(s.t.Context(), engine.ScanRequest{KB: kb, Limit: 100_000})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(all) != len(want) {
		s.t.Errorf("%d chunks, want %d", len(all), len(want))
	}
	for _, got := range all {
		c, there := want[got.ID]
		vectors, err := Embed(s.t.Context(), kb.EmbeddingModel, []string{c.FieldText(engine.FieldText)})
		if err != nil {
			s.t.Fatal(err)
		}
		if !there || got.Content != c.Content || got.Ordinal != c.Ordinal || got.Metadata["v"] != c.Metadata["v"] ||
			!near(got.Vectors[engine.FieldVector], vectors[0]) {
			s.t.Fatalf("%s is %+v, want %+v with the vector %v", got.ID, got, c, vectors[0])
		}
	}
	result, err := s.Engine.Search(s.t.Context(), both(kb, "word", []float32{1, 1, 1}[:kb.Dimensions]...))
	if err != nil {
		s.t.Fatal(err)
	}
	for i, leg := range result.Legs {
		if leg.Err != nil {
			s.t.Errorf("leg %d: %v", i, leg.Err)
		}
	}
	if len(result.Hits) != len(want) {
		s.t.Errorf("a search finds %d of %d", len(result.Hits), len(want))
	}
	d, err := s.Engine.Describe(s.t.Context(), kb)
	if err != nil || d.Chunks != len(want) || d.Vectors != len(want) {
		s.t.Errorf("described as %+v, %v", d, err)
	}
}

// near compares directions.
func near(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot > 0 && dot*dot > 0.999999*aa*bb
}

// EmbeddedTables counts the tables of chunks in the data directory of an embedded engine.
func EmbeddedTables(t *testing.T, dir string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "hybridge.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.QueryRowContext(t.Context(),
		"SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name LIKE 'chunks_%'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
