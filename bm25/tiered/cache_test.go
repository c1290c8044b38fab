package tiered

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

func TestBuiltOnceThenLoadedThenCaughtUp(t *testing.T) {
	d := newDatabase()
	keys := d.write(nil, texts(200)...)
	a := open(t, d)
	same(t, at(t, a, 1), d.docs())
	at(t, a, 1)
	a.settled()

	b := open(t, d)
	same(t, at(t, b, 1), d.docs())
	d.write(keys[:3], texts(5)...)
	d.write(keys[3:5])
	same(t, at(t, a, 3), d.docs())
	same(t, at(t, b, 3), d.docs())

	f := func(c *Cache, want Counters) {
		t.Helper()
		if got, _ := c.Totals(); got != want {
			t.Errorf("counted %+v, wanted %+v", got, want)
		}
	}
	f(a, Counters{Memory: 1, Builds: 1, Saves: 1, CatchUps: 1})
	f(b, Counters{Store: 1, CatchUps: 1})
}

func TestAnEmptyKnowledgeBase(t *testing.T) {
	d := newDatabase()
	c := open(t, d)
	if n := at(t, c, 0).Docs(); n != 0 {
		t.Errorf("%d chunks; want n 0", n)
	}
	d.write(nil, texts(1)...)
	same(t, at(t, c, 1), d.docs())
}

func TestOneBuildForAllWhoWait(t *testing.T) {
	deadline.Set(t, time.Minute)
	d := newDatabase()
	d.write(nil, texts(100)...)
	d.reading = func() { time.Sleep(50 * time.Millisecond) }
	c := open(t, d)
	var searches sync.WaitGroup
	for range 30 {
		searches.Go(func() {
			if _, err := c.At(t.Context(), manuals, 1); err != nil {
				t.Error(err)
			}
		})
	}
	searches.Wait()
	if got, _ := c.Totals(); got.Builds != 1 || d.reads != 1 {
		t.Errorf("%d builds, %d readings of the chunks; want got.Builds 1 and d.reads 1", got.Builds, d.reads)
	}
}

func TestOlderGenerationsAreKeptForAMoment(t *testing.T) {
	d := newDatabase()
	keys := d.write(nil, texts(20)...)
	c := open(t, d)
	at(t, c, 1)
	old := d.docs()
	d.write(keys[:10])
	at(t, c, 2)
	same(t, at(t, c, 1), old)

	d.write(keys[10:])
	d.write(nil, texts(3)...)
	_, err := c.At(t.Context(), manuals, 3)
	var moved *MovedError
	if !errors.As(err, &moved) || *moved != (MovedError{Asked: 3, Have: 4}) {
		t.Errorf("generation 3 was never made, At gave %v", err)
	}
}

func TestASearchDoesNotWaitForeverAndTheBuildGoesOn(t *testing.T) {
	deadline.Set(t, time.Minute)
	d := newDatabase()
	d.write(nil, texts(10)...)
	release := make(chan struct{})
	d.reading = func() { <-release }
	c := open(t, d, func(o *Options) { o.Wait = 20 * time.Millisecond })
	if _, err := c.At(t.Context(), manuals, 1); !fault.Is(err, fault.Unavailable) {
		t.Errorf("At during a long build: %v; want an error of kind Unavailable", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.At(gone, manuals, 1); !fault.Is(err, fault.Canceled) {
		t.Errorf("At for a caller who went away: %v; want an error of kind Canceled", err)
	}
	close(release)
	until(t, "the build is done", func() bool { n, _ := c.Totals(); return n.Builds == 1 })
	same(t, at(t, c, 1), d.docs())
}

// TestAFailureIsToldOrLogged: to the search that waits for it, or else in the log.
func TestAFailureIsToldOrLogged(t *testing.T) {
	d := newDatabase()
	d.write(nil, texts(10)...)
	d.failing = fault.New(fault.Corrupt, "a chunk is damaged")
	var log bytes.Buffer
	c := open(t, d, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	if _, err := c.At(t.Context(), manuals, 1); !fault.Is(err, fault.Corrupt) || log.Len() > 0 {
		t.Errorf("told %v, logged %q; want an error of kind Corrupt and log.Len() 0", err, brief.Of(log.String()))
	}
	c.settled()
	begun, slow := make(chan struct{}), make(chan struct{})
	d.reading = func() { close(begun); <-slow }
	impatient, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := c.At(impatient, manuals, 1); !fault.Is(err, fault.Unavailable) {
		t.Errorf("told %v; want an error of kind Unavailable", err)
	}
	<-begun
	close(slow)
	c.settled()
	if !strings.Contains(log.String(), "could not be made ready") || !strings.Contains(log.String(), "a chunk is damaged") {
		t.Errorf(`logged %q; want "could not be made ready" in it and "a chunk is damaged" in it`, brief.Of(log.String()))
	}
}

func TestASecondGatewayWaitsForTheFirst(t *testing.T) {
	deadline.Set(t, time.Minute)
	d := newDatabase()
	d.write(nil, texts(50)...)
	started, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	d.reading = func() { once.Do(func() { close(started); <-release }) }
	a, b := open(t, d), open(t, d)
	impatient := open(t, d, func(o *Options) { o.LockWait = time.Millisecond })
	var both sync.WaitGroup
	both.Go(func() { _, _ = a.At(t.Context(), manuals, 1) })
	<-started
	if _, err := impatient.At(t.Context(), manuals, 1); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a gateway that may not wait: %v", err)
	}
	both.Go(func() { _, _ = b.At(t.Context(), manuals, 1) })
	close(release)
	both.Wait()
	first, _ := a.Totals()
	second, _ := b.Totals()
	if first.Builds != 1 || second.Builds != 0 || second.Store != 1 {
		t.Errorf("the first counts %+v, the second %+v; want first.Builds 1 and second.Builds 0 and second.Store 1", first, second)
	}
}

// noLock is a locker whose locks were lost.
type noLock struct{}

func (noLock) Lock(context.Context, Index) (func(), error) { return func() {}, nil }

// A build begins at generation 1 and ends after one of generation 2 was stored.
func TestAnOvertakenBuildOverwritesNothing(t *testing.T) {
	d := newDatabase()
	keys := d.write(nil, texts(50)...)
	started, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	d.reading = func() {
		first := false
		once.Do(func() { first = true })
		if first {
			close(started)
			<-release
		}
	}
	unlocked := func(o *Options) { o.Locker = noLock{} }
	slow, fast := open(t, d, unlocked), open(t, d, unlocked)
	var search sync.WaitGroup
	search.Go(func() { _, _ = slow.At(t.Context(), manuals, 1) })
	<-started
	d.write(keys[:25])
	at(t, fast, 2)
	fast.settled()
	close(release)
	search.Wait()
	slow.settled()
	if d.base == nil || d.base.To != 2 {
		t.Fatalf("stored is %+v; want a d.base and d.base.To 2", d.head())
	}
	same(t, at(t, open(t, d), 2), d.docs())
	same(t, at(t, slow, 2), d.docs())
}

func TestAnInvalidationWinsOverARunningBuild(t *testing.T) {
	d := newDatabase()
	d.write(nil, texts(50)...)
	started, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	d.reading = func() { once.Do(func() { close(started); <-release }) }
	c := open(t, d)
	var both sync.WaitGroup
	both.Go(func() { _, _ = c.At(t.Context(), manuals, 1) })
	<-started
	both.Go(func() {
		if err := c.Invalidate(t.Context(), manuals); err != nil {
			t.Error(err)
		}
	})
	until(t, "the entry is dropped", func() bool { return len(c.State(7)) == 0 })
	close(release)
	both.Wait()
	c.settled()
	if d.base != nil || d.drops != 1 {
		t.Errorf("after invalidation %+v is stored; want no d.base and d.drops 1", d.head())
	}
	for _, s := range c.State(7) {
		if s.Loaded {
			t.Errorf("after invalidation in memory: %+v; want not s.Loaded", s)
		}
	}
	if _, bytes := c.Totals(); bytes != 0 {
		t.Errorf("after invalidation %d bytes are in memory; want bytes 0", bytes)
	}
	same(t, at(t, c, 1), d.docs())
	if got, _ := c.Totals(); got.Builds != 2 {
		t.Errorf("counted %+v; want got.Builds 2", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	d := newDatabase()
	d.write(nil, texts(400)...)
	size := fresh(t, d.docs()).Bytes()
	c := open(t, d, func(o *Options) { o.MemoryBytes = 5 * size / 2 })
	field := func(name string) Index { i := manuals; i.Field = name; return i }
	ask := func(name string) {
		if _, err := c.At(t.Context(), field(name), 1); err != nil {
			t.Fatal(err)
		}
		c.settled()
	}
	loaded := func() (out string) {
		for _, s := range c.State(7) {
			if s.Loaded {
				out += s.Index.Field
			}
		}
		return out
	}
	for _, step := range []struct{ ask, loaded string }{
		{"a", "a"}, {"b", "ab"}, {"a", "ab"}, {"c", "ac"}, {"b", "bc"},
	} {
		ask(step.ask)
		if got := loaded(); got != step.loaded {
			t.Errorf("after %s: %q are in memory, wanted %q", step.ask, got, step.loaded)
		}
	}
	if n, bytes := c.Totals(); bytes > 5*size/2 || n.Evictions != 2 {
		t.Errorf("%d bytes of at most %d, %d evictions", bytes, 5*size/2, n.Evictions)
	}

	tiny := open(t, d, func(o *Options) { o.MemoryBytes = 1 })
	same(t, at(t, tiny, 1), d.docs())
	tiny.settled()
	same(t, at(t, tiny, 1), d.docs())
	if n, bytes := tiny.Totals(); bytes != 0 || n.Builds != 1 || n.Store != 1 {
		t.Errorf("an index larger than L1 takes %d bytes of it; counted %+v; want bytes 0 and n.Builds 1 and n.Store 1", bytes, n)
	}
}

func TestTheLogMayBeTrimmed(t *testing.T) {
	d := newDatabase()
	keys := d.write(nil, texts(30)...)
	c := open(t, d)
	at(t, c, 1)
	c.settled()
	d.write(keys[:5])
	d.write(keys[5:9])
	d.trimmed = 3
	same(t, at(t, c, 3), d.docs())
	if got, _ := c.Totals(); got.Builds != 2 || got.Repairs != 2 {
		t.Errorf("counted %+v; memory and database did not fit the log", got)
	}
}

func TestARestoredDatabaseIsFollowed(t *testing.T) {
	d := newDatabase()
	d.write(nil, texts(30)...)
	d.write(nil, texts(30)...)
	c := open(t, d, func(o *Options) { o.Keep = time.Nanosecond })
	at(t, c, 2)
	c.settled()
	d.mu.Lock()
	d.generation, d.base, d.deltas = 1, nil, nil
	for key, r := range d.rows {
		if r.generation > 1 {
			delete(d.rows, key)
		}
	}
	d.mu.Unlock()
	same(t, at(t, c, 1), d.docs())
}

func TestABrokenDatabaseIsUnavailable(t *testing.T) {
	d := newDatabase()
	d.write(nil, texts(10)...)
	c := open(t, d)
	at(t, c, 1)
	d.write(nil, texts(1)...)
	d.failing = errors.New("connection refused")
	if _, err := c.At(t.Context(), manuals, 2); !fault.Is(err, fault.Unavailable) {
		t.Errorf("At = %v; want an error of kind Unavailable", err)
	}
	d.failing = nil
	same(t, at(t, c, 2), d.docs())
	if n, _ := c.Totals(); n.CatchUps != 1 || n.Store != 0 {
		t.Errorf("what was in memory was given up: counted %+v; want n.CatchUps 1 and n.Store 0", n)
	}
}

func TestAfterCloseNothingRuns(t *testing.T) {
	d := newDatabase()
	d.write(nil, texts(10)...)
	c := open(t, d)
	at(t, c, 1)
	c.Close()
	d.write(nil, texts(1)...)
	if _, err := c.At(t.Context(), manuals, 2); !fault.Is(err, fault.Unavailable) {
		t.Errorf("At = %v; want an error of kind Unavailable", err)
	}
}

func TestIndexesOfOtherOptionsShareNothing(t *testing.T) {
	d := newDatabase()
	d.write(nil, texts(60)...)
	okapi := manuals
	okapi.Options.Variant = bm25.Okapi
	c := open(t, d)
	lucene := at(t, c, 1)
	s, err := c.At(t.Context(), okapi, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, b := lucene.Search(t.Context(), query("w1"), 1, nil), s.Search(t.Context(), query("w1"), 1, nil)
	if a[0].Score == b[0].Score {
		t.Errorf("both variants score %v", a[0].Score)
	}
}
