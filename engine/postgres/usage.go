package postgres

import (
	"context"

	"github.com/hybridge-search/hybridge/access/quota"
)

// usage counts the bytes that tenants write.
type usage struct{ engine *Engine }

// Usage returns the store of tenants' usage; it lives as long as the engine.
func (e *Engine) Usage() quota.Store { return &usage{engine: e} }

// Add implements quota.Store.
func (u *usage) Add(ctx context.Context, day string, bytes map[string]int64) (map[string]int64, error) {
	if err := u.engine.ready(ctx); err != nil {
		return nil, err
	}
	sums := make(map[string]int64, len(bytes))
	for tenant, n := range bytes {
		var sum int64
		err := u.engine.pool.QueryRow(ctx, `INSERT INTO tenant_usage AS u (tenant, day, bytes) VALUES ($1, $2, $3)
			ON CONFLICT (tenant) DO UPDATE SET
				bytes = CASE WHEN u.day = excluded.day THEN u.bytes + excluded.bytes
					WHEN u.day < excluded.day THEN excluded.bytes ELSE u.bytes END,
				day = GREATEST(u.day, excluded.day)
			RETURNING bytes`, tenant, day, n).Scan(&sum)
		if err != nil {
			return sums, faultOf(err, "counting the bytes of tenant %q", tenant)
		}
		sums[tenant] = sum
	}
	return sums, nil
}
