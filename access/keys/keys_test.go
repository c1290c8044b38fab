package keys_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/internal/keystest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Promise: "within two seconds" (docs/guide/en/keys.md)
func TestSQLite(t *testing.T) {
	folder := t.TempDir()
	keystest.Run(t, func() keys.Store {
		store, err := keys.OpenSQLite(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		return store
	})
}
