package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// unpacked reads record and revision.
func unpacked(row pgx.CollectableRow) (engine.Migration, error) {
	var body []byte
	var revision int64
	if err := row.Scan(&body, &revision); err != nil {
		return engine.Migration{}, err
	}
	m, err := engine.DecodeMigration(body)
	if err != nil {
		return engine.Migration{}, err
	}
	m.Revision = [2]int64{revision}
	return *m, nil
}

// ofBase selects the number of the knowledge base of $1 and $2.
const ofBase = "(SELECT number FROM knowledge_bases WHERE tenant = $1 AND id = $2)"

// SavePlan implements engine.Migrator.
func (e *Engine) SavePlan(ctx context.Context, plan *engine.MappingPlan) error {
	body, err := json.Marshal(plan)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "writing a plan")
	}
	tag, err := e.pool.Exec(ctx, `INSERT INTO mapping_plans (kb_id, id, plan)
		SELECT number, $3, $4 FROM knowledge_bases WHERE tenant = $1 AND id = $2`,
		plan.Ref.Tenant, plan.Ref.ID, plan.ID, body)
	if err == nil && tag.RowsAffected() == 0 {
		return notFound(plan.Ref)
	}
	return faultOf(err, "keeping a plan")
}

// TakePlan implements engine.Migrator.
func (e *Engine) TakePlan(ctx context.Context, ref engine.Ref, id string) (*engine.MappingPlan, error) {
	var body []byte
	err := e.pool.QueryRow(ctx, "UPDATE mapping_plans SET taken = TRUE WHERE kb_id = "+ofBase+
		" AND id = $3 AND NOT taken RETURNING plan", ref.Tenant, ref.ID, known(id)).Scan(&body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, e.noPlan(ctx, ref, id)
	}
	if err != nil {
		return nil, faultOf(err, "taking a plan")
	}
	return engine.DecodePlan(ref, body)
}

// noPlan distinguishes a plan that was taken from an unknown one.
func (e *Engine) noPlan(ctx context.Context, ref engine.Ref, id string) error {
	var there bool
	err := e.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM mapping_plans WHERE kb_id = "+ofBase+" AND id = $3)",
		ref.Tenant, ref.ID, known(id)).Scan(&there)
	switch {
	case err != nil:
		return faultOf(err, "looking for a plan")
	case there:
		return engine.PlanTaken()
	default:
		return engine.NoPlan()
	}
}

const uniqueViolation = "23505"

// StartMigration implements engine.Migrator.
func (e *Engine) StartMigration(ctx context.Context, m *engine.Migration) error {
	body, err := engine.EncodeMigration(m)
	if err != nil {
		return err
	}
	tag, err := e.pool.Exec(ctx, `INSERT INTO mapping_migrations (kb_id, id, record)
		SELECT number, $3, $4 FROM knowledge_bases WHERE tenant = $1 AND id = $2`, m.Ref.Tenant, m.Ref.ID, m.ID, body)
	switch {
	case isCode(err, uniqueViolation):
		return engine.MigrationBegun(m.Ref)
	case err == nil && tag.RowsAffected() == 0:
		return notFound(m.Ref)
	}
	m.Revision = [2]int64{1}
	return faultOf(err, "beginning a migration")
}

// migrationsWhere reads migrations.
func (e *Engine) migrationsWhere(ctx context.Context, condition string, args ...any) ([]engine.Migration, error) {
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
	rows, err := e.pool.Query(ctx, "SELECT record, revision FROM mapping_migrations WHERE "+condition, args...)
	if err != nil {
		return nil, faultOf(err, "reading migrations")
	}
	list, err := pgx.CollectRows(rows, unpacked)
	return list, faultOf(err, "reading migrations")
}

// Migration implements engine.Migrator.
func (e *Engine) Migration(ctx context.Context, ref engine.Ref) (*engine.Migration, error) {
	list, err := e.migrationsWhere(ctx, "kb_id = "+ofBase+" AND finished_at IS NULL", ref.Tenant, ref.ID)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, engine.NoMigration(ref)
	}
	return &list[0], nil
}

// Migrations implements engine.Migrator.
func (e *Engine) Migrations(ctx context.Context) ([]engine.Migration, error) {
	return e.migrationsWhere(ctx, "finished_at IS NULL ORDER BY kb_id")
}

// MigrationHistory implements engine.Migrator. It goes with the knowledge base.
func (e *Engine) MigrationHistory(ctx context.Context, ref engine.Ref, limit int) ([]engine.Migration, error) {
	return e.migrationsWhere(ctx, "kb_id = "+ofBase+" AND finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT $3",
		ref.Tenant, ref.ID, max(limit, 0))
}

// SaveMigration implements engine.Migrator.
func (e *Engine) SaveMigration(ctx context.Context, m *engine.Migration) error {
	return e.saveMigration(ctx, m, nil)
}

// EndMigration implements engine.Migrator. A repeated end is none.
func (e *Engine) EndMigration(ctx context.Context, m *engine.Migration) error {
	return e.saveMigration(ctx, m, &m.FinishedAt)
}

func (e *Engine) saveMigration(ctx context.Context, m *engine.Migration, finished *time.Time) error {
	body, err := engine.EncodeMigration(m)
	if err != nil {
		return err
	}
	tag, err := e.pool.Exec(ctx, `UPDATE mapping_migrations SET record = $5, revision = revision + 1, finished_at = $6
		WHERE kb_id = `+ofBase+" AND id = $3 AND revision = $4 AND finished_at IS NULL",
		m.Ref.Tenant, m.Ref.ID, m.ID, m.Revision[0], body, finished)
	if err != nil {
		return faultOf(err, "storing a migration")
	}
	if tag.RowsAffected() == 0 {
		return engine.MigrationChanged()
	}
	m.Revision[0]++
	return nil
}
