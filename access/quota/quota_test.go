package quota_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/internal/quotatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openIn(t *testing.T, folder string) quota.Store {
	t.Helper()
	store, err := quota.OpenSQLite(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func TestSQLite(t *testing.T) {
	folder := t.TempDir()
	quotatest.Run(t, func() quota.Store { return openIn(t, folder) })
}

// Promise: "429 for every further write" (docs/guide/en/limits.md).
func TestMeter(t *testing.T) {
	deadline.AwayFromMidnight(t, 10*time.Second)
	folder, has := t.TempDir(), quota.Counts{}
	var away error
	meter := func() (*quota.Meter, func()) {
		m := quota.New(quota.Options{
			Limits: quota.Limits{Bytes: 100, KnowledgeBases: 2, Chunks: 10}, Store: openIn(t, folder),
			Count:  func(context.Context, string) (quota.Counts, error) { return has, away },
			Logger: slog.New(slog.DiscardHandler),
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { m.Run(ctx); close(done) }()
		return m, func() { cancel(); <-done }
	}
	refused := func(what string, err error, want bool) {
		t.Helper()
		if fault.Is(err, fault.TooMany) != want || !want && err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	m, stop := meter()
	left, _, err := m.Write(t.Context(), "acme", 100)
	refused("all of the day", err, false)
	if left.Bytes != 100 || left.Reset <= 0 || left.Reset > 24*time.Hour {
		t.Errorf("left: %+v; want left.Bytes 100 and left.Reset above 0 and left.Reset at most 24 * time.Hour", left)
	}
	_, wait, err := m.Write(t.Context(), "acme", 101)
	refused("more than all", err, true)
	if wait <= 0 || wait > left.Reset {
		t.Errorf("wait %v, a new day begins in %v", wait, left.Reset)
	}
	refused("60", m.Wrote("acme", 60), false)
	_, _, err = m.Write(t.Context(), "acme", 41)
	refused("41 of 40 left", err, true)
	_, _, err = m.Write(t.Context(), "rival", 41)
	refused("another tenant", err, false)
	stop()

	has = quota.Counts{KnowledgeBases: 1}
	m, stop = meter()
	_, _, err = m.Write(t.Context(), "acme", 41)
	refused("another gateway knows", err, true)
	refused("40 more", m.Wrote("acme", 40), false)
	refused("beyond while it is read", m.Wrote("acme", 1), true)
	settle, err := m.Create(t.Context(), "acme")
	refused("the second knowledge base", err, false)
	_, err = m.Create(t.Context(), "acme")
	refused("the third", err, true)
	settle(false)
	_, err = m.Create(t.Context(), "acme")
	refused("again the second", err, false)
	stop()

	has.Chunks = 10
	m, stop = meter()
	_, _, err = m.Write(t.Context(), "rival", 1)
	refused("all chunks are there", err, true)
	stop()
	away = errors.New("away")
	m, stop = meter()
	_, _, err = m.Write(t.Context(), "rival", 1)
	refused("the engine is away", err, false)
	stop()
}

// TestACountForgetsNoPlace: of two who make the last knowledge base one has a place, also where engines are counted
// between the place and what is made in it.
func TestACountForgetsNoPlace(t *testing.T) {
	var counts atomic.Int32
	secondWaits, firstHas := make(chan struct{}), make(chan struct{})
	m := quota.New(quota.Options{
		Limits: quota.Limits{Bytes: 100, KnowledgeBases: 1, Chunks: 10}, Store: openIn(t, t.TempDir()),
		Count: func(context.Context, string) (quota.Counts, error) {
			if counts.Add(1) == 1 {
				<-secondWaits
			} else {
				<-firstHas
			}
			return quota.Counts{}, nil // nothing is made yet
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	second := make(chan error)
	go func() {
		for counts.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		time.AfterFunc(50*time.Millisecond, func() { close(secondWaits) })
		_, err := m.Create(t.Context(), "acme")
		second <- err
	}()
	_, err := m.Create(t.Context(), "acme")
	close(firstHas)
	if other := <-second; err != nil || !fault.Is(other, fault.TooMany) {
		t.Errorf("the first: %v, the second: %v; want one place", err, other)
	}
}
