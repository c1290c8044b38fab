package postgres

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

var _ engine.Migrator = (*Engine)(nil)

// A table gets another shape by a new one beside it. Rows never change: a written chunk is
// a new row of a higher generation. So a walk through the old table by generation and row
// is the copy and the replay of what was written meanwhile, and rows missing from the old
// table were deleted. The last catch-up and the switch are one transaction, under the lock
// that writers take. A rollback is the same from the new table to the old one: nothing else
// needs to be logged.
//
//	migration.go          the steps
//	migration_copy.go     the walk, its check, the switch and its way back
//	migration_shape.go    how shapes differ; requests that were made for another shape
//	migration_records.go  plans, migrations and their history

// The steps of a migration. Each may be repeated: it looks at what is there.
const (
	stepPut    = "put"             // change indexes and schema in place
	stepCreate = engine.StepCreate // the new table
	stepCopy   = "copy"            // the chunks, and later writes
	stepIndex  = "index"           // the vectors of the new table
	stepReplay = "replay"          // what was written and deleted since
	stepCheck  = "check"           // samples
	stepGate   = engine.StepGate   // relevance
	stepSwitch = engine.StepSwitch // the last catch-up, and the knowledge base's row
	stepRevert = "revert"          // the switch, if there was one
	stepReturn = "return"          // drop the new table
	stepFinish = "finish"          // drop the old table
)

// directions lists the steps of each direction.
var directions = map[string][]string{
	engine.GoForward: {
		stepCreate, stepCopy, stepIndex, stepReplay, stepCheck, stepGate, stepSwitch,
	},
	engine.GoCancel:   {stepRevert, stepReturn},
	engine.GoRollback: {stepRevert, stepReturn},
	engine.GoCleanup:  {stepFinish},
}

// MigrationSteps implements engine.Migrator.
func (e *Engine) MigrationSteps(m *engine.Migration) []string {
	if m.Direction == engine.GoForward && m.Diff().Class != engine.ChangeReindex {
		return []string{stepPut}
	}
	return directions[m.Direction]
}

// step is a step in progress.
type step struct {
	*Engine
	m      *engine.Migration
	env    engine.MigrationEnv
	number int64 // of the knowledge base
	// old and new are both shapes; the switch renames the old table.
	old, new *base
}

// MigrationStep implements engine.Migrator.
func (e *Engine) MigrationStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	do := map[string]func(*step, context.Context) error{
		stepPut: (*step).put, stepCreate: (*step).create, stepCopy: (*step).copy, stepIndex: (*step).index,
		stepReplay: (*step).replay, stepCheck: (*step).check, stepGate: (*step).gate, stepSwitch: (*step).turn,
		stepRevert: (*step).revert, stepReturn: (*step).giveUp, stepFinish: (*step).finish,
	}[m.OwnStep()]
	if do == nil {
		return fault.New(fault.Internal, "a migration has no step %q", m.Step)
	}
	s, err := e.stepOf(ctx, m, env)
	if err != nil {
		return err
	}
	return faultOf(do(s, ctx), "%s of knowledge base %q", m.Step, m.Ref.ID)
}

// stepOf reads the state of the knowledge base. Its row is authoritative, even if the
// gateway died between the switch and saving the migration.
func (e *Engine) stepOf(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) (*step, error) {
	var number int64
	var definition []byte
	rows, err := e.pool.Query(ctx, "SELECT number, definition FROM knowledge_bases WHERE tenant = $1 AND id = $2",
		m.Ref.Tenant, m.Ref.ID)
	if err != nil {
		return nil, faultOf(err, "reading knowledge base %q", m.Ref.ID)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*base, error) {
		if err := row.Scan(&number, &definition); err != nil {
			return nil, err
		}
		return decodeBase(number, definition)
	})
	if err != nil {
		return nil, faultOf(err, "reading knowledge base %q", m.Ref.ID)
	}
	if len(found) == 0 {
		return nil, notFound(m.Ref)
	}
	s := &step{Engine: e, m: m, env: env, number: number}
	s.old, s.new = newBase(number, m.From), newBase(number, m.Plan.Wanted)
	switch live := found[0].kb.Generation; {
	case m.ToIndex == "" || live == m.From.Generation:
		m.Switched = false
	case live == m.Plan.Wanted.Generation:
		m.Switched = true
		s.old.table.name = kept(s.old.table.name)
	default:
		return nil, fault.New(fault.Conflict, "the table of knowledge base %q is of generation %d, and the migration goes "+
			"from %d to %d", m.Ref.ID, live, m.From.Generation, m.Plan.Wanted.Generation)
	}
	return s, nil
}

// kept is the name of an old table after the switch. A gateway unaware of the switch finds
// no table of the old name, and looks again.
func kept(table string) string { return table + "_kept" }

// create creates the new, empty table.
func (s *step) create(ctx context.Context) error {
	if s.m.ToIndex == "" {
		err := s.pool.QueryRow(ctx, `SELECT 1 + GREATEST($2::BIGINT,
			MAX((record -> 'plan' -> 'schema' ->> 'generation')::BIGINT)) FROM mapping_migrations WHERE kb_id = $1`,
			s.number, s.m.From.Generation).Scan(&s.m.Plan.Wanted.Generation)
		if err != nil {
			return err
		}
		s.new = newBase(s.number, s.m.Plan.Wanted)
		s.m.ToIndex = s.new.table.name
		if err := s.env.Save(ctx); err != nil {
			return err
		}
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := s.own(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DROP TABLE IF EXISTS "+s.new.table.name); err != nil {
			return err
		}
		s.m.Cursor, s.m.Progress.Done = "", 0
		return s.new.table.create(ctx, tx)
	})
}

// index builds the vector indexes of the new table if it is large.
func (s *step) index(ctx context.Context) error {
	state, err := s.old.state(ctx, s.pool)
	if err != nil {
		return err
	}
	for i, field := range s.new.table.vectors {
		usable, err := s.new.usableIndexes(ctx, s.pool, 0)
		if err != nil {
			return err
		}
		if usable[i] || !s.new.wantsIndex() || state.chunks <= int64(s.options.ExactLimit) {
			continue
		}
		if err := s.beating(ctx, func(ctx context.Context) error { return s.buildIndex(ctx, s.new, field) }); err != nil {
			return err
		}
	}
	return nil
}

// beatEvery is the interval of heartbeats during a long statement.
const beatEvery = 3 * time.Second

// beating saves the migration every few seconds while do runs; it cancels do if the
// migration was cancelled or taken over by another gateway.
func (s *step) beating(ctx context.Context, do func(context.Context) error) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- do(working) }()
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			if err := s.env.Save(ctx); err != nil {
				stop()
				<-done //nolint:errcheck // it was ended by us
				return err
			}
		}
	}
}

// put builds and drops indexes without blocking writers, then changes the schema.
func (s *step) put(ctx context.Context) error {
	target := s.new
	for _, c := range s.m.Diff().Changes {
		name, isIndex := strings.CutPrefix(c.Path, "indexes.")
		if !isIndex {
			continue
		}
		do := func(ctx context.Context) error { return s.putIndex(ctx, target, name, c.Desired != nil) }
		if err := s.beating(ctx, do); err != nil {
			return err
		}
	}
	definition, err := engine.EncodeStored(target.kb)
	if err != nil {
		return err
	}
	_, err = s.pool.Exec(ctx, "UPDATE knowledge_bases SET definition = $2 WHERE number = $1", s.number, definition)
	s.forgetAny(s.m.Ref)
	return err
}

// putIndex rebuilds or drops one index.
func (s *step) putIndex(ctx context.Context, target *base, name string, wanted bool) error {
	if column, ok := strings.CutSuffix(name, "_hnsw"); ok && wanted {
		return s.buildIndex(ctx, target, column)
	}
	full := target.table.name + "_" + name
	statements := []string{"DROP INDEX CONCURRENTLY IF EXISTS " + pgx.Identifier{full}.Sanitize()}
	definitions := target.table.definition()
	at := slices.IndexFunc(definitions, func(sql string) bool { return strings.HasPrefix(sql, "CREATE INDEX "+full+" ") })
	if wanted && at >= 0 {
		statements = append(statements, strings.Replace(definitions[at], "CREATE INDEX", "CREATE INDEX CONCURRENTLY", 1))
	}
	for _, statement := range statements {
		if _, err := s.pool.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// forgetAny makes the next use of a knowledge base read its definition again.
func (e *Engine) forgetAny(ref engine.Ref) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.bases, ref)
}

// gate runs the relevance gate; meanwhile the new shape can be searched by its generation.
func (s *step) gate(ctx context.Context) error {
	if s.env.Gate == nil {
		return nil
	}
	s.shadows.Store(s.m.Ref, s.new)
	defer s.shadows.Delete(s.m.Ref)
	return s.env.Gate(ctx)
}

// giveUp drops the new table, which is not active.
func (s *step) giveUp(ctx context.Context) error {
	if s.m.ToIndex == "" || s.m.Switched {
		return nil
	}
	return s.dropTable(ctx, s.new.table.name)
}

// finish drops the old table.
func (s *step) finish(ctx context.Context) error {
	if !s.m.Switched {
		return fault.New(fault.Conflict, "table %s is in use; it cannot be dropped", s.old.table.name)
	}
	return s.dropTable(ctx, s.old.table.name)
}

func (s *step) dropTable(ctx context.Context, name string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := s.own(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "DROP TABLE IF EXISTS "+name)
		return err
	})
}
