package keys_test

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"testing"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
)

// interrupted is a store in whose steps something else is done, once.
type interrupted struct {
	keys.Store
	loaded, updating func()
	away             error // of Touch
}

func (i *interrupted) Touch(ctx context.Context, used map[string]int64) error {
	if i.away != nil {
		return i.away
	}
	return i.Store.Touch(ctx, used)
}

func once(step *func()) {
	if now := *step; now != nil {
		*step = nil
		now()
	}
}

func (i *interrupted) Load(ctx context.Context) ([]keys.Row, error) {
	rows, err := i.Store.Load(ctx)
	once(&i.loaded)
	return rows, err
}

func (i *interrupted) Update(ctx context.Context, name string, old, body []byte) error {
	once(&i.updating)
	return i.Store.Update(ctx, name, old, body)
}

// TestARevocationStands: whatever is under way when a key is revoked, it opens no more.
func TestARevocationStands(t *testing.T) {
	file, err := keys.OpenSQLite(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // a test's file
	store := &interrupted{Store: file}
	k := keys.NewKeeper(t.Context(), store, slog.New(slog.DiscardHandler))
	created := func(name string) string {
		t.Helper()
		_, secret, err := k.Create(t.Context(), keys.Record{Name: name, Tenant: "t", Roles: keys.Roles})
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	revoke := func(name string) {
		t.Helper()
		if _, err := k.Revoke(t.Context(), "t", name); err != nil {
			t.Errorf("%s is not revoked: %v", name, err)
		}
	}
	opens := func(what, secret string) {
		t.Helper()
		if found, err := k.Find(sha256.Sum256([]byte(secret))); found != nil || err != nil {
			t.Errorf("%s: %+v, %v; want no found and no error", what, found, err)
		}
	}
	secret := created("a")
	store.loaded = func() { revoke("a") }
	if _, err := k.List(t.Context(), "t"); err != nil { // has read the store before
		t.Fatal(err)
	}
	opens("a look that began before", secret)

	secret = created("b")
	var rotated string
	store.updating = func() {
		var err error
		if _, rotated, err = k.Rotate(t.Context(), "t", "b"); err != nil {
			t.Error(err)
		}
	}
	revoke("b")
	opens("the key as it was", secret)
	opens("the key that was rotated meanwhile", rotated)

	created("c")
	store.updating = func() { revoke("c") }
	if _, _, err := k.Rotate(t.Context(), "t", "c"); !fault.Is(err, fault.Conflict) {
		t.Errorf("a key that was revoked while it was rotated: %v; want an error of kind Conflict", err)
	}
}

// TestUsesOutliveTheStore: a use that could not be written is written the next time.
func TestUsesOutliveTheStore(t *testing.T) {
	file, err := keys.OpenSQLite(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // a test's file
	store := &interrupted{Store: file, away: fault.New(fault.Unavailable, "away")}
	k := keys.NewKeeper(t.Context(), store, slog.New(slog.DiscardHandler))
	_, secret, err := k.Create(t.Context(), keys.Record{Name: "a", Tenant: "t", Roles: keys.Roles})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := k.Find(sha256.Sum256([]byte(secret))); found == nil || err != nil {
		t.Fatal(found, err)
	}
	for _, away := range []error{store.away, nil} {
		store.away = away
		if _, err := k.List(t.Context(), "t"); err != nil { // which writes the uses
			t.Fatal(err)
		}
		rows, err := file.Load(t.Context())
		if err != nil || len(rows) != 1 || (rows[0].LastUsed == 0) != (away != nil) {
			t.Errorf("the store is away: %v; %+v, %v", away, rows, err)
		}
	}
}
