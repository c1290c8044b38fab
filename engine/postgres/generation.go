package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/engine"
)

var _ engine.Generations = (*Engine)(nil)

// Generation implements engine.Generations: the number that the transaction of
// each change raises. The start of the server stands beside it, for a database
// that was restored counts on from an earlier number.
func (e *Engine) Generation(ctx context.Context, kb *engine.KnowledgeBase) (string, error) {
	if err := e.ready(ctx); err != nil {
		return "", err
	}
	var number, generation int64
	var started time.Time
	err := e.pool.QueryRow(ctx,
		"SELECT number, generation, pg_postmaster_start_time() FROM knowledge_bases WHERE tenant = $1 AND id = $2",
		kb.Tenant, kb.ID).Scan(&number, &generation, &started)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", notFound(kb.Ref)
	}
	if err != nil {
		return "", faultOf(err, "reading the generation of knowledge base %q", kb.ID)
	}
	return fmt.Sprintf("%d-%d-%d", number, generation, started.UnixMicro()), nil
}
