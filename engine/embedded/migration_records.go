package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// SavePlan implements engine.Migrator.
func (e *Engine) SavePlan(ctx context.Context, plan *engine.MappingPlan) error {
	body, err := json.Marshal(plan)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "writing a plan")
	}
	return e.files.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO mapping_plans (tenant, kb, id, body) VALUES (?, ?, ?, ?)",
			plan.Ref.Tenant, plan.Ref.ID, plan.ID, string(body))
		return err
	})
}

// TakePlan implements engine.Migrator.
func (e *Engine) TakePlan(ctx context.Context, ref engine.Ref, id string) (plan *engine.MappingPlan, err error) {
	err = e.files.write(ctx, func(tx *sql.Tx) error {
		var body []byte
		var taken bool
		err := tx.QueryRowContext(ctx, "SELECT body, taken FROM mapping_plans WHERE tenant = ? AND kb = ? AND id = ?",
			ref.Tenant, ref.ID, id).Scan(&body, &taken)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return engine.NoPlan()
		case err != nil:
			return err
		case taken:
			return engine.PlanTaken()
		}
		if plan, err = engine.DecodePlan(ref, body); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE mapping_plans SET taken = 1 WHERE tenant = ? AND kb = ? AND id = ?",
			ref.Tenant, ref.ID, id)
		return err
	})
	return plan, err
}

// StartMigration implements engine.Migrator.
func (e *Engine) StartMigration(ctx context.Context, m *engine.Migration) error {
	body, err := engine.EncodeMigration(m)
	if err != nil {
		return err
	}
	return e.files.write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, "INSERT INTO mapping_migrations (tenant, kb, id, record) VALUES (?, ?, ?, ?) "+
			"ON CONFLICT DO NOTHING", m.Ref.Tenant, m.Ref.ID, m.ID, string(body))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(engine.MigrationBegun(m.Ref), err)
		}
		m.Revision = [2]int64{1}
		return nil
	})
}

// migrationsWhere reads migrations.
func (e *Engine) migrationsWhere(ctx context.Context, condition string, args ...any) ([]engine.Migration, error) {
	rows, err := e.files.readers.QueryContext(ctx,
		"SELECT record, revision FROM mapping_migrations WHERE "+condition, args...)
	if err != nil {
		return nil, sqlite.Fault(err, "reading migrations")
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	list := []engine.Migration{}
	for rows.Next() {
		var body []byte
		var revision int64
		if err := rows.Scan(&body, &revision); err != nil {
			return nil, sqlite.Fault(err, "reading migrations")
		}
		m, err := engine.DecodeMigration(body)
		if err != nil {
			return nil, err
		}
		m.Revision = [2]int64{revision}
		list = append(list, *m)
	}
	return list, sqlite.Fault(rows.Err(), "reading migrations")
}

// Migration implements engine.Migrator.
func (e *Engine) Migration(ctx context.Context, ref engine.Ref) (*engine.Migration, error) {
	list, err := e.migrationsWhere(ctx, "tenant = ? AND kb = ? AND finished IS NULL", ref.Tenant, ref.ID)
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
	return e.migrationsWhere(ctx, "finished IS NULL ORDER BY tenant, kb")
}

// MigrationHistory implements engine.Migrator. It is deleted with the knowledge base.
func (e *Engine) MigrationHistory(ctx context.Context, ref engine.Ref, limit int) ([]engine.Migration, error) {
	return e.migrationsWhere(ctx, "tenant = ? AND kb = ? AND finished IS NOT NULL ORDER BY finished DESC LIMIT ?",
		ref.Tenant, ref.ID, max(limit, 0))
}

// SaveMigration implements engine.Migrator.
func (e *Engine) SaveMigration(ctx context.Context, m *engine.Migration) error {
	return e.saveMigration(ctx, m, nil)
}

// EndMigration implements engine.Migrator.
func (e *Engine) EndMigration(ctx context.Context, m *engine.Migration) error {
	return e.saveMigration(ctx, m, m.FinishedAt.UnixMilli())
}

func (e *Engine) saveMigration(ctx context.Context, m *engine.Migration, finished any) error {
	err := e.files.write(ctx, func(tx *sql.Tx) error { return keepMigration(ctx, tx, m, finished) })
	if err == nil {
		m.Revision[0]++
	}
	return err
}

// keepMigration stores a migration unless it was changed since it was read; the caller raises its revision
// after the commit.
func keepMigration(ctx context.Context, tx *sql.Tx, m *engine.Migration, finished any) error {
	body, err := engine.EncodeMigration(m)
	if err != nil {
		return err
	}
	done, err := tx.ExecContext(ctx, "UPDATE mapping_migrations SET record = ?, revision = revision + 1, finished = ? "+
		"WHERE tenant = ? AND kb = ? AND id = ? AND revision = ? AND finished IS NULL",
		string(body), finished, m.Ref.Tenant, m.Ref.ID, m.ID, m.Revision[0])
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(engine.MigrationChanged(), err)
	}
	return nil
}

// forgetMigrations deletes plans, migrations and history of a knowledge base.
func forgetMigrations(ctx context.Context, tx *sql.Tx, ref engine.Ref) error {
	for _, table := range []string{"mapping_plans", "mapping_migrations"} {
		_, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE tenant = ? AND kb = ?", ref.Tenant, ref.ID)
		if err != nil {
			return err
		}
	}
	return nil
}
