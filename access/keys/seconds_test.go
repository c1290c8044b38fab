package keys_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
)

// shelf is a store in memory, which two gateways have.
type shelf struct {
	mu   sync.Mutex
	rows []keys.Row
}

func (s *shelf) Load(context.Context) ([]keys.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]keys.Row{}, s.rows...), nil
}

func (s *shelf) Insert(_ context.Context, name string, body []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, keys.Row{Name: name, Body: body})
	return nil
}

func (s *shelf) Update(_ context.Context, name string, old, body []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.rows {
		if s.rows[i].Name == name && bytes.Equal(s.rows[i].Body, old) {
			s.rows[i].Body = body
			return nil
		}
	}
	return fault.New(fault.Conflict, "another gateway was faster")
}

func (s *shelf) Touch(context.Context, map[string]int64) error { return nil }

// A key is valid, has another secret, or is revoked, on a gateway that nobody told of it.
//
// Promise: "hold on each of them within two seconds" (docs/guide/en/keys.md).
// Promise: "ends a stored key on every gateway within two seconds" (docs/guide/en/keys.md).
func TestAnotherGatewayKnowsWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		store, log := &shelf{}, slog.New(slog.DiscardHandler)
		here, there := keys.NewKeeper(ctx, store, log), keys.NewKeeper(ctx, store, log)
		go there.Run(ctx)
		f := func(what, secret string, valid bool) {
			t.Helper()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if r, err := there.Find(sha256.Sum256([]byte(secret))); err != nil || (r != nil) != valid {
				t.Errorf("%s: found %v, %v, want %v", what, r != nil, err, valid)
			}
		}
		_, first, err := here.Create(ctx, keys.Record{Name: "web", Tenant: "acme", Roles: keys.Roles})
		if err != nil {
			t.Fatal(err)
		}
		f("made", first, true)
		_, second, err := here.Rotate(ctx, "acme", "web")
		if err != nil {
			t.Fatal(err)
		}
		f("the old secret", first, false)
		f("the new one", second, true)
		if _, err := here.Revoke(ctx, "acme", "web"); err != nil {
			t.Fatal(err)
		}
		f("revoked", second, false)
	})
}
