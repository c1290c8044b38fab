package quota_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/fault"
)

// shared is a store in memory, as other gateways see it too.
type shared struct {
	mu   sync.Mutex
	day  string
	sums map[string]int64
	// during is called while the store adds, with what the gateway sends of its tenants.
	during func(bytes map[string]int64)
	asked  int
}

func (s *shared) Add(_ context.Context, day string, bytes map[string]int64) (map[string]int64, error) {
	s.mu.Lock()
	during := s.during
	s.mu.Unlock()
	if during != nil {
		during(bytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if day > s.day {
		s.day, s.sums = day, map[string]int64{}
	}
	sums := map[string]int64{}
	for tenant, n := range bytes {
		if day == s.day {
			s.sums[tenant] += n
		}
		sums[tenant] = s.sums[tenant]
	}
	return sums, nil
}

// meanwhile sets what is called while the store adds.
func (s *shared) meanwhile(during func(bytes map[string]int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.during = during
}

func (s *shared) sum(tenant string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sums[tenant]
}

func (s *shared) exchanges() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// other adds what another gateway counted.
func (s *shared) other(tenant string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sums[tenant] += n
}

type clocked struct {
	*quota.Meter
	t     *testing.T
	store *shared

	mu   sync.Mutex
	has  quota.Counts
	away error // of the engines
	// counting is called once while the engines count.
	counting func()
}

// engines changes what the engines say.
func (m *clocked) engines(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

func (m *clocked) count(context.Context, string) (quota.Counts, error) {
	m.mu.Lock()
	counting := m.counting
	m.counting = nil
	m.mu.Unlock()
	if counting != nil {
		counting()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.has, m.away
}

// metered runs the test with a meter of 100 bytes, whose clock begins at midnight and moves when all wait.
func metered(t *testing.T, test func(m *clocked)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &clocked{t: t, store: &shared{}}
		m.Meter = quota.New(quota.Options{
			Limits: quota.Limits{Bytes: 100, KnowledgeBases: 2, Chunks: 10}, Store: m.store,
			Count:  m.count,
			Logger: slog.New(slog.DiscardHandler),
		})
		test(m)
	})
}

// follow runs the meter as the gateway does until stop is called.
func (m *clocked) follow() (stop func()) {
	ctx, cancel := context.WithCancel(m.t.Context())
	done := make(chan struct{})
	go func() { m.Run(ctx); close(done) }()
	return func() { cancel(); <-done }
}

// write asks for a write: wait 0 means that it is taken.
func (m *clocked) write(bytes int64, wait time.Duration, left int64) {
	m.t.Helper()
	got, gotWait, err := m.Write(m.t.Context(), "acme", bytes)
	if gotWait != wait || fault.Is(err, fault.TooMany) != (wait > 0) || wait == 0 && err != nil || got.Bytes != left {
		m.t.Errorf("a write of %d bytes: wait %v, %d left, %v; want wait %v, %d left", bytes, gotWait, got.Bytes, err, wait, left)
	}
}

// read counts bytes of a write that goes on.
func (m *clocked) read(bytes int64, refused bool) {
	m.t.Helper()
	if err := m.Wrote("acme", bytes); fault.Is(err, fault.TooMany) != refused || !refused && err != nil {
		m.t.Errorf("%d bytes that were read: %v, refused should be %v", bytes, err, refused)
	}
}

func TestRefusedUntilMidnight(t *testing.T) {
	metered(t, func(m *clocked) {
		time.Sleep(23*time.Hour + 59*time.Minute)
		m.write(101, time.Minute, 100)
		m.write(100, 0, 100)
		m.read(100, false)
		m.write(0, time.Minute, 0) // of no known length: one byte at least
		m.read(1, true)
		time.Sleep(time.Minute - time.Nanosecond)
		m.write(1, time.Nanosecond, 0)
		time.Sleep(time.Nanosecond)
		m.write(100, 0, 100) // asked again when it was told to
		m.read(100, false)
	})
}

func TestTooManyChunksWaitForADeletion(t *testing.T) {
	metered(t, func(m *clocked) {
		stop := m.follow()
		m.engines(func() { m.has.Chunks = 9 })
		m.write(1, 0, 100)
		m.engines(func() { m.has.Chunks = 10 })
		time.Sleep(5 * time.Second) // until the next look
		m.write(1, 10*time.Second, 100)
		m.read(1, true)
		m.engines(func() { m.has.Chunks = 9 })
		time.Sleep(5 * time.Second)
		m.write(1, 0, 99)
		stop()
	})
}

// TestBytesDuringAnExchange: what is written while the store adds what was written before is not lost.
func TestBytesDuringAnExchange(t *testing.T) {
	metered(t, func(m *clocked) {
		stop := m.follow()
		m.write(60, 0, 100)
		m.read(20, false)
		m.store.meanwhile(func(sent map[string]int64) {
			if sent["acme"] > 0 {
				m.store.meanwhile(nil)
				m.read(40, false)
			}
		})
		time.Sleep(5 * time.Second)
		m.write(41, 24*time.Hour-5*time.Second, 40)
		time.Sleep(5 * time.Second)
		stop()
		if got := m.store.sum("acme"); got != 60 {
			t.Errorf("the store counted %d bytes, want 60", got)
		}
	})
}

// TestAnExchangeOverMidnight: the sum of a day that ended meanwhile is not that of the new one.
func TestAnExchangeOverMidnight(t *testing.T) {
	metered(t, func(m *clocked) {
		time.Sleep(24*time.Hour - 6*time.Second)
		stop := m.follow()
		m.write(90, 0, 100)
		m.read(90, false)
		m.store.meanwhile(func(map[string]int64) { m.store.meanwhile(nil); time.Sleep(3 * time.Second) })
		time.Sleep(7500 * time.Millisecond) // the look at 4 s ends after 7 s, a second after midnight
		m.write(100, 0, 100)
		time.Sleep(5 * time.Second) // nothing of it is told to the store for today
		m.write(100, 0, 100)
		stop()
	})
}

// TestSilentTenants: of one that wrote nothing for a minute another gateway may have counted, and the next write
// looks first; until then the meter follows it.
func TestSilentTenants(t *testing.T) {
	f := func(silent time.Duration, looks bool) {
		t.Helper()
		metered(t, func(m *clocked) {
			m.write(1, 0, 100)
			m.store.other("acme", 100)
			time.Sleep(silent)
			if looks {
				m.write(1, 24*time.Hour-silent, 0)
			} else {
				m.write(1, 0, 100)
			}
		})
	}
	f(time.Minute-time.Nanosecond, false)
	f(time.Minute, true)
	metered(t, func(m *clocked) {
		stop := m.follow()
		m.write(1, 0, 100)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		asked := m.store.exchanges()
		if asked < 15 || asked > 16 { // at once, and every 4 seconds of a minute
			t.Errorf("the store was asked %d times; want asked at least 15 and asked at most 16", asked)
		}
		m.read(5, false) // is told to the store, who wrote it lately or not
		stop()
		if got := m.store.sum("acme"); got != 5 {
			t.Errorf("the store counted %d bytes, want 5", got)
		}
	})
}

// TestPlacesOfKnowledgeBases: a place is taken, given back where none was made, and again when one is deleted.
func TestPlacesOfKnowledgeBases(t *testing.T) {
	metered(t, func(m *clocked) {
		stop := m.follow()
		create := func(refused bool) (settle func(bool)) {
			t.Helper()
			settle, err := m.Create(m.t.Context(), "acme")
			if fault.Is(err, fault.TooMany) != refused || !refused && err != nil {
				t.Errorf("a knowledge base: %v, refused should be %v", err, refused)
			}
			return settle
		}
		first, second := create(false), create(false)
		create(true)
		second(false)
		create(false)(true)
		create(true)
		time.Sleep(5 * time.Second) // counted while the first one is being made, the other one is there
		m.engines(func() { m.has.KnowledgeBases = 1 })
		time.Sleep(4 * time.Second)
		create(true)
		first(true)
		m.Deleted("acme")
		create(false)(false)
		m.Deleted("acme")
		m.engines(func() { m.has.KnowledgeBases = 0 })
		m.engines(func() {
			m.counting = func() { // both are made where none was counted yet
				create(false)(true)
				create(false)(true)
			}
		})
		time.Sleep(4 * time.Second)
		create(true)
		stop()
	})
}

// TestAfterAnOutage: what is known while the store is away goes on, and who comes after it is looked at as before.
func TestAfterAnOutage(t *testing.T) {
	metered(t, func(m *clocked) {
		m.write(1, 0, 100)
		m.engines(func() { m.away = errors.New("away") })
		time.Sleep(time.Minute)
		m.write(1, 0, 100)
		m.engines(func() { m.away = nil })
		m.store.other("rival", 100)
		if _, wait, err := m.Write(m.t.Context(), "rival", 1); !fault.Is(err, fault.TooMany) || wait != 24*time.Hour-time.Minute {
			t.Errorf("a tenant whose bytes another gateway counted: %v, wait %v; want an error of kind TooMany and wait 24*time.Hour - time.Minute", err, wait)
		}
	})
}

// TestOneAtATime: while one step looks at the clock, which it does between reading and changing what a tenant has, no
// other one changes it.
func TestOneAtATime(t *testing.T) {
	f := func(what string, step func(m *quota.Meter)) {
		t.Helper()
		var within func() // what goes on while the next step asks for the time
		m := quota.New(quota.Options{
			Limits: quota.Limits{Bytes: 100, KnowledgeBases: 2, Chunks: 1}, Store: &shared{},
			Count:  func(context.Context, string) (quota.Counts, error) { return quota.Counts{}, nil },
			Logger: slog.New(slog.DiscardHandler),
			Now: func() time.Time {
				if now := within; now != nil {
					within = nil
					now()
				}
				return time.Now()
			},
		})
		if _, _, err := m.Write(t.Context(), "acme", 1); err != nil {
			t.Fatal(err)
		}
		other := make(chan error, 1)
		within = func() {
			go func() { other <- m.Wrote("acme", 1) }()
			select {
			case err := <-other:
				t.Errorf("%s: another writer counted bytes in the middle of it: %v", what, err)
				other <- nil
			case <-time.After(20 * time.Millisecond):
			}
		}
		step(m)
		if err := <-other; err != nil {
			t.Errorf("%s: the other writer: %v", what, err)
		}
	}
	f("a write begins", func(m *quota.Meter) { _, _, _ = m.Write(t.Context(), "acme", 1) })
	f("bytes are counted", func(m *quota.Meter) { _ = m.Wrote("acme", 1) })
	f("a knowledge base is made", func(m *quota.Meter) { _, _ = m.Create(t.Context(), "acme") })
	f("one is deleted", func(m *quota.Meter) { m.Deleted("acme") })
}
