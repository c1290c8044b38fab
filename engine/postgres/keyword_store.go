package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/bm25/tiered"
)

// Load implements tiered.Store.
func (k *backend) Load(ctx context.Context, index tiered.Index) ([]tiered.Blob, error) {
	release, err := k.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	rows, err := k.engine.pool.Query(ctx, `
		SELECT 0 AS start, generation, doc_count, index_data FROM bm25_indexes WHERE kb_id = $1 AND field = $2
		UNION ALL
		SELECT from_generation, generation, doc_count, index_data FROM bm25_deltas WHERE kb_id = $1 AND field = $2
		ORDER BY start`, index.KnowledgeBase, index.Field)
	if err != nil {
		return nil, faultOf(err, "loading the keyword index of %s", index.Name)
	}
	blobs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (b tiered.Blob, err error) {
		return b, row.Scan(&b.From, &b.To, &b.Docs, &b.Data)
	})
	return blobs, faultOf(err, "loading the keyword index of %s", index.Name)
}

// Head implements tiered.Store.
func (k *backend) Head(ctx context.Context, index tiered.Index) (tiered.Head, error) {
	release, err := k.acquire(ctx)
	if err != nil {
		return tiered.Head{}, err
	}
	defer release()
	var h tiered.Head
	err = k.engine.pool.QueryRow(ctx, `
		SELECT GREATEST(base.generation, MAX(delta.generation)), base.doc_count, COUNT(delta.kb_id),
			COALESCE(SUM(delta.doc_count), 0)::BIGINT
		FROM bm25_indexes AS base LEFT JOIN bm25_deltas AS delta USING (kb_id, field)
		WHERE base.kb_id = $1 AND base.field = $2 GROUP BY base.generation, base.doc_count`,
		index.KnowledgeBase, index.Field).Scan(&h.To, &h.BaseDocs, &h.Deltas, &h.DeltaDocs)
	if errors.Is(err, pgx.ErrNoRows) {
		return tiered.Head{}, nil
	}
	return h, faultOf(err, "looking at the keyword index of %s", index.Name)
}

// errNotSaved aborts a transaction because the stored index is newer.
var errNotSaved = errors.New("something newer is stored")

// Save implements tiered.Store.
func (k *backend) Save(ctx context.Context, index tiered.Index, blob tiered.Blob) (saved bool, err error) {
	release, err := k.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	err = pgx.BeginFunc(ctx, k.engine.pool, func(tx pgx.Tx) error {
		// The knowledge base must not be deleted; its writers are not blocked.
		var number int64
		err := tx.QueryRow(ctx, "SELECT number FROM knowledge_bases WHERE number = $1 FOR KEY SHARE",
			index.KnowledgeBase).Scan(&number)
		if errors.Is(err, pgx.ErrNoRows) {
			return errNotSaved
		}
		if err != nil {
			return err
		}
		if blob.From == 0 {
			if err := saveBase(ctx, tx, index, &blob); err != nil {
				return err
			}
			return trimLog(ctx, tx, index.KnowledgeBase)
		}
		return saveDelta(ctx, tx, index, &blob)
	})
	if errors.Is(err, errNotSaved) {
		return false, nil
	}
	return err == nil, faultOf(err, "storing the keyword index of %s", index.Name)
}

func saveBase(ctx context.Context, tx pgx.Tx, index tiered.Index, blob *tiered.Blob) error {
	tag, err := tx.Exec(ctx, `
		INSERT INTO bm25_indexes AS stored (kb_id, field, generation, index_data, doc_count) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (kb_id, field) DO UPDATE SET generation = excluded.generation, index_data = excluded.index_data,
			doc_count = excluded.doc_count, updated_at = now()
		WHERE stored.generation <= excluded.generation`,
		index.KnowledgeBase, index.Field, blob.To, blob.Data, blob.Docs)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return errNotSaved
	}
	_, err = tx.Exec(ctx, "DELETE FROM bm25_deltas WHERE kb_id = $1 AND field = $2 AND from_generation < $3",
		index.KnowledgeBase, index.Field, blob.To)
	return err
}

func saveDelta(ctx context.Context, tx pgx.Tx, index tiered.Index, blob *tiered.Blob) error {
	// A base stored concurrently would neither be seen nor see this part.
	_, err := tx.Exec(ctx, "SELECT FROM bm25_indexes WHERE kb_id = $1 AND field = $2 FOR NO KEY UPDATE",
		index.KnowledgeBase, index.Field)
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `
		INSERT INTO bm25_deltas (kb_id, field, from_generation, generation, index_data, doc_count)
		SELECT $1, $2, $3, $4, $5, $6 WHERE $3 = (
			SELECT GREATEST(base.generation, MAX(delta.generation))
			FROM bm25_indexes AS base LEFT JOIN bm25_deltas AS delta USING (kb_id, field)
			WHERE base.kb_id = $1 AND base.field = $2 GROUP BY base.generation)`,
		index.KnowledgeBase, index.Field, blob.From, blob.To, blob.Data, blob.Docs)
	if err == nil && tag.RowsAffected() == 0 {
		return errNotSaved
	}
	return err
}

// logTrimThreshold is the number of deletions from which the log is trimmed.
const logTrimThreshold = 10_000

// trimLog removes deletions that every stored index has applied, once there are many.
// Gateways reload older indexes in memory.
func trimLog(ctx context.Context, tx pgx.Tx, knowledgeBase int64) error {
	var long bool
	var seen int64
	err := tx.QueryRow(ctx, `SELECT COUNT(*) > $2, COALESCE((SELECT MIN(generation) FROM bm25_indexes WHERE kb_id = $1), 0)
		FROM deleted_chunks WHERE kb_id = $1`, knowledgeBase, logTrimThreshold).Scan(&long, &seen)
	if err != nil || !long {
		return err
	}
	_, err = tx.Exec(ctx, "DELETE FROM deleted_chunks WHERE kb_id = $1 AND generation <= $2", knowledgeBase, seen)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE knowledge_bases SET log_from = GREATEST(log_from, $2) WHERE number = $1",
		knowledgeBase, seen)
	return err
}

// Drop implements tiered.Store.
func (k *backend) Drop(ctx context.Context, index tiered.Index) error {
	release, err := k.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	_, err = k.engine.pool.Exec(ctx, "DELETE FROM bm25_indexes WHERE kb_id = $1 AND field = $2",
		index.KnowledgeBase, index.Field)
	return faultOf(err, "dropping the keyword index of %s", index.Name)
}
