package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeEngine keeps a list of knowledge bases; what it does not implement panics.
type fakeEngine struct {
	engine.Engine
	name string
	can  engine.Capabilities

	mu    sync.Mutex
	bases map[engine.Ref]engine.KnowledgeBase
	away  error
	slow  chan struct{} // when set, listing waits until it is closed
	first func()        // when set, called before something is made
	lists atomic.Int32
}

func newFake(name string) *fakeEngine {
	return &fakeEngine{
		name:  name,
		can:   engine.Capabilities{Analyzers: []string{"jieba", "standard"}, MaxDims: 4096},
		bases: map[engine.Ref]engine.KnowledgeBase{},
	}
}

func (f *fakeEngine) Name() string                      { return f.name }
func (f *fakeEngine) Capabilities() engine.Capabilities { return f.can }

func (f *fakeEngine) KnowledgeBases(ctx context.Context) ([]engine.KnowledgeBase, error) {
	f.lists.Add(1)
	f.mu.Lock()
	slow := f.slow
	f.mu.Unlock()
	if slow != nil {
		select {
		case <-slow:
		case <-ctx.Done():
			return nil, fault.Wrap(fault.Timeout, ctx.Err(), "list")
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away != nil {
		return nil, f.away
	}
	var all []engine.KnowledgeBase
	for _, kb := range f.bases {
		all = append(all, kb)
	}
	return all, nil
}

func (f *fakeEngine) CreateKnowledgeBase(_ context.Context, kb engine.KnowledgeBase) error {
	if f.first != nil {
		f.first()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bases[kb.Ref] = kb
	return nil
}

func (f *fakeEngine) DeleteKnowledgeBase(_ context.Context, ref engine.Ref) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.bases[ref]; !ok {
		return fault.New(fault.NotFound, "no such table")
	}
	delete(f.bases, ref)
	return nil
}

func (f *fakeEngine) Describe(context.Context, engine.KnowledgeBase) (*engine.Description, error) {
	return &engine.Description{Chunks: 7}, nil
}

// set changes the engine's state behind the catalog's back.
func (f *fakeEngine) set(change func(*fakeEngine)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

var (
	ctx  = context.Background()
	acme = access.Scope{Tenant: "acme"}
)

func wantKind(t *testing.T, err error, kind fault.Kind, parts ...string) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Fatalf("got error %v (kind %s), want kind %s", err, fault.KindOf(err), kind)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func create(t *testing.T, c *Catalog, scope access.Scope, spec Spec) engine.KnowledgeBase {
	t.Helper()
	kb, err := c.Create(ctx, scope, spec)
	if err != nil {
		t.Fatalf("create %s: %v", spec.ID, err)
	}
	return kb
}

func TestTenantsAndBoundKeysSeeOnlyTheirOwn(t *testing.T) {
	c := New([]engine.Engine{newFake("embedded"), newFake("elasticsearch")}, Options{})
	create(t, c, acme, Spec{ID: "b"})
	create(t, c, acme, Spec{ID: "a", Engine: "elasticsearch"})
	create(t, c, access.Scope{Tenant: "other"}, Spec{ID: "a"})

	f := func(scope access.Scope, want ...string) {
		t.Helper()
		listed, err := c.List(ctx, scope)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, kb := range listed {
			if kb.Tenant != scope.Tenant {
				t.Errorf("%+v lists %s of tenant %s", scope, kb.ID, kb.Tenant)
			}
			got = append(got, kb.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v lists %v, want %v", scope, got, want)
		}
	}
	f(acme, "a", "b")
	f(access.Scope{Tenant: "acme", KnowledgeBases: []string{"b"}}, "b")
	f(access.Scope{Tenant: "acme", KnowledgeBases: []string{}})
	f(access.Scope{Tenant: "other"}, "a")
	f(access.Scope{Tenant: "nobody"})

	kb, e, err := c.Get(ctx, acme, "a")
	if err != nil || e.Name() != "elasticsearch" || kb.Engine != "elasticsearch" {
		t.Errorf(`Get a: %+v on %v, %v; want no error and e.Name() "elasticsearch" and kb.Engine "elasticsearch"`, kb, e, err)
	}
	absent := access.Scope{Tenant: "nobody"}
	bound := access.Scope{Tenant: "acme", KnowledgeBases: []string{"b"}}
	for _, scope := range []access.Scope{absent, bound} {
		_, _, err := c.Get(ctx, scope, "a")
		wantKind(t, err, fault.NotFound, `knowledge base "a" does not exist`)
		wantKind(t, c.Delete(ctx, scope, "a"), fault.NotFound, `knowledge base "a" does not exist`)
		_, err = c.Describe(ctx, scope, "a")
		wantKind(t, err, fault.NotFound, `knowledge base "a" does not exist`)
	}
	_, err = c.Create(ctx, bound, Spec{ID: "new"})
	wantKind(t, err, fault.Forbidden, `"new"`, "bound to the knowledge bases b")
}

func TestCreateDescribeDelete(t *testing.T) {
	c := New([]engine.Engine{newFake("embedded"), newFake("elasticsearch")}, Options{DefaultEngine: "elasticsearch"})
	kb := create(t, c, acme, Spec{ID: "kb"})
	if kb.Engine != "elasticsearch" || kb.Name != "kb" || kb.Kind != engine.KindChunks ||
		kb.Analyzer != "jieba" || kb.Dimensions != 0 || kb.CreatedAt.IsZero() || kb.Tenant != "acme" {
		t.Errorf("defaults: %+v", kb)
	}
	_, err := c.Create(ctx, acme, Spec{ID: "kb", Engine: "embedded"})
	wantKind(t, err, fault.Conflict, `"kb" exists already, on engine elasticsearch`)

	described, err := c.Describe(ctx, acme, "kb")
	if err != nil || described.Chunks != 7 || described.ID != "kb" {
		t.Errorf(`Describe: %+v, %v; want no error and described.Chunks 7 and described.ID "kb"`, described, err)
	}
	if err := c.Delete(ctx, acme, "kb"); err != nil {
		t.Fatal(err)
	}
	wantKind(t, c.Delete(ctx, acme, "kb"), fault.NotFound)
	create(t, c, acme, Spec{ID: "kb", Engine: "embedded"})
}

func TestConcurrentCreatesOfOneID(t *testing.T) {
	c := New([]engine.Engine{newFake("embedded"), newFake("elasticsearch")}, Options{})
	var made atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := []string{"embedded", "elasticsearch"}[i%2]
			if _, err := c.Create(ctx, acme, Spec{ID: "kb", Engine: name}); err == nil {
				made.Add(1)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("%d creates of one id succeeded, want 1", made.Load())
	}
}

// TestTwoGatewaysMakeOneID: on different engines, which cannot refuse each other's. At most one is acknowledged, and
// what was refused is nowhere.
func TestTwoGatewaysMakeOneID(t *testing.T) {
	for round := range 50 {
		var both sync.WaitGroup // have seen that the id is free
		both.Add(2)
		var engines []engine.Engine
		for _, name := range []string{"embedded", "elasticsearch"} {
			fake := newFake(name)
			fake.first = func() {
				both.Done()
				both.Wait()
			}
			engines = append(engines, fake)
		}
		gateways := []*Catalog{New(engines, Options{}), New(engines, Options{})}
		var made atomic.Int32
		var wg sync.WaitGroup
		for i, c := range gateways {
			wg.Go(func() {
				_, err := c.Create(ctx, acme, Spec{ID: "kb", Engine: engines[i].Name()})
				if err == nil {
					made.Add(1)
				} else if !fault.Is(err, fault.Conflict) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		stored := 0
		for _, e := range engines {
			stored += len(e.(*fakeEngine).bases)
		}
		if made.Load() > 1 || stored != int(made.Load()) {
			t.Fatalf("round %d: %d were acknowledged and %d are there", round, made.Load(), stored)
		}
	}
}

func TestUnknownIDsListAtMostOnceASecond(t *testing.T) {
	fake := newFake("embedded")
	c := New([]engine.Engine{fake}, Options{Refresh: time.Hour})
	for range 50 {
		_, _, err := c.Get(ctx, acme, "nope")
		wantKind(t, err, fault.NotFound)
	}
	if lists := fake.lists.Load(); lists > 4 {
		t.Errorf("50 unknown ids made the engine list %d times; want lists at most 4", lists)
	}
}

func TestWhatAnotherGatewayMadeIsFound(t *testing.T) {
	fake := newFake("embedded")
	c := New([]engine.Engine{fake}, Options{Refresh: time.Hour})
	create(t, c, acme, Spec{ID: "mine"})
	ref := engine.Ref{Tenant: "acme", ID: "theirs"}
	fake.set(func(f *fakeEngine) { f.bases[ref] = engine.KnowledgeBase{Ref: ref} })
	if _, _, err := c.Get(ctx, acme, "theirs"); err != nil {
		t.Errorf("an unknown id must list once more: %v", err)
	}
}

func TestReadersShareOneFlight(t *testing.T) {
	fake := newFake("embedded")
	fake.slow = make(chan struct{})
	c := New([]engine.Engine{fake}, Options{Refresh: time.Hour})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := c.List(ctx, acme); err != nil {
				t.Error(err)
			}
		})
	}
	close(fake.slow)
	wg.Wait()
	if _, err := c.List(ctx, acme); err != nil {
		t.Error(err)
	}
	if lists := fake.lists.Load(); lists != 1 {
		t.Errorf("listed %d times, want 1", lists)
	}
}

func TestOneEngineAwayLeavesTheOther(t *testing.T) {
	deadline.Set(t, time.Minute)
	away, here := newFake("elasticsearch"), newFake("embedded")
	down := fault.New(fault.Unavailable, "elasticsearch is away")
	c := New([]engine.Engine{away, here}, Options{Refresh: time.Nanosecond})
	create(t, c, acme, Spec{ID: "there", Engine: "elasticsearch"})
	create(t, c, acme, Spec{ID: "kb", Engine: "embedded"})
	away.set(func(f *fakeEngine) { f.away = down })

	for _, id := range []string{"kb", "there"} {
		if _, _, err := c.Get(ctx, acme, id); err != nil {
			t.Errorf("known before: Get %s: %v", id, err)
		}
	}
	fresh := New([]engine.Engine{away, here}, Options{})
	if _, _, err := fresh.Get(ctx, acme, "kb"); err != nil {
		t.Errorf("never reached: Get kb: %v", err)
	}
	_, _, err := fresh.Get(ctx, acme, "there")
	wantKind(t, err, fault.Unavailable, "elasticsearch is away")
	_, err = fresh.List(ctx, acme)
	wantKind(t, err, fault.Unavailable)
	_, err = fresh.Create(ctx, acme, Spec{ID: "there", Engine: "embedded"})
	wantKind(t, err, fault.Unavailable)
}

func TestAHangingEngineHoldsNobodyUp(t *testing.T) {
	deadline.Set(t, time.Minute)
	hanging, here := newFake("elasticsearch"), newFake("embedded")
	c := New([]engine.Engine{hanging, here}, Options{Refresh: time.Nanosecond})
	create(t, c, acme, Spec{ID: "there", Engine: "elasticsearch"})
	create(t, c, acme, Spec{ID: "kb", Engine: "embedded"})
	release := make(chan struct{})
	hanging.set(func(f *fakeEngine) { f.slow = release })
	if _, _, err := c.Get(ctx, acme, "there"); err != nil {
		t.Errorf("the last listing must serve: %v", err)
	}
	fresh := New([]engine.Engine{hanging, here}, Options{})
	if _, _, err := fresh.Get(ctx, acme, "kb"); err != nil {
		t.Errorf("the other engine must serve: %v", err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	_, err := fresh.List(canceled, acme)
	wantKind(t, err, fault.Canceled)
	close(release)
}

func TestSpecs(t *testing.T) {
	elastic := newFake("elasticsearch")
	elastic.can.Layouts = []string{"ragflow"}
	elastic.can.Shared = true
	down := errors.New("connection refused")
	model := func(context.Context, string) (int, string, error) { return 384, "e5", nil }
	away := func(context.Context, string) (int, string, error) {
		return 0, "", fault.Wrap(fault.Unavailable, down, "embedding service unavailable")
	}
	num := func(n int) *int { return &n }
	attach := func(index, layout string) *engine.Attachment {
		return &engine.Attachment{Index: index, Layout: layout}
	}
	n := 0
	run := func(spec Spec, dims func(context.Context, string) (int, string, error)) (engine.KnowledgeBase, error) {
		n++
		if spec.ID == "" {
			spec.ID = fmt.Sprintf("kb%d", n)
		}
		return New([]engine.Engine{newFake("embedded"), elastic}, Options{
			Dimensions: dims, OwnIndexes: "hybridge",
		}).Create(ctx, acme, spec)
	}

	bad := func(spec Spec, kind fault.Kind, field string, parts ...string) {
		t.Helper()
		_, err := run(spec, model)
		wantKind(t, err, kind, parts...)
		var f *fault.Error
		if errors.As(err, &f) && f.Field != field {
			t.Errorf("%+v: field %q, want %q", spec, f.Field, field)
		}
	}
	bad(Spec{ID: "Upper"}, fault.InvalidArgument, "id", `"Upper"`, "lower-case")
	bad(Spec{ID: "-x"}, fault.InvalidArgument, "id")
	bad(Spec{ID: "a\n"}, fault.InvalidArgument, "id")
	bad(Spec{ID: strings.Repeat("a", 65)}, fault.InvalidArgument, "id", "64")
	bad(Spec{Name: "a\x00b"}, fault.InvalidArgument, "name")
	bad(Spec{Name: "\xff"}, fault.InvalidArgument, "name")
	bad(Spec{Engine: "solr"}, fault.InvalidArgument, "engine", `"solr"`, "embedded, elasticsearch")
	bad(Spec{Kind: "faq"}, fault.InvalidArgument, "kind", `"faq"`, "chunks or qa")
	bad(Spec{Analyzer: "ik_smart"}, fault.InvalidArgument, "analyzer", "jieba, standard")
	bad(Spec{SearchAnalyzer: "ik_smart"}, fault.InvalidArgument, "search_analyzer", "analysed alike on engine embedded")
	bad(Spec{Dimensions: num(-1)}, fault.InvalidArgument, "dimensions", "-1", "4096")
	bad(Spec{Dimensions: num(4097)}, fault.InvalidArgument, "dimensions", "4097", "4096")
	bad(Spec{EmbeddingModel: "bge"}, fault.InvalidArgument, "dimensions", "bge")
	elastic.can.VectorIndexes = []string{"hnsw", "flat"}
	bad(Spec{VectorIndex: "hnsw"}, fault.Unsupported, "vector_index", "embedded")
	bad(Spec{Engine: "elasticsearch", VectorIndex: "ivf"}, fault.InvalidArgument, "vector_index", `"ivf"`, "hnsw, flat")
	bad(Spec{Engine: "elasticsearch", VectorIndex: "flat", Attach: attach("i", "ragflow")}, fault.InvalidArgument, "vector_index")
	fields := func(names ...string) (all []engine.VectorField) {
		for _, name := range names {
			all = append(all, engine.VectorField{Name: name})
		}
		return all
	}
	bad(Spec{VectorFields: fields("a_vector", "Title")}, fault.InvalidArgument, "vector_fields[1].name", `"Title"`, "as title_vector")
	bad(Spec{VectorFields: fields("a_vector", "a_vector")}, fault.InvalidArgument, "vector_fields[1].name", "no other")
	bad(Spec{VectorFields: fields("question_vector")}, fault.InvalidArgument, "vector_fields[0].name", "kind qa")
	bad(Spec{VectorFields: fields(strings.Repeat("a", 26) + "_vector")}, fault.InvalidArgument, "vector_fields[0].name", "32 bytes")
	bad(Spec{VectorFields: []engine.VectorField{{Name: "a_vector", Source: "name"}}}, fault.InvalidArgument, "vector_fields[0].source", "title, content")
	bad(Spec{VectorFields: fields("a_vector", "b_vector", "c_vector", "d_vector", "e_vector")}, fault.InvalidArgument, "vector_fields", "at most 4")
	bad(Spec{VectorFields: fields("a_vector"), Kind: engine.KindQA}, fault.InvalidArgument, "vector_fields", "kind qa")
	bad(Spec{VectorFields: fields("a_vector"), Dimensions: num(0)}, fault.InvalidArgument, "vector_fields", "no vectors")
	bad(Spec{VectorFields: fields("a_vector"), Engine: "elasticsearch", Attach: attach("i", "ragflow")},
		fault.InvalidArgument, "vector_fields", "attach")
	bad(Spec{Shared: true}, fault.Unsupported, "shared", "embedded")
	bad(Spec{Attach: attach("i", "ragflow")}, fault.Unsupported, "attach", "embedded")
	es := "elasticsearch"
	bad(Spec{Engine: es, Attach: attach("", "ragflow")}, fault.InvalidArgument, "attach.index")
	for _, index := range []string{"*", "a,b", "a*", "-a", "_all", ".security", "a/_search", "<a-{now/d}>", "other:a", "A", "a b"} {
		bad(Spec{Engine: es, Attach: attach(index, "ragflow")}, fault.InvalidArgument, "attach.index", "wildcards")
	}
	bad(Spec{Engine: es, Attach: attach("hybridge-other-kb", "ragflow")}, fault.InvalidArgument, "attach.index", "own")
	bad(Spec{Engine: es, Attach: attach("i", "x")}, fault.InvalidArgument, "attach.layout", `"x"`, "ragflow")
	bad(Spec{Engine: es, Attach: attach("i", "")}, fault.InvalidArgument, "attach.layout", "attach.fields")
	bad(Spec{Engine: es, Shared: true, Attach: attach("i", "ragflow")}, fault.InvalidArgument, "shared")

	good := func(spec Spec, dims func(context.Context, string) (int, string, error), wantDims int, wantModel string) {
		t.Helper()
		kb, err := run(spec, dims)
		if err != nil {
			t.Errorf("%+v: %v", spec, err)
			return
		}
		if kb.Dimensions != wantDims || kb.EmbeddingModel != wantModel {
			t.Errorf("%+v: %d dimensions of %q, want %d of %q",
				spec, kb.Dimensions, kb.EmbeddingModel, wantDims, wantModel)
		}
	}
	good(Spec{}, model, 384, "e5")
	good(Spec{VectorFields: fields("a_vector", strings.Repeat("a", 25)+"_vector")}, model, 384, "e5")
	good(Spec{}, nil, 0, "")
	good(Spec{Dimensions: num(0)}, away, 0, "")
	good(Spec{Dimensions: num(384)}, model, 384, "e5")
	good(Spec{Dimensions: num(384)}, away, 384, "")
	good(Spec{Dimensions: num(8)}, model, 8, "")
	good(Spec{Dimensions: num(8), EmbeddingModel: "mine"}, model, 8, "mine")
	good(Spec{Engine: es, Attach: attach("i", "ragflow")}, model, 384, "e5")
	good(Spec{Engine: es, Attach: attach("ragflow_1.知识", "ragflow")}, model, 384, "e5")
	good(Spec{Engine: es, Shared: true, Kind: engine.KindQA, Analyzer: "standard"}, nil, 0, "")

	_, err := run(Spec{}, away)
	wantKind(t, err, fault.Unavailable, "embedding service unavailable")
}

func TestAScopeLimitsWhatIsAttached(t *testing.T) {
	elastic := newFake("elasticsearch")
	elastic.can.Layouts = []string{"ragflow"}
	c := New([]engine.Engine{elastic}, Options{OwnIndexes: "hybridge"})
	n := 0
	attach := func(allowed []string, index string) error {
		n++
		scope := access.Scope{Tenant: "acme", Indexes: allowed}
		_, err := c.Create(ctx, scope, Spec{
			ID: fmt.Sprintf("kb%d", n), Attach: &engine.Attachment{Index: index, Layout: "ragflow"},
		})
		return err
	}
	for _, allowed := range [][]string{nil, {"ragflow_7"}, {"other", "ragflow_*"}, {"*"}} {
		if err := attach(allowed, "ragflow_7"); err != nil {
			t.Errorf("%q: %v", allowed, err)
		}
	}
	wantKind(t, attach([]string{}, "ragflow_7"), fault.Forbidden, "attach.index", "no index", "keys[].attach")
	wantKind(t, attach([]string{"ragflow_8", "a_*"}, "ragflow_7"), fault.Forbidden, `"ragflow_7"`, "ragflow_8, a_*")
	wantKind(t, attach([]string{"*"}, "hybridge-other-kb"), fault.InvalidArgument, "own")
}

// Promise: "vectors of two models never mix" (docs/guide/en/backup.md).
func TestCheckModel(t *testing.T) {
	kb := &engine.KnowledgeBase{Ref: engine.Ref{ID: "kb"}, EmbeddingModel: "e5"}
	wantKind(t, CheckModel(kb, "bge"), fault.Conflict, `"kb"`, `"e5"`, `"bge"`)
	if err := CheckModel(kb, "e5"); err != nil {
		t.Error(err)
	}
	kb.EmbeddingModel = ""
	if err := CheckModel(kb, "bge"); err != nil {
		t.Error(err)
	}
}

// TestAnswerFromBeforeAChange: an answer that was under way while the listing expired does
// not count as fresh.
func TestAnswerFromBeforeAChange(t *testing.T) {
	e := newFake("one")
	l := newListing(e, time.Hour)
	gate := make(chan struct{})
	e.set(func(f *fakeEngine) { f.slow = gate })
	done := make(chan error, 1)
	go func() {
		_, err := l.current(ctx)
		done <- err
	}()
	for e.lists.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	l.expire()
	close(gate)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, fresh := l.known(); fresh {
		t.Error("the answer is believed, though something changed while it was under way")
	}
}

// finding is a fake that reads one knowledge base alone.
type finding struct{ *fakeEngine }

func (f finding) KnowledgeBase(_ context.Context, ref engine.Ref) (engine.KnowledgeBase, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if kb, ok := f.bases[ref]; ok {
		return kb, nil
	}
	return engine.KnowledgeBase{}, fault.New(fault.NotFound, "no such table")
}

// Making, using and deleting one knowledge base does not list all of them.
func TestChangesDoNotListAll(t *testing.T) {
	fake := newFake("embedded")
	c := New([]engine.Engine{finding{fake}}, Options{Refresh: time.Hour})
	create(t, c, acme, Spec{ID: "first"})
	if _, _, err := c.Get(ctx, acme, "first"); err != nil {
		t.Fatal(err)
	}
	before := fake.lists.Load()
	for i := range 20 {
		id := fmt.Sprint("kb", i)
		create(t, c, acme, Spec{ID: id})
		if _, _, err := c.Get(ctx, acme, id); err != nil {
			t.Error(err)
		}
		_, err := c.Create(ctx, acme, Spec{ID: id})
		wantKind(t, err, fault.Conflict)
		if i%2 == 0 {
			if err := c.Delete(ctx, acme, id); err != nil {
				t.Error(err)
			}
		}
	}
	if n := fake.lists.Load() - before; n > 0 {
		t.Errorf("all were listed %d times; want n 0", n)
	}
	if list, err := c.List(ctx, acme); err != nil || len(list) != 11 {
		t.Errorf("%d listed, %v; want 11", len(list), err)
	}
	_, _, err := c.Get(ctx, acme, "kb0")
	wantKind(t, err, fault.NotFound)
}
