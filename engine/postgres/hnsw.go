package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/fault"
)

// A vector index is built when writers of a knowledge base have paused: a bulk load
// takes a tenth of the time without one. Until then vectors are searched exactly.
const (
	indexPause = 2 * time.Second
	indexTick  = time.Second
)

// written records when this gateway last wrote to each knowledge base.
type written struct {
	mu  sync.Mutex
	all map[*base]time.Time
}

// noteWrite records that a knowledge base may need a vector index.
func (e *Engine) noteWrite(b *base) {
	if !b.table.indexable() || b.kb.VectorIndex == indexNone {
		return
	}
	e.writes.mu.Lock()
	defer e.writes.mu.Unlock()
	if e.writes.all == nil {
		e.writes.all = map[*base]time.Time{}
	}
	e.writes.all[b] = time.Now()
}

// rested takes the knowledge bases whose writers have paused.
func (w *written) rested() (all []*base) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for b, at := range w.all {
		if time.Since(at) >= indexPause {
			all = append(all, b)
			delete(w.all, b)
		}
	}
	return all
}

// keepIndexes builds vector indexes until the engine closes, starting with those left
// unfinished by an earlier gateway.
func (e *Engine) keepIndexes() {
	noted := false
	tick := time.NewTicker(indexTick)
	defer tick.Stop()
	for {
		select {
		case <-e.life.Done():
			return
		case <-tick.C:
		}
		noted = noted || e.noteAll()
		for _, b := range e.writes.rested() {
			if err := e.buildIndexes(e.life, b); err != nil && e.life.Err() == nil && !fault.Is(err, fault.NotFound) {
				e.log.Warn("a vector index was not built; vectors are searched exactly until it is",
					"tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "error", err)
				e.noteWrite(b) // try again
			}
		}
	}
}

// noteAll notes every knowledge base; false if the database is unavailable.
func (e *Engine) noteAll() bool {
	all, err := e.allBases(e.life)
	for _, b := range all {
		e.noteWrite(b)
	}
	return err == nil
}

// buildIndexes builds the missing vector indexes of a knowledge base if it has more chunks
// than are searched exactly anyway. One gateway at a time builds.
func (e *Engine) buildIndexes(ctx context.Context, b *base) error {
	b, err := e.current(ctx, b)
	if err != nil || b.kb.VectorIndex == indexNone {
		return err
	}
	s, err := b.state(ctx, e.pool)
	if err != nil {
		return faultOf(err, "looking for vector indexes")
	}
	usable, err := b.usableIndexes(ctx, e.pool, 0)
	if err != nil {
		return faultOf(err, "looking for vector indexes")
	}
	for i, field := range b.table.vectors {
		if usable[i] || s.vectors[i] <= int64(e.options.ExactLimit) {
			continue
		}
		if err := e.buildIndex(ctx, b, field); err != nil {
			return faultOf(err, "building the vector index of %s", field)
		}
	}
	return nil
}

// usableIndexes reports for each vector field whether its index is valid: not being built,
// nor failed. The answer may be as old as age, since a search can be exact with or without
// an index.
func (b *base) usableIndexes(ctx context.Context, from querier, age time.Duration) ([]bool, error) {
	b.indexes.Lock()
	defer b.indexes.Unlock()
	if b.indexes.usable != nil && time.Since(b.indexes.seen) < age {
		return b.indexes.usable, nil
	}
	names := make([]string, len(b.table.vectors))
	for i, field := range b.table.vectors {
		names[i] = b.table.indexName(field)
	}
	usable := make([]bool, len(names))
	err := from.QueryRow(ctx, `SELECT ARRAY(SELECT EXISTS (
			SELECT FROM pg_index WHERE indexrelid = to_regclass(name) AND indisvalid)
		FROM unnest($1::TEXT[]) WITH ORDINALITY AS names (name, place) ORDER BY place)`, names).Scan(&usable)
	if err != nil {
		return nil, err
	}
	b.indexes.usable, b.indexes.seen = usable, time.Now()
	return usable, nil
}

// indexAge is the maximum age of a search's knowledge of vector indexes.
const indexAge = time.Second

// indexMemory bounds the memory for building an index; a graph that does not fit takes many
// times longer.
const indexMemory = "512MB"

func (e *Engine) buildIndex(ctx context.Context, b *base, field string) error {
	conn, err := connect(ctx, &e.options)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var mine bool
	name := b.table.indexName(field)
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended($1, 0))", e.options.Schema+"."+name).
		Scan(&mine); err != nil || !mine {
		return err // another gateway builds it
	}
	begun := time.Now()
	// An interrupted build leaves an invalid index of the same name.
	for _, statement := range []string{
		"SET maintenance_work_mem = '" + indexMemory + "'",
		"DROP INDEX IF EXISTS " + pgx.Identifier{name}.Sanitize(),
		b.table.indexDefinition(field),
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	e.log.Info("vector index built", "tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "field", field,
		"took", time.Since(begun))
	return nil
}
