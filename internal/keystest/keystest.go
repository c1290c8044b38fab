// Package keystest holds every store of API keys to one suite.
package keystest

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
)

// Run runs the suite; open gives a store that is empty, and then the same one again: two
// gateways of one data.
func Run(t *testing.T, open func() keys.Store) {
	ctx := t.Context()
	log := slog.New(slog.DiscardHandler)
	store := open()
	a, b := keys.NewKeeper(ctx, store, log), keys.NewKeeper(ctx, open(), log)
	if a.Any() {
		t.Fatal("an empty store has keys")
	}
	made, secret, err := a.Create(ctx, keys.Record{
		Name: "web", Tenant: "acme", Roles: []string{keys.Search}, KnowledgeBases: []string{"manuals"},
		Filter: []byte(`{"owner":"anna"}`),
	})
	if err != nil || len(secret) < 26 {
		t.Fatalf("create: %q, %v", secret, err)
	}
	find := func(k *keys.Keeper, secret string) *keys.Record {
		t.Helper()
		r, err := k.Find(sha256.Sum256([]byte(secret)))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if got := find(a, secret); got == nil || got.Name != "web" || string(got.Filter) != `{"owner":"anna"}` ||
		got.KnowledgeBases[0] != "manuals" || !got.CreatedAt.Equal(made.CreatedAt) {
		t.Errorf("found %+v", got)
	}
	if list, err := b.List(ctx, "acme"); err != nil || len(list) != 1 || find(b, secret) == nil {
		t.Errorf("the other gateway: %v, %v", list, err)
	}
	if list, err := b.List(ctx, "rival"); err != nil || len(list) != 0 {
		t.Errorf("another tenant sees %v, %v", list, err)
	}
	_, _, err = b.Create(ctx, keys.Record{Name: "web", Tenant: "rival", Roles: keys.Roles})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("the name is taken: %v", err)
	}
	if _, err := b.Revoke(ctx, "rival", "web"); !fault.Is(err, fault.NotFound) {
		t.Errorf("another tenant revokes: %v", err)
	}
	rotate(t, a, b, secret)
	expire(t, a, find)
	if err := store.Update(ctx, "web", []byte("stale"), []byte("{}")); !fault.Is(err, fault.Conflict) {
		t.Errorf("an update of what has changed: %v", err)
	}
	atOnce(t, a, b)
	if !a.Any() {
		t.Error("that all keys are revoked opens the gateway to strangers")
	}
}

// rotate takes a key to another secret, and revokes it.
func rotate(t *testing.T, a, b *keys.Keeper, secret string) {
	t.Helper()
	find := func(k *keys.Keeper, secret string) bool {
		r, err := k.Find(sha256.Sum256([]byte(secret)))
		return err == nil && r != nil
	}
	_, next, err := b.Rotate(t.Context(), "acme", "web")
	if err != nil || find(b, secret) || !find(b, next) {
		t.Errorf("rotate: %v", err)
	}
	list, err := a.List(t.Context(), "acme") // reads the store anew
	if err != nil || find(a, secret) || !find(a, next) {
		t.Errorf("the rotated key elsewhere: %v", err)
	}
	if len(list) != 1 || list[0].LastUsed == nil || time.Since(*list[0].LastUsed) > time.Hour {
		t.Errorf("last use: %+v", list)
	}
	if _, err := a.Revoke(t.Context(), "acme", "web"); err != nil || find(a, next) {
		t.Errorf("revoke: %v", err)
	}
	if _, _, err := a.Rotate(t.Context(), "acme", "web"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a revoked key is rotated: %v", err)
	}
}

func expire(t *testing.T, a *keys.Keeper, find func(*keys.Keeper, string) *keys.Record) {
	t.Helper()
	var at time.Time
	var secret string
	for life := 2 * time.Second; ; life *= 2 { // a busy machine may take as long to make it
		at = time.Now().Add(life)
		var err error
		_, secret, err = a.Create(t.Context(), keys.Record{
			Name: "brief" + life.String(), Tenant: "acme", Roles: keys.Roles, ExpiresAt: &at,
		})
		if err != nil {
			t.Fatal(err)
		}
		if find(a, secret) != nil {
			break
		}
		if time.Now().Before(at) {
			t.Fatal("a key that expires later is not valid")
		}
	}
	time.Sleep(time.Until(at) + 10*time.Millisecond)
	if find(a, secret) != nil {
		t.Error("the key has expired and is valid")
	}
	past := time.Now().Add(-time.Hour)
	for _, bad := range []keys.Record{
		{Name: "", Roles: keys.Roles},
		{Name: "a\u202e", Roles: keys.Roles},
		{Name: "b"},
		{Name: "b", Roles: []string{"root"}},
		{Name: "b", Roles: keys.Roles, ExpiresAt: &past},
	} {
		if _, _, err := a.Create(t.Context(), bad); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// atOnce makes, rotates and revokes a key by two gateways at the same time: one makes it, no secret that was given is
// void unseen, and a revocation always holds.
func atOnce(t *testing.T, a, b *keys.Keeper) {
	t.Helper()
	ctx := t.Context()
	for round := range 5 {
		name := fmt.Sprint("race", round)
		var made, revoked atomic.Int32
		var all sync.WaitGroup
		for i := range 6 {
			k := []*keys.Keeper{a, b}[i%2]
			all.Go(func() {
				_, _, err := k.Create(ctx, keys.Record{Name: name, Tenant: "acme", Roles: keys.Roles})
				if err == nil {
					made.Add(1)
				} else if !fault.Is(err, fault.Conflict) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i := range 6 {
			k := []*keys.Keeper{a, b}[i%2]
			all.Go(func() {
				if i == 3 {
					if _, err := k.Revoke(ctx, "acme", name); err != nil {
						t.Errorf("a revocation among rotations: %v", err)
					} else {
						revoked.Add(1)
					}
					return
				}
				_, _, err := k.Rotate(ctx, "acme", name)
				if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		list, err := b.List(ctx, "acme")
		at := slices.IndexFunc(list, func(r keys.Record) bool { return r.Name == name })
		if err != nil || at < 0 || made.Load() != 1 || revoked.Load() != 1 || list[at].RevokedAt == nil {
			t.Errorf("%s was made %d times and revoked %d times, %v", name, made.Load(), revoked.Load(), err)
		}
	}
}
