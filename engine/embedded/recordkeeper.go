package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// Records implements engine.RecordKeeper.
func (e *Engine) Records(ctx context.Context, ref engine.RecordRef) (engine.Records, error) {
	if err := ref.Check(); err != nil {
		return engine.Records{}, err
	}
	all, err := e.recordsWhere(ctx, "tenant = ? AND kind = ? AND id = ?", ref.Tenant, ref.Kind, ref.ID)
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
	return e.recordsWhere(ctx, "tenant = ? AND kind = ? ORDER BY id", tenant, kind)
}

func (e *Engine) recordsWhere(ctx context.Context, condition string, args ...any) ([]engine.Records, error) {
	rows, err := e.files.readers.QueryContext(ctx,
		"SELECT tenant, kind, id, version, created_at, updated_at, head FROM records WHERE "+condition, args...)
	if err != nil {
		return nil, sqlite.Fault(err, "reading records")
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []engine.Records
	for rows.Next() {
		var r engine.Records
		var created, updated int64
		if err := rows.Scan(&r.Tenant, &r.Kind, &r.ID, &r.Version, &created, &updated, (*[]byte)(&r.Head)); err != nil {
			return nil, sqlite.Fault(err, "reading records")
		}
		r.CreatedAt, r.UpdatedAt = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
		all = append(all, r)
	}
	return all, sqlite.Fault(rows.Err(), "reading records")
}

// SaveRecords implements engine.RecordKeeper.
func (e *Engine) SaveRecords(ctx context.Context, r engine.Records) (engine.Records, error) {
	if err := r.Check(); err != nil {
		return engine.Records{}, err
	}
	saved := r.Stamped(time.Now())
	err := e.files.write(ctx, func(tx *sql.Tx) error {
		if r.Version == 0 {
			return insertRecords(ctx, tx, &saved)
		}
		var created int64
		err := tx.QueryRowContext(ctx, "UPDATE records SET version = ?, updated_at = ?, head = ? "+
			"WHERE tenant = ? AND kind = ? AND id = ? AND version = ? RETURNING created_at",
			saved.Version, saved.UpdatedAt.UnixMicro(), string(r.Head), r.Tenant, r.Kind, r.ID, r.Version).Scan(&created)
		if errors.Is(err, sql.ErrNoRows) {
			if _, err := recordsNumber(ctx, tx, r.RecordRef); err != nil {
				return err
			}
			return engine.RecordsChanged(r.RecordRef)
		}
		saved.CreatedAt = time.UnixMicro(created).UTC()
		return err
	})
	if err != nil {
		return engine.Records{}, err
	}
	return saved, nil
}

func insertRecords(ctx context.Context, tx *sql.Tx, r *engine.Records) error {
	done, err := tx.ExecContext(ctx, "INSERT INTO records (tenant, kind, id, version, created_at, updated_at, head) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", r.Tenant, r.Kind, r.ID, r.Version,
		r.CreatedAt.UnixMicro(), r.UpdatedAt.UnixMicro(), string(r.Head))
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(engine.RecordsExist(r.RecordRef), err)
	}
	return nil
}

// queryer reads one row, within a transaction or outside of one.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// recordsNumber returns the number that identifies a collection's items.
func recordsNumber(ctx context.Context, from queryer, ref engine.RecordRef) (number int64, err error) {
	err = from.QueryRowContext(ctx, "SELECT number FROM records WHERE tenant = ? AND kind = ? AND id = ?",
		ref.Tenant, ref.Kind, ref.ID).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, engine.NoRecords(ref)
	}
	return number, err
}

// DeleteRecords implements engine.RecordKeeper.
func (e *Engine) DeleteRecords(ctx context.Context, ref engine.RecordRef) error {
	if err := ref.Check(); err != nil {
		return err
	}
	return e.changeItems(ctx, ref, func(tx *sql.Tx, number int64) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM records WHERE number = ?", number) // and the items with it
		return err
	})
}

// changeItems runs a transaction on an existing collection.
func (e *Engine) changeItems(
	ctx context.Context, ref engine.RecordRef, change func(tx *sql.Tx, number int64) error,
) error {
	return e.files.write(ctx, func(tx *sql.Tx) error {
		number, err := recordsNumber(ctx, tx, ref)
		if err != nil {
			return err
		}
		return change(tx, number)
	})
}

// PutItems implements engine.RecordKeeper.
func (e *Engine) PutItems(ctx context.Context, ref engine.RecordRef, items []engine.RecordItem) error {
	if err := ref.Check(); err != nil {
		return err
	}
	items, err := engine.PrepareItems(items)
	if err != nil {
		return err
	}
	return e.changeItems(ctx, ref, func(tx *sql.Tx, number int64) error {
		return eachOf(ctx, tx, "INSERT INTO record_items (records, key, body) VALUES (?, ?, ?) "+
			"ON CONFLICT (records, key) DO UPDATE SET body = excluded.body",
			len(items), func(i int) []any { return []any{number, items[i].Key, string(items[i].Body)} })
	})
}

// eachOf runs one statement with each of n lists of values.
func eachOf(ctx context.Context, tx *sql.Tx, statement string, n int, values func(int) []any) error {
	prepared, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer prepared.Close() //nolint:errcheck // it ends with the transaction
	for i := range n {
		if _, err := prepared.ExecContext(ctx, values(i)...); err != nil {
			return err
		}
	}
	return nil
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
	number, err := recordsNumber(ctx, e.files.readers, ref)
	if err != nil {
		return nil, sqlite.Fault(err, "reading records")
	}
	from, below := page.Bounds()
	rows, err := e.files.readers.QueryContext(ctx, "SELECT key, body FROM record_items "+
		"WHERE records = ? AND key >= ? AND key < ? AND key <> ? ORDER BY key LIMIT ?",
		number, from, below, page.After, page.Limit)
	if err != nil {
		return nil, sqlite.Fault(err, "reading the items of records")
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var items []engine.RecordItem
	for rows.Next() {
		var item engine.RecordItem
		if err := rows.Scan(&item.Key, (*[]byte)(&item.Body)); err != nil {
			return nil, sqlite.Fault(err, "reading the items of records")
		}
		items = append(items, item)
	}
	return items, sqlite.Fault(rows.Err(), "reading the items of records")
}

// DeleteItems implements engine.RecordKeeper.
func (e *Engine) DeleteItems(ctx context.Context, ref engine.RecordRef, keys []string) (n int, err error) {
	if err := ref.Check(); err != nil {
		return 0, err
	}
	if keys, err = engine.PrepareKeys(keys); err != nil {
		return 0, err
	}
	list, err := json.Marshal(keys)
	if err != nil {
		return 0, sqlite.Fault(err, "deleting items of records")
	}
	err = e.changeItems(ctx, ref, func(tx *sql.Tx, number int64) error {
		done, err := tx.ExecContext(ctx, "DELETE FROM record_items WHERE records = ? "+
			"AND key IN (SELECT value FROM json_each(?))", number, string(list))
		if err != nil {
			return err
		}
		deleted, err := done.RowsAffected()
		n = int(deleted)
		return err
	})
	return n, err
}

// ChangeItems implements engine.RecordKeeper.
func (e *Engine) ChangeItems(
	ctx context.Context, ref engine.RecordRef, changes []engine.ItemChange,
) (made []bool, err error) {
	err = ref.Check()
	if err == nil {
		err = engine.CheckChanges(changes)
	}
	if err != nil {
		return nil, err
	}
	made = make([]bool, len(changes))
	err = e.changeItems(ctx, ref, func(tx *sql.Tx, number int64) error {
		for i := range changes {
			statement, args := changeItem(&changes[i], number)
			done, err := tx.ExecContext(ctx, statement, args...)
			if err != nil {
				return err
			}
			n, err := done.RowsAffected()
			if err != nil {
				return err
			}
			made[i] = n > 0
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

func changeItem(c *engine.ItemChange, number int64) (statement string, args []any) {
	switch {
	case c.From == nil:
		return "INSERT INTO record_items (records, key, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
			[]any{number, c.Key, string(c.To)}
	case c.To == nil:
		return "DELETE FROM record_items WHERE records = ? AND key = ? AND body = ?", []any{number, c.Key, string(c.From)}
	default:
		return "UPDATE record_items SET body = ? WHERE records = ? AND key = ? AND body = ?",
			[]any{string(c.To), number, c.Key, string(c.From)}
	}
}

// CountItems implements engine.RecordKeeper.
func (e *Engine) CountItems(ctx context.Context, ref engine.RecordRef) (n int, err error) {
	if err := ref.Check(); err != nil {
		return 0, err
	}
	number, err := recordsNumber(ctx, e.files.readers, ref)
	if err == nil {
		err = e.files.readers.QueryRowContext(ctx, "SELECT COUNT(*) FROM record_items WHERE records = ?", number).Scan(&n)
	}
	return n, sqlite.Fault(err, "counting the items of records")
}
