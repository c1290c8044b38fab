package resultcache_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/deadline"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
	"github.com/hybridge-search/hybridge/internal/realtokens"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/resultcache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	scope  = access.Scope{Tenant: "acme"}
	refund = search.Request{Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: "text"}
)

// watched is an engine that counts its searches, and the catalog over it.
type watched struct {
	engine.Engine
	bases    map[string]engine.KnowledgeBase
	searches atomic.Int64
	// during, when set, runs within each search.
	during  func(context.Context) error
	unknown bool // generations are
}

func (w *watched) Get(_ context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	kb, ok := w.bases[scope.Tenant+"/"+id]
	if !ok {
		return kb, nil, fault.New(fault.NotFound, "knowledge base %q does not exist", id)
	}
	return kb, w, nil
}

func (w *watched) Generation(ctx context.Context, kb *engine.KnowledgeBase) (string, error) {
	if w.unknown {
		return "", nil
	}
	return w.Engine.(engine.Generations).Generation(ctx, kb)
}

func (w *watched) Search(ctx context.Context, req *engine.Request) (*engine.Result, error) {
	w.searches.Add(1)
	if w.during != nil {
		if err := w.during(ctx); err != nil {
			return nil, fault.Wrap(fault.Canceled, err, "given up")
		}
	}
	return w.Engine.Search(ctx, req)
}

// bench is a searcher over a real engine, to be kept answers of.
type bench struct {
	testing.TB
	engine *watched
	inner  *search.Searcher
	kb     engine.KnowledgeBase
}

func newBench(t testing.TB) *bench {
	t.Helper()
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		t.Fatal(err)
	}
	store, err := embedded.Open(context.Background(), embedded.Options{Path: t.TempDir(), Tokenizer: analyzer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	b := &bench{TB: t, engine: &watched{Engine: store, bases: map[string]engine.KnowledgeBase{}}}
	b.inner = search.New(search.Options{
		Catalog: b.engine, Analyzer: analyzer, Planners: presets.Builtin(), DefaultPreset: presets.Default,
	})
	b.kb = b.create("acme")
	b.write("c1", "A refund takes a week.")
	return b
}

func (b *bench) create(tenant string) engine.KnowledgeBase {
	b.Helper()
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: tenant, ID: "manuals"}, Engine: "embedded", Kind: engine.KindChunks,
		Dimensions: 2, Analyzer: engine.AnalyzerJieba,
	}
	if err := b.engine.CreateKnowledgeBase(context.Background(), kb); err != nil {
		b.Fatal(err)
	}
	b.engine.bases[tenant+"/manuals"] = kb
	return kb
}

func (b *bench) write(id, content string) {
	b.Helper()
	c := engine.Chunk{
		ID: id, DocumentID: "d-" + id, Content: content, Available: true, Owner: "u",
		Metadata: map[string]any{"n": 1.5, "tags": []any{"a", "b"}},
		Vectors:  map[string][]float32{engine.FieldVector: {1, 0}},
	}
	req := engine.WriteRequest{KB: b.kb, Chunks: []engine.Chunk{c}, Refresh: true}
	if outcomes, err := b.engine.Write(context.Background(), req); err != nil || outcomes[0].Err != nil {
		b.Fatal(err, outcomes)
	}
}

// keep makes a searcher that keeps answers.
func (b *bench) keep(change func(*resultcache.Options)) *resultcache.Searcher {
	b.Helper()
	o := resultcache.Options{TTL: time.Minute, Memory: 1 << 20}
	if change != nil {
		change(&o)
	}
	s, err := resultcache.New(b.inner, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s
}

type searcher interface {
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
}

func (b *bench) ask(s searcher, req search.Request) *search.Response {
	b.Helper()
	r, err := s.Search(context.Background(), scope, req)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// asked holds an answer to where it comes from and how many searches the engine
// has seen.
func (b *bench) asked(s searcher, req search.Request, cached bool, searches int64) *search.Response {
	b.Helper()
	r := b.ask(s, req)
	if r.Cached != cached || b.engine.searches.Load() != searches {
		b.Errorf("cached %v after %d searches; want %v after %d", r.Cached, b.engine.searches.Load(), cached, searches)
	}
	return r
}

func ids(r *search.Response) string {
	list := make([]string, len(r.Hits))
	for i := range r.Hits {
		list[i] = r.Hits[i].ID
	}
	return strings.Join(list, " ")
}

// shown is an answer as JSON, without what is each answer's own.
func shown(t testing.TB, r *search.Response) string {
	t.Helper()
	own := *r
	own.QueryID, own.Cached, own.TookMS, own.Timings = "", false, 0, search.Timings{}
	data, err := json.MarshalIndent(own, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func yes[T any](v T) *T { return &v }

func TestAnAnswerIsKept(t *testing.T) {
	b := newBench(t)
	s := b.keep(nil)
	req := refund
	req.Preset, req.Vector, req.Facets, req.Neighbours = "balanced", []float32{1, 0}, []string{"n"}, 1
	req.Filter = filter.Expression{"tags": json.RawMessage(`"a"`)}
	computed := b.asked(s, req, false, 1)
	found := b.asked(s, req, true, 1)
	if diff := cmp.Diff(shown(t, computed), shown(t, found)); diff != "" {
		t.Errorf("the kept answer differs: %s", diff)
	}
	if computed.QueryID == found.QueryID {
		t.Error("two answers have one query id")
	}
}

// TestWhoAsksChangesNoAnswer: what one client was answered is kept for every other.
func TestWhoAsksChangesNoAnswer(t *testing.T) {
	b := newBench(t)
	s := b.keep(nil)
	one, other := refund, refund
	one.ClientID, one.SessionID, one.Experiments = "ann", "morning", yes(true)
	other.ClientID, other.SessionID = "bob", "evening"
	b.asked(s, one, false, 1)
	b.asked(s, other, true, 1)
	b.asked(s, refund, true, 1)
}

func TestTheModeOfFacetsIsPartOfTheQuestion(t *testing.T) {
	b := newBench(t)
	s := b.keep(nil)
	b.write("c2", "refund")
	req := refund
	req.Filter = filter.Expression{"document_id": json.RawMessage(`"d-c1"`)}
	if r := b.asked(s, req, false, 1); len(r.Documents) != 1 {
		t.Errorf("documents %+v; want 1 r.Documents", r.Documents)
	}
	req.FacetMode = search.FacetDisjunctive
	for _, cached := range []bool{false, true} {
		if r := b.asked(s, req, cached, 3); len(r.Documents) != 2 || len(r.Hits) != 1 {
			t.Errorf("cached %v: documents %+v, %d hits; want 2 r.Documents and 1 r.Hits", cached, r.Documents, len(r.Hits))
		}
	}
}

// Promise: "never used after a document has changed" (docs/guide/en/searching.md).
func TestAChangeOfTheDataIsSeenAtOnce(t *testing.T) {
	b := newBench(t)
	s := b.keep(nil)
	b.asked(s, refund, false, 1)
	b.write("c2", "refund")
	if got := ids(b.asked(s, refund, false, 2)); got != "c2 c1" {
		t.Errorf(`after a write: hits %s; want got "c2 c1"`, got)
	}
	if _, err := b.engine.DeleteDocument(t.Context(), b.kb, "d-c1"); err != nil {
		t.Fatal(err)
	}
	if got := ids(b.asked(s, refund, false, 3)); got != "c2" {
		t.Errorf(`after a deletion: hits %s; want got "c2"`, got)
	}
	if err := b.engine.DeleteKnowledgeBase(t.Context(), b.kb.Ref); err != nil {
		t.Fatal(err)
	}
	b.kb = b.create("acme")
	if got := ids(b.asked(s, refund, false, 4)); got != "" {
		t.Errorf(`after the knowledge base was made anew: hits %s; want got ""`, got)
	}
}

func TestWhatIsNotKept(t *testing.T) {
	b := newBench(t)
	s := b.keep(nil)
	f := func(name string, change func(*search.Request)) {
		t.Helper()
		req := refund
		change(&req)
		for range 2 {
			before := b.engine.searches.Load()
			if r := b.ask(s, req); r.Cached || b.engine.searches.Load() == before {
				t.Errorf("%s: the answer was kept", name)
			}
		}
	}
	f("cache: false", func(r *search.Request) { r.Cache = yes(false) })
	f("explain", func(r *search.Request) { r.Explain = true })
	f("degraded", func(r *search.Request) { r.Preset = "balanced" }) // no vector
	if _, err := s.Search(t.Context(), scope, search.Request{}); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("an empty request: %v; want an error of kind InvalidArgument", err)
	}
}

// mute is an engine that cannot tell generations.
type mute struct{ *watched }

func (m mute) Get(ctx context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	kb, _, err := m.watched.Get(ctx, scope, id)
	return kb, struct{ engine.Engine }{m.watched}, err
}

func TestWithoutGenerationsNothingIsKept(t *testing.T) {
	b := newBench(t)
	options := b.inner.Options
	options.Catalog = mute{b.engine}
	b.inner = search.New(options)
	s := b.keep(nil)
	b.asked(s, refund, false, 1)
	b.asked(s, refund, false, 2)
}

func TestDifferentQuestionsHaveDifferentAnswers(t *testing.T) {
	b := newBench(t)
	b.create("rival")
	words, pins := "rules 1", ""
	s := b.keep(func(o *resultcache.Options) {
		o.Synonyms = func(engine.Ref) string { return words }
		o.Rules = func(engine.Ref) string { return pins }
	})
	b.asked(s, refund, false, 1)
	searches := int64(1)
	f := func(change func(*search.Request)) {
		t.Helper()
		req := refund
		change(&req)
		searches++
		b.asked(s, req, false, searches)
	}
	f(func(r *search.Request) { r.Query = "refunds" })
	f(func(r *search.Request) { r.TopK = yes(1) })
	f(func(r *search.Request) { r.User = yes("v") })
	f(func(r *search.Request) { r.Filter = filter.Expression{"n": json.RawMessage("1")} })
	f(func(r *search.Request) { r.Highlight = &search.Highlight{Pre: yes("[")} })
	f(func(r *search.Request) { r.Threshold.Text = yes(0.1) })
	f(func(r *search.Request) { r.Rules = yes(false) })
	words = "rules 2"
	b.asked(s, refund, false, searches+1)
	pins = "other pins"
	b.asked(s, refund, false, searches+2)
	b.asked(s, refund, true, searches+2)
	if r, err := s.Search(t.Context(), access.Scope{Tenant: "rival"}, refund); err != nil || r.Cached || len(r.Hits) > 0 {
		t.Errorf("another tenant: %+v, %v; want no error and not r.Cached and len(r.Hits) 0", r, err)
	}
	if _, err := s.Search(t.Context(), access.Scope{Tenant: "acme", KnowledgeBases: []string{}}, refund); err != nil {
		t.Log("the catalog hides it:", err)
	}
}

// TestWhatAKeyDependsOn: beside the request, the program's configuration; whether an
// answer may be kept changes nothing in it.
func TestWhatAKeyDependsOn(t *testing.T) {
	b := newBench(t)
	keyOf := func(fingerprint string, req search.Request) string {
		t.Helper()
		s := b.keep(func(o *resultcache.Options) { o.Fingerprint = fingerprint })
		name, err := s.Key(t.Context(), scope, &req)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	may := refund
	may.Cache = yes(true)
	if keyOf("a", refund) != keyOf("a", may) {
		t.Error("cache: true, which is the default, makes another key")
	}
	if keyOf("a", refund) == keyOf("b", refund) {
		t.Error("another configuration has the same key")
	}
	b.engine.unknown = true
	if name, err := b.keep(nil).Key(t.Context(), scope, &refund); err == nil {
		t.Errorf("key %s without a generation", name)
	}
}

func TestAnAnswerGrowsOld(t *testing.T) {
	b := newBench(t)
	s := b.keep(func(o *resultcache.Options) { o.TTL = time.Nanosecond })
	b.asked(s, refund, false, 1)
	b.asked(s, refund, false, 2)
}

func TestMemoryIsBounded(t *testing.T) {
	b := newBench(t)
	const limit = 8 << 10
	s := b.keep(func(o *resultcache.Options) { o.Memory = limit })
	text, err := b.ask(s, refund).AppendJSON(nil)
	if err != nil || s.Bytes() < float64(len(text)) {
		t.Errorf("%v bytes are kept of an answer of %d, %v", s.Bytes(), len(text), err)
	}
	for i := range 100 {
		req := refund
		req.TopK = yes(i + 1)
		b.ask(s, req)
	}
	if bytes := s.Bytes(); bytes == 0 || bytes > limit {
		t.Errorf("%v bytes are kept of %v; want bytes other than 0 and bytes at most limit", bytes, limit)
	}
}

func TestOneComputationForMany(t *testing.T) {
	for _, many := range []int{1, 20} {
		t.Run(fmt.Sprint(many), func(t *testing.T) { oneComputationFor(t, many) })
	}
}

// oneComputationFor so many requests, after the one that began it gave up.
func oneComputationFor(t *testing.T, many int) {
	b := newBench(t)
	s := b.keep(nil)
	entered, release := make(chan struct{}, 1), make(chan struct{})
	b.engine.during = func(ctx context.Context) error {
		entered <- struct{}{}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	impatient, leave := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := s.Search(impatient, scope, refund)
		first <- err
	}()
	<-entered
	answers := make(chan *search.Response, many)
	for range many {
		go func() {
			r, err := s.Search(context.Background(), scope, refund)
			if err != nil {
				t.Error(err)
			}
			answers <- r
		}()
	}
	s.WaitForWaiting(many + 1)
	leave()
	if err := <-first; !fault.Is(err, fault.Canceled) {
		t.Errorf("who left: %v, want canceled", err)
	}
	close(release)
	for range many {
		if r := <-answers; r == nil || !r.Cached || ids(r) != "c1" {
			t.Errorf(`answer %+v; want a r and r.Cached and ids(r) "c1"`, r)
		}
	}
	if n := b.engine.searches.Load(); n != 1 {
		t.Errorf("%d searches for %d requests; want n 1", n, many+1)
	}
}

func TestAComputationEndsWhenNobodyWaits(t *testing.T) {
	deadline.Set(t, time.Minute)
	b := newBench(t)
	s := b.keep(nil)
	ended := make(chan error, 1)
	entered := make(chan struct{}, 1)
	b.engine.during = func(ctx context.Context) error {
		entered <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-entered
		leave()
	}()
	if _, err := s.Search(ctx, scope, refund); !fault.Is(err, fault.Canceled) {
		t.Errorf("%v, want canceled", err)
	}
	if err := <-ended; err == nil {
		t.Error("the search did not end")
	}
	b.engine.during = nil
	if r := b.ask(s, refund); ids(r) != "c1" || r.Cached {
		t.Errorf(`afterwards: %s, cached %v; want ids(r) "c1" and not r.Cached`, ids(r), r.Cached)
	}
}

func TestAPanicIsAnError(t *testing.T) {
	b := newBench(t)
	s := b.keep(nil)
	b.engine.during = func(context.Context) error { panic("boom") }
	if _, err := s.Search(t.Context(), scope, refund); !fault.Is(err, fault.Internal) || strings.Contains(err.Error(), "boom") {
		t.Errorf("%v, want an internal error that tells nothing", err)
	}
}

// TestKeptAnswersAreTheComputedOnes changes and searches at random: with and
// without keeping, the answers are the same.
func TestKeptAnswersAreTheComputedOnes(t *testing.T) {
	b := newBench(t)
	s := b.keep(nil)
	kept := 0
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			id := "c" + rapid.StringOfN(rapid.RuneFrom([]rune("123")), 1, 1, -1).Draw(t, "id")
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				b.write(id, rapid.SampledFrom([]string{"refund", "a refund of money", "money"}).Draw(t, "content"))
			case 1:
				if _, err := b.engine.DeleteChunks(context.Background(), b.kb, []string{id}); err != nil {
					t.Fatal(err)
				}
			default:
				req := refund
				req.Query = rapid.SampledFrom([]string{"refund", "money"}).Draw(t, "query")
				found, computed := b.ask(s, req), b.ask(b.inner, req)
				if found.Cached {
					kept++
				}
				if diff := cmp.Diff(shown(b, computed), shown(b, found)); diff != "" {
					t.Fatalf(`cached %v: %s; want diff ""`, found.Cached, diff)
				}
			}
		}
	})
	if kept == 0 {
		t.Error("no answer was ever kept")
	}
}

func BenchmarkKept(b *testing.B) {
	f := newBench(b)
	s := f.keep(nil)
	req := refund
	req.Preset, req.Vector = "balanced", []float32{1, 0}
	f.ask(s, req)
	b.ReportAllocs()
	for b.Loop() {
		f.ask(s, req)
	}
}

// TestWhatIsFromBeforeAChangeIsNotKept: an engine that answers by what it looked up before
// the data changed says so, and knows the state that the search is to see.
func TestWhatIsFromBeforeAChangeIsNotKept(t *testing.T) {
	b := newBench(t)
	s := b.keep(nil)
	b.engine.during = func(ctx context.Context) error {
		if engine.KeepingOf(ctx).State(b.kb.Ref) == "" {
			t.Error("the search does not know the state of its knowledge base")
		}
		engine.KeepingOf(ctx).Outdate()
		return nil
	}
	b.asked(s, refund, false, 1)
	b.engine.during = nil
	b.asked(s, refund, false, 2)
	b.asked(s, refund, true, 2)
}

// TestWhatIsEditedDuringASearchIsNotKept: the key was made of what was in use before, the answer perhaps of
// what came after, and a rollback makes that key again.
func TestWhatIsEditedDuringASearchIsNotKept(t *testing.T) {
	edits := map[string]func(o *resultcache.Options, inUse func() string){
		"preset": func(o *resultcache.Options, inUse func() string) {
			o.Presets = func(_, _ string) string { return inUse() }
		},
		"synonyms": func(o *resultcache.Options, inUse func() string) {
			o.Synonyms = func(engine.Ref) string { return inUse() }
		},
		"rules": func(o *resultcache.Options, inUse func() string) {
			o.Rules = func(engine.Ref) string { return inUse() }
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			var version atomic.Int64
			s := b.keep(func(o *resultcache.Options) { edit(o, func() string { return fmt.Sprint(version.Load()) }) })
			b.engine.during = func(context.Context) error { version.Store(2); return nil }
			b.asked(s, refund, false, 1)
			b.engine.during = nil
			version.Store(0)
			b.asked(s, refund, false, 2)
			b.asked(s, refund, true, 2)
			version.Store(1)
			b.asked(s, refund, false, 3)
		})
	}
}
