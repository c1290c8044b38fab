package admission

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var small = Options{Light: 2, Heavy: 10, LightQueue: 2, HeavyQueue: 2, Beside: 2, Keys: 3, Wait: time.Second}

func TestKeysTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(small)
		release, err := g.Admit(t.Context(), "a", 100) // takes all
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		ask := func(key string) {
			go func() {
				release, err := g.Admit(t.Context(), key, 10)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, key)
				mu.Unlock()
				release()
			}()
			synctest.Wait()
		}
		for _, key := range []string{"a", "a", "b", "c"} {
			ask(key)
		}
		if _, err := g.Admit(t.Context(), "a", 10); !errors.Is(err, ErrFull) {
			t.Errorf("a third of one key: %v; want ErrFull", err)
		}
		if _, err := g.Admit(t.Context(), "d", 10); !errors.Is(err, ErrFull) {
			t.Errorf("a fourth key: %v; want ErrFull", err)
		}
		light, err := g.Admit(t.Context(), "a", 1)
		if err != nil {
			t.Errorf("light work beside heavy: %v", err)
		}
		light()
		release()
		release() // has no effect
		synctest.Wait()
		if got := strings.Join(order, ""); got != "abca" {
			t.Errorf("order %s, want abca", got)
		}
		if g.heavy.free != 10 || g.light.free != 2 || len(g.heavy.queues) > 0 {
			t.Errorf("left: %+v; want g.heavy.free 10 and g.light.free 2 and len(g.heavy.queues) 0", g)
		}
	})
}

func TestNobodyWaitsForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(small)
		release, _ := g.Admit(t.Context(), "a", 9)
		if _, err := g.Admit(t.Context(), "a", 5); !errors.Is(err, ErrFull) {
			t.Errorf("after the wait: %v; want ErrFull", err)
		}
		gone, leave := context.WithCancel(t.Context())
		var left, behind error
		var others sync.WaitGroup
		others.Go(func() { _, left = g.Admit(gone, "a", 5) })
		synctest.Wait()
		others.Go(func() {
			var done func()
			if done, behind = g.Admit(t.Context(), "b", 1+1); behind == nil {
				done()
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		release()
		others.Wait()
		if !errors.Is(left, context.Canceled) || behind != nil {
			t.Errorf("who left: %v; who stood behind: %v; want context.Canceled and no behind", left, behind)
		}
		if g.heavy.free != 10 || slices.ContainsFunc(g.heavy.queues, func(q *queue) bool { return len(q.waiting) > 0 }) {
			t.Errorf("left: %+v", g.heavy)
		}
	})
}

// Promise: "within half a second" (docs/guide/en/limits.md).
func TestHeavyWorkLeavesRoomBesideLight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(small)
		begin := func(cost int) (release func()) {
			t.Helper()
			release, err := g.Admit(t.Context(), "a", cost)
			if err != nil {
				t.Fatal(err)
			}
			return release
		}
		begin(1)()
		one, two := begin(2), begin(2)
		third := begin(2) // light work has stopped coming while it waited
		defer third()
		begin(1)()
		waited := make(chan time.Duration, 1)
		asked := time.Now()
		go func() {
			begin(2)()
			waited <- time.Since(asked)
		}()
		time.Sleep(time.Second / 4)
		one()
		synctest.Wait()
		if g.heavy.works != 2 || len(g.heavy.queues) != 1 {
			t.Errorf("beside light work %d heavy works run, want 2", g.heavy.works)
		}
		two()
		if wait := <-waited; wait != time.Second/4 {
			t.Errorf("the next waited %v, want until the last but one had ended", wait)
		}
	})
}
