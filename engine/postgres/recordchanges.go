package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/engine"
)

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
