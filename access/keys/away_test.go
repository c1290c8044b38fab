package keys

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// flaky is a store that can be away.
type flaky struct {
	Store
	away bool
}

func (f *flaky) Load(ctx context.Context) ([]Row, error) {
	if f.away {
		return nil, fault.New(fault.Unavailable, "the store is away")
	}
	return f.Store.Load(ctx)
}

func TestKnownKeysOutliveTheStore(t *testing.T) {
	file, err := OpenSQLite(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // a test's file
	store, log := &flaky{Store: file}, slog.New(slog.DiscardHandler)
	k := NewKeeper(t.Context(), store, log)
	made, _, err := k.Create(t.Context(), Record{Name: "a", Tenant: "t", Roles: Roles})
	if err != nil {
		t.Fatal(err)
	}
	store.away = true
	k.look(t.Context())
	start := time.Now()
	for _, want := range []bool{true, false} {
		after := 4 * time.Minute
		if !want {
			after = 6 * time.Minute
		}
		k.now = func() time.Time { return start.Add(after) }
		got, err := k.Find(made.Hash)
		if (got != nil) != want || (err == nil) != want || err != nil && !fault.Is(err, fault.Unavailable) {
			t.Errorf("after %v: %v, %v", after, got, err)
		}
	}
	store.away, k.now = false, time.Now
	k.look(t.Context())
	if got, err := k.Find(made.Hash); got == nil || err != nil {
		t.Errorf("the store is back: %v, %v; want a got and no error", got, err)
	}
	store.away = true
	if never := NewKeeper(t.Context(), store, log); !never.Any() || !fault.Is(never.Unread(), fault.Unavailable) {
		t.Error("a store that was never read opens the gateway, or does not say why")
	}
	if err := k.Unread(); err != nil {
		t.Errorf("a store that was read once: %v", err)
	}
}

func TestKeysMoveWithTheData(t *testing.T) {
	var stores []*flaky
	for range 2 {
		file, err := OpenSQLite(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close() //nolint:errcheck // a test's file
		stores = append(stores, &flaky{Store: file})
	}
	from, to := stores[0], stores[1]
	log := slog.New(slog.DiscardHandler)
	before := NewKeeper(t.Context(), from, log)
	made, _, err := before.Create(t.Context(), Record{Name: "a", Tenant: "t", Roles: Roles})
	if err != nil {
		t.Fatal(err)
	}
	to.away = true
	k := NewKeeper(t.Context(), Moved(to, from), log)
	if !k.Any() {
		t.Error("keys that are to be moved keep nobody out")
	}
	to.away = false
	k.look(t.Context())
	if found, err := k.Find(made.Hash); found == nil || err != nil {
		t.Errorf("the moved key: %v, %v; want a found and no error", found, err)
	}
	if _, err := k.Revoke(t.Context(), "t", "a"); err != nil {
		t.Fatal(err)
	}
	again := NewKeeper(t.Context(), Moved(to, from), log)
	if found, err := again.Find(made.Hash); found != nil || err != nil || !again.Any() {
		t.Errorf("a key that was revoked where the data is now comes back: %v, %v", found, err)
	}
}
