package runs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Elsewhere than in UTC, which ids are of.
func init() { time.Local = time.FixedZone("elsewhere", 5*3600+45*60) }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// words is the simplest tokenizer that an engine takes.
type words struct{}

func (words) Terms(text string) []string { return strings.Fields(strings.ToLower(text)) }
func (words) Fold(text string) string    { return strings.ToLower(text) }
func (words) Fingerprint() string        { return "words" }

// searcher answers by a function, and counts.
type searcher struct {
	asked  atomic.Int64
	answer func(ctx context.Context, n int64) (*search.Response, error)
}

func (s *searcher) Search(ctx context.Context, _ access.Scope, _ search.Request) (*search.Response, error) {
	return s.answer(ctx, s.asked.Add(1))
}

func found(context.Context, int64) (*search.Response, error) {
	return &search.Response{Hits: []search.Hit{{ID: "c", DocumentID: "d", KnowledgeBase: "shop"}}}, nil
}

// laboratory is evaluations on the embedded engine, of a hundred queries.
type laboratory struct {
	*runs.Runs
	*searcher

	t       *testing.T
	scope   access.Scope
	keeper  *embedded.Engine
	library *library.Library
	jobs    *jobs.Manager
}

const queries = 100

func open(t *testing.T) *laboratory {
	t.Helper()
	ctx := t.Context()
	e, err := embedded.Open(ctx, embedded.Options{Path: t.TempDir(), Tokenizer: words{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	l := &laboratory{
		t: t, searcher: &searcher{answer: found}, scope: access.Scope{Tenant: "acme"}, keeper: e,
	}
	c := catalog.New([]engine.Engine{e}, catalog.Options{})
	if _, err := c.Create(ctx, l.scope, catalog.Spec{ID: "shop", Dimensions: new(int)}); err != nil {
		t.Fatal(err)
	}
	l.library = library.New(e, c)
	if _, err := l.library.SaveQuerySet(ctx, l.scope, "faq", library.QuerySetSpec{KnowledgeBases: []string{"shop"}}, nil); err != nil {
		t.Fatal(err)
	}
	var asked []library.Query
	var judged []library.Judgment
	for i := range queries {
		id := fmt.Sprintf("q%03d", i)
		asked = append(asked, library.Query{ID: id, Text: "question"})
		judged = append(judged, library.Judgment{QueryID: id, DocumentID: "d", Grade: 1})
	}
	if _, err := l.library.PutQueries(ctx, l.scope, "faq", asked, false); err != nil {
		t.Fatal(err)
	}
	if _, err := l.library.SaveJudgmentList(ctx, l.scope, "people", library.JudgmentListSpec{QuerySet: "faq"}, nil); err != nil {
		t.Fatal(err)
	}
	if o, err := l.library.PutJudgments(ctx, l.scope, "people", judged, false); err != nil || o.Stored != queries {
		t.Fatal(o, err)
	}
	l.restart()
	return l
}

// restart is a gateway that begins anew.
func (l *laboratory) restart() {
	if l.jobs != nil {
		l.jobs.Close()
	}
	l.jobs = jobs.New()
	l.t.Cleanup(l.jobs.Close)
	l.Runs = runs.New(l.keeper, l.library, l.searcher, l.jobs)
}

func (l *laboratory) start() *runs.Evaluation {
	l.t.Helper()
	e, err := l.Start(l.t.Context(), l.scope, runs.Request{
		QuerySet: "faq", Judgments: "people", Systems: []runs.System{{Name: "a"}}, Metrics: []string{"hit@1"},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return e
}

// until waits for a state.
func (l *laboratory) until(id string, want runs.State) *runs.Evaluation {
	l.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		e, err := l.Get(l.t.Context(), l.scope, id)
		if err != nil {
			l.t.Fatal(err)
		}
		if e.State == want {
			return e
		}
		if e.State != runs.Running || time.Now().After(deadline) {
			l.t.Fatalf("it is %s (%s), want %s", e.State, e.Error, want)
		}
	}
}

// stalls answers so many searches, and then none before its context ends.
func stalls(after int64) func(ctx context.Context, n int64) (*search.Response, error) {
	return func(ctx context.Context, n int64) (*search.Response, error) {
		if n > after {
			<-ctx.Done()
			return nil, fault.Wrap(fault.Canceled, ctx.Err(), "search")
		}
		return found(ctx, n)
	}
}

func TestAnEvaluationIsCancelledAndGoesOn(t *testing.T) {
	l := open(t)
	l.answer = stalls(41)
	e := l.start()
	for l.asked.Load() < 43 {
		time.Sleep(time.Millisecond)
	}
	if err := l.Delete(t.Context(), l.scope, e.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("deleted while it runs: %v; want an error of kind Conflict", err)
	}
	if _, err := l.Cancel(t.Context(), l.scope, e.ID); err != nil {
		t.Fatal(err)
	}
	if got := l.until(e.ID, runs.Cancelled); got.Answered != 40 { // the first search was a try
		t.Errorf("%d searches were answered; want got.Answered 40", got.Answered)
	}
	l.answer = found
	before := l.asked.Load()
	if _, err := l.Resume(t.Context(), l.scope, e.ID); err != nil {
		t.Fatal(err)
	}
	got := l.until(e.ID, runs.Done)
	if asked := l.asked.Load() - before; asked != queries-40 || got.Answered != queries || got.Results[0].Metrics[0].Mean != 1 {
		t.Errorf("%d more were asked; %+v; want asked queries - 40 and got.Answered queries and got.Results[0].Metrics[0].Mean 1", asked, got)
	}
	if _, err := l.Resume(t.Context(), l.scope, e.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("went on with one that is done: %v; want an error of kind Conflict", err)
	}
	if err := l.Delete(t.Context(), l.scope, e.ID); err != nil {
		t.Error(err)
	}
}

// TestOfThoseWhoGoOnAndDeleteOneSucceeds: at the same time, each time.
func TestOfThoseWhoGoOnAndDeleteOneSucceeds(t *testing.T) {
	l := open(t)
	var after atomic.Int64
	l.answer = func(ctx context.Context, n int64) (*search.Response, error) { return stalls(after.Load())(ctx, n) }
	for range 20 {
		after.Store(l.asked.Load() + 5)
		e := l.start()
		if _, err := l.Cancel(t.Context(), l.scope, e.ID); err != nil {
			t.Fatal(err)
		}
		l.until(e.ID, runs.Cancelled)
		var gone, resumed atomic.Int32
		var all sync.WaitGroup
		count := func(n *atomic.Int32, err error) {
			if err == nil {
				n.Add(1)
			} else if !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
				t.Error(err)
			}
		}
		for i := range 4 {
			all.Go(func() {
				if i%2 == 0 {
					count(&gone, l.Delete(t.Context(), l.scope, e.ID))
					return
				}
				_, err := l.Resume(t.Context(), l.scope, e.ID)
				count(&resumed, err)
			})
		}
		all.Wait()
		_, err := l.Get(t.Context(), l.scope, e.ID)
		if gone.Load() > 0 && resumed.Load() > 0 || (gone.Load() > 0) != fault.Is(err, fault.NotFound) {
			t.Fatalf("deleted %d times, gone on with %d times: %v", gone.Load(), resumed.Load(), err)
		}
		if resumed.Load() > 0 {
			if _, err := l.Cancel(t.Context(), l.scope, e.ID); err != nil {
				t.Fatal(err)
			}
			l.until(e.ID, runs.Cancelled)
		}
	}
}

func TestTheEndOfAGatewayInterrupts(t *testing.T) {
	l := open(t)
	l.answer = stalls(11)
	e := l.start()
	for l.asked.Load() < 13 {
		time.Sleep(time.Millisecond)
	}
	l.restart()
	l.until(e.ID, runs.Interrupted)
	l.answer = found
	if _, err := l.Resume(t.Context(), l.scope, e.ID); err != nil {
		t.Fatal(err)
	}
	l.until(e.ID, runs.Done)
}

func TestSearchesThatFailOneAfterTheOther(t *testing.T) {
	l := open(t)
	down := fault.New(fault.Unavailable, "the engine is down")
	both := make(chan struct{}) // two are asked at a time: when the other one fails too, its answer before is noted
	l.answer = func(ctx context.Context, n int64) (*search.Response, error) {
		switch {
		case n <= 31:
			return found(ctx, n)
		case n == 32:
			<-both
		case n == 33:
			close(both)
		}
		return nil, down
	}
	e := l.start()
	got := l.until(e.ID, runs.Failed)
	if got.Answered != 30 || !strings.Contains(got.Error, "the engine is down") {
		t.Errorf(`%+v; want got.Answered 30 and "the engine is down" in it`, got)
	}
	l.answer = func(ctx context.Context, n int64) (*search.Response, error) { // now and then
		if n%7 == 0 {
			return nil, down
		}
		return found(ctx, n)
	}
	if _, err := l.Resume(t.Context(), l.scope, e.ID); err != nil {
		t.Fatal(err)
	}
	got = l.until(e.ID, runs.Done)
	if r := got.Results[0]; r.Failed == 0 || r.Failed+r.Queries != queries || got.Answered != r.Queries {
		t.Errorf("%+v", got)
	}
}

// Deep answers to many queries are more than one call of a keeper takes.
func TestDeepAnswers(t *testing.T) {
	l := open(t)
	const depth = 250
	deep := &search.Response{}
	for i := range depth {
		id := fmt.Sprintf("%s%04d", strings.Repeat("c", 240), i)
		deep.Hits = append(deep.Hits, search.Hit{ID: id, DocumentID: id, KnowledgeBase: "shop"})
	}
	deep.Hits[depth-1].DocumentID = "d"
	l.answer = func(context.Context, int64) (*search.Response, error) { return deep, nil }
	e, err := l.Start(t.Context(), l.scope, runs.Request{
		QuerySet: "faq", Judgments: "people", Systems: []runs.System{{Name: "a"}, {Name: "b"}},
		Metrics: []string{"recall@249", "recall@250"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := l.until(e.ID, runs.Done)
	if m := got.Results[0].Metrics; m[0].Mean != 0 || m[1].Mean != 1 || len(got.Comparisons) != 1 {
		t.Errorf("%+v; want m[0].Mean 0 and m[1].Mean 1 and 1 got.Comparisons", got)
	}
}

// TestPOfAllSystemsIsCorrectedTogether: three systems and two metrics are six tests, whichever of them one looks at.
func TestPOfAllSystemsIsCorrectedTogether(t *testing.T) {
	l := open(t)
	l.answer = func(ctx context.Context, n int64) (*search.Response, error) {
		if n%4 != 1 { // four systems take turns: mostly the first
			return &search.Response{}, nil
		}
		return found(ctx, n)
	}
	e, err := l.Start(t.Context(), l.scope, runs.Request{
		QuerySet: "faq", Judgments: "people", Systems: []runs.System{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}},
		Metrics: []string{"hit@1", "hit@2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if made := e.CreatedAt.UTC(); !strings.HasPrefix(e.ID, made.Format("20060102-15")) {
		t.Errorf("%s was made at %v", e.ID, made)
	}
	var alone, together []float64
	for _, c := range l.until(e.ID, runs.Done).Comparisons {
		for _, d := range c.Differences {
			alone, together = append(alone, d.P), append(together, d.Holm)
		}
	}
	if len(alone) != 6 || slices.Min(alone) > 0.01 || !slices.Equal(together, evaluation.Holm(alone)) {
		t.Errorf("p %v, corrected %v", alone, together)
	}
}

func TestASystemThatCannotSearchIsRefused(t *testing.T) {
	l := open(t)
	l.answer = func(context.Context, int64) (*search.Response, error) {
		return nil, fault.Invalid("preset", "x", "a preset")
	}
	_, err := l.Start(t.Context(), l.scope, runs.Request{
		QuerySet: "faq", Judgments: "people", Systems: []runs.System{{Name: "a"}},
	})
	if !fault.Is(err, fault.InvalidArgument) || !strings.HasPrefix(err.Error(), "systems[0].request.preset") {
		t.Error(err)
	}
	for _, name := range []string{"a\nb", "a\x1fb", strings.Repeat("a", 129), "a\u202eb"} {
		_, err = l.Start(t.Context(), l.scope, runs.Request{
			QuerySet: "faq", Judgments: "people", Systems: []runs.System{{Name: name}},
		})
		if !fault.Is(err, fault.InvalidArgument) || !strings.HasPrefix(err.Error(), "systems[0].name") {
			t.Errorf(`%q: %v; want an error of kind InvalidArgument and one that begins with "systems[0].name"`, name, err)
		}
	}
	if all, err := l.List(t.Context(), l.scope); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v; want no error and no all", all, err)
	}
	_, err = l.Start(t.Context(), access.Scope{Tenant: "rival"}, runs.Request{
		QuerySet: "faq", Judgments: "people", Systems: []runs.System{{Name: "a"}},
	})
	if !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}
