package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/engine"
)

// Records implements engine.RecordKeeper.
func (e *Engine) Records(ctx context.Context, ref engine.RecordRef) (engine.Records, error) {
	if err := ref.Check(); err != nil {
		return engine.Records{}, err
	}
	all, err := e.recordsWhere(ctx, "tenant = $1 AND kind = $2 AND id = $3", ref.Tenant, ref.Kind, ref.ID)
	if err == nil && len(all) == 0 {
		err = engine.NoRecords(ref)
	}
	if err != nil {
		return engine.Records{}, err
	}
	return all[0], nil
}

// ListRecords implements engine.RecordKeeper.
func (e *Engine) ListRecords(ctx context.Context, tenant, kind string) ([]engine.Records, error) {
	if err := engine.CheckRecordList(tenant, kind); err != nil {
		return nil, err
	}
	return e.recordsWhere(ctx, "tenant = $1 AND kind = $2 ORDER BY id", tenant, kind)
}

func (e *Engine) recordsWhere(ctx context.Context, condition string, args ...any) ([]engine.Records, error) {
	all, err := collect(ctx, e, func(row pgx.CollectableRow) (r engine.Records, err error) {
		err = row.Scan(&r.Tenant, &r.Kind, &r.ID, &r.Version, &r.CreatedAt, &r.UpdatedAt, (*[]byte)(&r.Head))
		r.CreatedAt, r.UpdatedAt = r.CreatedAt.UTC(), r.UpdatedAt.UTC()
		return r, err
	}, "SELECT tenant, kind, id, version, created_at, updated_at, head FROM records WHERE "+condition, args...)
	return all, faultOf(err, "reading records")
}

// collect reads all rows of a statement.
func collect[T any](
	ctx context.Context, e *Engine, read pgx.RowToFunc[T], statement string, args ...any,
) (all []T, err error) {
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
	err = e.reading(ctx, func(ctx context.Context) error {
		rows, err := e.pool.Query(ctx, statement, args...)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, read)
		return err
	})
	return all, err
}

// SaveRecords implements engine.RecordKeeper.
func (e *Engine) SaveRecords(ctx context.Context, r engine.Records) (engine.Records, error) {
	if err := r.Check(); err != nil {
		return engine.Records{}, err
	}
	if err := e.ready(ctx); err != nil {
		return engine.Records{}, err
	}
	saved := r.Stamped(time.Now())
	save := e.replaceRecords
	if r.Version == 0 {
		save = e.insertRecords
	}
	if err := save(ctx, r.Version, &saved); err != nil {
		return engine.Records{}, faultOf(err, "writing records")
	}
	return saved, nil
}

func (e *Engine) insertRecords(ctx context.Context, _ int64, r *engine.Records) error {
	done, err := e.pool.Exec(ctx, `INSERT INTO records (tenant, kind, id, version, created_at, updated_at, head)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
		r.Tenant, r.Kind, r.ID, r.Version, r.CreatedAt, r.UpdatedAt, string(r.Head))
	if err == nil && done.RowsAffected() == 0 {
		return engine.RecordsExist(r.RecordRef)
	}
	return err
}

func (e *Engine) replaceRecords(ctx context.Context, version int64, r *engine.Records) error {
	err := e.pool.QueryRow(ctx, `UPDATE records SET version = $5, updated_at = $6, head = $7
		WHERE tenant = $1 AND kind = $2 AND id = $3 AND version = $4 RETURNING created_at`,
		r.Tenant, r.Kind, r.ID, version, r.Version, r.UpdatedAt, string(r.Head)).Scan(&r.CreatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		if _, err := e.recordsNumber(ctx, r.RecordRef); err != nil {
			return err
		}
		return engine.RecordsChanged(r.RecordRef)
	}
	r.CreatedAt = r.CreatedAt.UTC()
	return err
}

// recordsNumber returns the number that identifies a collection's items.
func (e *Engine) recordsNumber(ctx context.Context, ref engine.RecordRef) (int64, error) {
	numbers, err := collect(ctx, e, pgx.RowTo[int64],
		"SELECT number FROM records WHERE tenant = $1 AND kind = $2 AND id = $3", ref.Tenant, ref.Kind, ref.ID)
	if err == nil && len(numbers) == 0 {
		err = engine.NoRecords(ref)
	}
	if err != nil {
		return 0, faultOf(err, "reading records")
	}
	return numbers[0], nil
}

// DeleteRecords implements engine.RecordKeeper.
func (e *Engine) DeleteRecords(ctx context.Context, ref engine.RecordRef) error {
	if err := ref.Check(); err != nil {
		return err
	}
	if err := e.ready(ctx); err != nil {
		return err
	}
	done, err := e.pool.Exec(ctx, "DELETE FROM records WHERE tenant = $1 AND kind = $2 AND id = $3",
		ref.Tenant, ref.Kind, ref.ID) // and the items with it
	if err == nil && done.RowsAffected() == 0 {
		return engine.NoRecords(ref)
	}
	return faultOf(err, "deleting records")
}

// PutItems implements engine.RecordKeeper. The lock keeps the collection from being deleted
// between its number and the items.
func (e *Engine) PutItems(ctx context.Context, ref engine.RecordRef, items []engine.RecordItem) error {
	if err := ref.Check(); err != nil {
		return err
	}
	items, err := engine.PrepareItems(items)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		_, err := e.recordsNumber(ctx, ref)
		return err
	}
	if err := e.ready(ctx); err != nil {
		return err
	}
	keys, bodies := make([]string, len(items)), make([]string, len(items))
	for i := range items {
		keys[i], bodies[i] = items[i].Key, string(items[i].Body)
	}
	done, err := e.pool.Exec(ctx, `WITH held AS (
			SELECT number FROM records WHERE tenant = $1 AND kind = $2 AND id = $3 FOR KEY SHARE
		) INSERT INTO record_items (records, key, body)
			SELECT held.number, item.key, item.body FROM held, unnest($4::text[], $5::text[]) AS item (key, body)
		ON CONFLICT (records, key) DO UPDATE SET body = excluded.body`, ref.Tenant, ref.Kind, ref.ID, keys, bodies)
	if err == nil && done.RowsAffected() == 0 {
		return engine.NoRecords(ref)
	}
	return faultOf(err, "writing items of records")
}

// Items implements engine.RecordKeeper.
func (e *Engine) Items(ctx context.Context, ref engine.RecordRef, page engine.ItemPage) ([]engine.RecordItem, error) {
	err := ref.Check()
	if err == nil {
		err = page.Check()
	}
	if err != nil {
		return nil, err
	}
	number, err := e.recordsNumber(ctx, ref)
	if err != nil {
		return nil, err
	}
	from, below := page.Bounds()
	items, err := collect(ctx, e, func(row pgx.CollectableRow) (item engine.RecordItem, err error) {
		err = row.Scan(&item.Key, (*[]byte)(&item.Body))
		return item, err
	}, `SELECT key, body FROM record_items WHERE records = $1 AND key >= $2 AND key < $3 AND key <> $4
		ORDER BY key LIMIT $5`, number, from, below, page.After, page.Limit)
	return items, faultOf(err, "reading the items of records")
}

// DeleteItems implements engine.RecordKeeper.
func (e *Engine) DeleteItems(ctx context.Context, ref engine.RecordRef, keys []string) (int, error) {
	if err := ref.Check(); err != nil {
		return 0, err
	}
	keys, err := engine.PrepareKeys(keys)
	if err != nil {
		return 0, err
	}
	number, err := e.recordsNumber(ctx, ref)
	if err != nil {
		return 0, err
	}
	done, err := e.pool.Exec(ctx, "DELETE FROM record_items WHERE records = $1 AND key = ANY ($2)", number, keys)
	return int(done.RowsAffected()), faultOf(err, "deleting items of records")
}

// CountItems implements engine.RecordKeeper.
func (e *Engine) CountItems(ctx context.Context, ref engine.RecordRef) (int, error) {
	if err := ref.Check(); err != nil {
		return 0, err
	}
	number, err := e.recordsNumber(ctx, ref)
	if err != nil {
		return 0, err
	}
	counts, err := collect(ctx, e, pgx.RowTo[int], "SELECT COUNT(*) FROM record_items WHERE records = $1", number)
	if err != nil {
		return 0, faultOf(err, "counting the items of records")
	}
	return counts[0], nil
}

// ChangeItems implements engine.RecordKeeper. Those who change the same items wait for each other
// in the order of the keys.
func (e *Engine) ChangeItems(
	ctx context.Context, ref engine.RecordRef, changes []engine.ItemChange,
) (made []bool, err error) {
	err = ref.Check()
	if err == nil {
		err = engine.CheckChanges(changes)
	}
	if err == nil {
		err = e.ready(ctx)
	}
	if err != nil {
		return nil, err
	}
	made = make([]bool, len(changes))
	err = pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		var number int64
		err := tx.QueryRow(ctx, "SELECT number FROM records WHERE tenant = $1 AND kind = $2 AND id = $3 FOR KEY SHARE",
			ref.Tenant, ref.Kind, ref.ID).Scan(&number)
		if errors.Is(err, pgx.ErrNoRows) {
			return engine.NoRecords(ref)
		}
		if err != nil {
			return err
		}
		return changeItems(ctx, tx, number, changes, made)
	})
	if err != nil {
		return nil, faultOf(err, "changing items of records")
	}
	return made, nil
}

func changeItems(ctx context.Context, tx pgx.Tx, number int64, changes []engine.ItemChange, made []bool) error {
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(changes[a].Key, changes[b].Key) })
	batch := &pgx.Batch{}
	for _, i := range order {
		queueChange(batch, number, &changes[i])
	}
	results := tx.SendBatch(ctx, batch)
	for _, i := range order {
		done, err := results.Exec()
		if err != nil {
			return errors.Join(err, results.Close())
		}
		made[i] = done.RowsAffected() > 0
	}
	return results.Close()
}

func queueChange(batch *pgx.Batch, number int64, c *engine.ItemChange) {
	switch {
	case c.From == nil:
		batch.Queue("INSERT INTO record_items (records, key, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
			number, c.Key, string(c.To))
	case c.To == nil:
		batch.Queue("DELETE FROM record_items WHERE records = $1 AND key = $2 AND body = $3", number, c.Key, string(c.From))
	default:
		batch.Queue("UPDATE record_items SET body = $4 WHERE records = $1 AND key = $2 AND body = $3",
			number, c.Key, string(c.From), string(c.To))
	}
}
