package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/fault"
)

// apiKeys is the store of API keys beside the knowledge bases.
type apiKeys struct{ engine *Engine }

// APIKeys gives the store of API keys; it lives as long as the engine.
func (e *Engine) APIKeys() keys.Store { return &apiKeys{engine: e} }

// Load implements keys.Store.
func (k *apiKeys) Load(ctx context.Context) ([]keys.Row, error) {
	var all []keys.Row
	err := k.engine.reading(ctx, func(ctx context.Context) error {
		rows, err := k.engine.pool.Query(ctx, "SELECT name, record, last_used FROM api_keys ORDER BY name")
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r keys.Row, err error) {
			return r, row.Scan(&r.Name, &r.Body, &r.LastUsed)
		})
		return err
	})
	return all, faultOf(err, "reading the keys")
}

// Insert implements keys.Store.
func (k *apiKeys) Insert(ctx context.Context, name string, body []byte) error {
	return k.changeOne(ctx, fault.New(fault.Conflict, "there is, or was, a key of this name"),
		"INSERT INTO api_keys (name, record) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, string(body))
}

// Update implements keys.Store.
func (k *apiKeys) Update(ctx context.Context, name string, old, body []byte) error {
	return k.changeOne(ctx, fault.New(fault.Conflict, "the key was changed meanwhile, or is gone"),
		"UPDATE api_keys SET record = $3 WHERE name = $1 AND record = $2", name, string(old), string(body))
}

func (k *apiKeys) changeOne(ctx context.Context, otherwise error, statement string, args ...any) error {
	done, err := k.engine.pool.Exec(ctx, statement, args...)
	if err == nil && done.RowsAffected() == 0 {
		return otherwise
	}
	return faultOf(err, "writing a key")
}

// Touch implements keys.Store.
func (k *apiKeys) Touch(ctx context.Context, used map[string]int64) error {
	for name, when := range used {
		_, err := k.engine.pool.Exec(ctx,
			"UPDATE api_keys SET last_used = GREATEST(last_used, $2) WHERE name = $1", name, when)
		if err != nil {
			return faultOf(err, "noting the use of a key")
		}
	}
	return nil
}

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
