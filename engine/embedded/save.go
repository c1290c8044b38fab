package embedded

import (
	"bytes"
	"context"
	"database/sql"
)

// A BM25 index is saved in the background after this many changed rows, or a
// fifth of its rows where that is more; else when the engine closes.
const saveAfter = 2000

// changed counts changed rows and asks for a save when they are many. The
// caller holds mu.
func (b *base) changed(rows int) {
	b.unsaved += rows
	s := b.current.Load()
	if s == nil || b.unsaved < max(saveAfter, int(s.live.GetCardinality()/5)) {
		return
	}
	select {
	case b.engine.due <- b:
	default: // the next change asks again
	}
}

// saveDue saves what changed much, until the engine closes.
func (e *Engine) saveDue() {
	for {
		select {
		case <-e.life.Done():
			return
		case b := <-e.due:
			b.saveLogged(e.life)
		}
	}
}

func (b *base) saveLogged(ctx context.Context) {
	if err := b.save(ctx); err != nil && ctx.Err() == nil {
		b.engine.log.Warn("BM25 index not saved; it will be rebuilt or completed at the next start",
			"tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "error", err)
	}
}

// save stores the BM25 indexes of the snapshot. Writers wait only while the
// finished bytes go to the file.
func (b *base) save(ctx context.Context) error {
	b.saving.Lock()
	defer b.saving.Unlock()
	b.mu.Lock()
	s, changes, gone := b.current.Load(), b.unsaved, b.gone
	b.mu.Unlock()
	if s == nil || changes == 0 || gone {
		return nil
	}
	data := make([][]byte, len(b.texts))
	for i, text := range s.texts {
		var out bytes.Buffer
		if _, err := text.WriteTo(&out); err != nil {
			return err
		}
		data[i] = out.Bytes()
	}
	err := b.engine.files.write(ctx, func(tx *sql.Tx) error { return b.storeIndexes(ctx, tx, s.generation, data) })
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.unsaved -= changes
	b.mu.Unlock()
	return nil
}

// storeIndexes writes nothing when the knowledge base has been deleted.
func (b *base) storeIndexes(ctx context.Context, tx *sql.Tx, generation int64, data [][]byte) error {
	for i, field := range b.texts {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO bm25_indexes (knowledge_base, field, generation, data)
			SELECT number, ?, ?, ? FROM knowledge_bases WHERE number = ?
			ON CONFLICT (knowledge_base, field) DO UPDATE SET generation = excluded.generation, data = excluded.data`,
			field, generation, data[i], b.table.number)
		if err != nil {
			return err
		}
	}
	return nil
}
