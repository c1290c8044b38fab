package embedded

import "context"

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

// saveDue saves knowledge bases with many changes, until the engine closes.
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
	if err := b.save(); err != nil && ctx.Err() == nil {
		b.engine.log.Warn("BM25 index not saved; it will be rebuilt or completed at the next start",
			"tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "error", err)
	}
}

// save stores the BM25 indexes of the snapshot. Nobody waits for it.
func (b *base) save() error {
	b.saving.Lock()
	defer b.saving.Unlock()
	b.mu.Lock()
	s, changes, gone := b.current.Load(), b.unsaved, b.gone
	b.mu.Unlock()
	if s == nil || changes == 0 || gone {
		return nil
	}
	for i, field := range b.texts {
		if err := b.engine.indexes.write(b.table.number, field, s.texts[i]); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unsaved -= changes
	if b.gone { // meanwhile
		return b.engine.indexes.remove(b.table.number, b.texts)
	}
	return nil
}
