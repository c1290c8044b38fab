// Package quotatest holds every store of what tenants write to one suite.
package quotatest

import (
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/access/quota"
)

// Run runs the suite; open gives a store that is empty, and then the same one again: two
// gateways of one data.
func Run(t *testing.T, open func() quota.Store) {
	a, b := open(), open()
	add := func(s quota.Store, day, tenant string, bytes, want int64) {
		t.Helper()
		sums, err := s.Add(t.Context(), day, map[string]int64{tenant: bytes})
		if err != nil || sums[tenant] != want {
			t.Errorf("%d on %s by %s: %v, %v; want %d", bytes, day, tenant, sums, err, want)
		}
	}
	const today, tomorrow = "2026-01-31", "2026-02-01"
	add(a, today, "acme", 0, 0)
	add(a, today, "acme", 5, 5)
	add(b, today, "acme", 7, 12)
	add(b, today, "rival", 1, 1)
	add(a, today, "acme", 0, 12)
	add(a, tomorrow, "acme", 3, 3)
	add(b, today, "acme", 9, 3)
	add(b, tomorrow, "acme", 1, 4)
	var all sync.WaitGroup
	for _, s := range []quota.Store{a, b} {
		all.Go(func() {
			for range 10 {
				if _, err := s.Add(t.Context(), today, map[string]int64{"busy": 1}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	add(a, today, "busy", 0, 20)
}
