package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

var _ engine.Migrator = (*Engine)(nil)

// A knowledge base gets another shape by a second one beside it, with a table, a memory and keyword indexes
// of its own, that is written to as any other. Rows never change, and their numbers only grow: a written
// chunk is a new row. So a walk through the old table by row is the copy and the replay of what was written
// meanwhile, and ids missing from the old table were deleted. The last catch-up and the switch happen while
// writers wait; searches go on in the memory of the old shape. A rollback is the same from the new table to
// the old one.
//
//	migration.go          the steps, and how shapes differ
//	migration_copy.go     the walk, the switch and its way back
//	migration_records.go  plans, migrations and their history

// The steps of a migration. Each may be repeated: it looks at what is there.
const (
	stepPut    = "put"             // change the schema in place
	stepCreate = engine.StepCreate // the new table
	stepCopy   = "copy"            // the chunks
	stepReplay = "replay"          // what was written and deleted since
	stepCheck  = "check"           // samples
	stepGate   = engine.StepGate   // relevance
	stepSwitch = engine.StepSwitch // the last catch-up, and the catalog row
	stepRevert = "revert"          // the switch, if there was one
	stepReturn = "return"          // drop the new table
	stepFinish = "finish"          // drop the old table
)

// directions lists the steps of each direction.
var directions = map[string][]string{
	engine.GoForward:  {stepCreate, stepCopy, stepReplay, stepCheck, stepGate, stepSwitch},
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
	m   *engine.Migration
	env engine.MigrationEnv
	// old and new are both shapes; new is nil until it is created.
	old, new *base
}

// MigrationStep implements engine.Migrator.
func (e *Engine) MigrationStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	do := map[string]func(*step, context.Context) error{
		stepPut: (*step).put, stepCreate: (*step).create, stepCopy: (*step).copy, stepReplay: (*step).replay,
		stepCheck: (*step).check, stepGate: (*step).gate, stepSwitch: (*step).turn,
		stepRevert: (*step).revert, stepReturn: (*step).giveUp, stepFinish: (*step).finish,
	}[m.OwnStep()]
	if do == nil {
		return fault.New(fault.Internal, "a migration has no step %q", m.Step)
	}
	s, err := e.stepOf(ctx, m, env)
	if err != nil {
		return err
	}
	return sqlite.Fault(do(s, ctx), "%s of knowledge base %q", m.Step, m.Ref.ID)
}

// stepOf reads the state of the knowledge base. Its catalog row is authoritative, even if the process died
// between the switch and saving the migration.
func (e *Engine) stepOf(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) (*step, error) {
	live, err := e.base(m.Ref)
	if err != nil {
		return nil, err
	}
	s := &step{Engine: e, m: m, env: env, old: live}
	switch live.table.name {
	case m.ToIndex:
		m.Switched, s.new = true, live
		s.old, err = e.other(ctx, m.FromIndex, m.From)
	case m.FromIndex:
		m.Switched = false
		if m.ToIndex != "" {
			s.new, err = e.other(ctx, m.ToIndex, m.Plan.Wanted)
		}
	default:
		err = fault.New(fault.Conflict, "the table of knowledge base %q is %s, and the migration goes from %s to %s",
			m.Ref.ID, live.table.name, m.FromIndex, m.ToIndex)
	}
	return s, err
}

// other returns the inactive shape.
func (e *Engine) other(ctx context.Context, table string, kb engine.KnowledgeBase) (*base, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.others[kb.Ref]; b != nil && b.table.name == table {
		return b, nil
	}
	found := stored{kb: kb}
	if _, err := fmt.Sscanf(table, tablePrefix+"%d", &found.number); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "the table %q of a migration", table)
	}
	err := e.files.readers.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)", table).Scan(&found.made)
	if err != nil {
		return nil, err
	}
	b := newBase(e, found)
	e.others[kb.Ref] = b
	return b, nil
}

// create reserves a number for the new table; the first write creates it.
func (s *step) create(ctx context.Context) error {
	if _, err := s.old.ready(ctx); err != nil {
		return err
	}
	if n := s.old.damage.count(); n > 0 {
		return fault.New(fault.Conflict, "%d chunks of knowledge base %q are damaged and would be lost; "+
			"mend it first (hybridge kb check --repair)", n, s.m.Ref.ID)
	}
	if s.m.ToIndex == "" {
		return s.reserve(ctx)
	}
	s.m.Cursor, s.m.Progress.Done = "", 0
	return s.drop(ctx, s.new)
}

func (s *step) reserve(ctx context.Context) error {
	err := s.files.write(ctx, func(tx *sql.Tx) error {
		// Inserting and deleting a row reserves its number forever.
		var number int64
		err := tx.QueryRowContext(ctx,
			"INSERT INTO knowledge_bases (tenant, id, definition) VALUES ('', '', '') RETURNING number").Scan(&number)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM knowledge_bases WHERE number = ?", number); err != nil {
			return err
		}
		s.m.ToIndex = fmt.Sprint(tablePrefix, number)
		return tx.QueryRowContext(ctx, `SELECT 1 + max(?, COALESCE(MAX(record ->> '$.plan.schema.generation'), 0))
			FROM mapping_migrations WHERE tenant = ? AND kb = ?`, s.m.From.Generation, s.m.Ref.Tenant, s.m.Ref.ID).
			Scan(&s.m.Plan.Wanted.Generation)
	})
	if err != nil {
		s.m.ToIndex = ""
		return err
	}
	return s.env.Save(ctx)
}

// put changes the schema of the existing table: the memory is reloaded while writers wait.
func (s *step) put(ctx context.Context) error {
	old := s.old
	if err := old.save(); err != nil {
		return err
	}
	old.mu.Lock()
	defer old.mu.Unlock()
	made := newBase(s.Engine, stored{number: old.table.number, made: old.table.made.Load(), kb: s.m.Plan.Wanted})
	if err := made.loadOnce(ctx); err != nil {
		return err
	}
	definition, err := engine.EncodeStored(s.m.Plan.Wanted)
	if err != nil {
		return err
	}
	err = s.files.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE knowledge_bases SET definition = ?, generation = generation + 1 "+
			"WHERE number = ?", string(definition), old.table.number)
		return err
	})
	if err == nil {
		s.exchange(old, made)
	}
	return err
}

// exchange replaces a base by another. The caller holds the mutex of the old one.
func (e *Engine) exchange(old, made *base) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bases[old.kb.Ref] = made
	old.moved.Store(true)
	old.forget()
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
	if s.new == nil || s.m.Switched {
		return nil
	}
	return s.drop(ctx, s.new)
}

// finish drops the old table.
func (s *step) finish(ctx context.Context) error {
	if !s.m.Switched {
		return fault.New(fault.Conflict, "table %s is in use; it cannot be dropped", s.old.table.name)
	}
	return s.drop(ctx, s.old)
}

// drop removes an inactive shape.
func (e *Engine) drop(ctx context.Context, b *base) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := e.files.write(ctx, func(tx *sql.Tx) error { return b.table.drop(ctx, tx) })
	if err != nil {
		return err
	}
	e.forgetBase(b)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.others[b.kb.Ref] == b {
		delete(e.others, b.kb.Ref)
	}
	return nil
}

// forgetBase drops the memory and the stored indexes of a base whose table is gone. The caller
// holds its mutex.
func (e *Engine) forgetBase(b *base) {
	b.gone = true
	b.forget()
	if err := e.indexes.remove(b.table.number, b.texts); err != nil {
		e.log.Warn("BM25 indexes of a deleted knowledge base not removed; the next start removes them",
			"tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "error", err)
	}
}

// otherShape returns the inactive shape kept by a migration; nil without one.
func (e *Engine) otherShape(ctx context.Context, live *base) (*base, error) {
	m, err := e.Migration(ctx, live.kb.Ref)
	if fault.Is(err, fault.NotFound) || err == nil && m.ToIndex == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if live.table.name == m.ToIndex {
		return e.other(ctx, m.FromIndex, m.From)
	}
	return e.other(ctx, m.ToIndex, m.Plan.Wanted)
}

// errMoved says that the shape was just switched, so that a write must be retried on the new one.
var errMoved = errors.New("the knowledge base has another shape now")

// shape describes the changeable parts of a knowledge base's storage.
type shape struct {
	Table   string            `json:"table,omitempty"`
	Columns map[string]string `json:"columns"` // of vectors: their types
	Indexes []string          `json:"indexes"` // text fields and parts with a keyword index
}

func shapeOf(kb *engine.KnowledgeBase, table string) shape {
	s := shape{Table: table, Columns: map[string]string{}, Indexes: kb.StoredTexts()}
	for _, v := range tableOf(0, kb).vectors {
		s.Columns[v] = fmt.Sprintf("float32[%d]", kb.Dimensions)
	}
	return s
}

// DesiredMapping implements engine.Migrator.
func (e *Engine) DesiredMapping(_ context.Context, kb engine.KnowledgeBase) (json.RawMessage, error) {
	return json.Marshal(shapeOf(&kb, ""))
}

// LiveMapping implements engine.Migrator.
func (e *Engine) LiveMapping(_ context.Context, kb engine.KnowledgeBase) (json.RawMessage, error) {
	b, err := e.base(kb.Ref)
	if err != nil {
		return nil, err
	}
	return json.Marshal(shapeOf(&b.kb, b.table.name))
}

// copyRates holds chunks per second by copy method, measured on two cores with 384
// dimensions: enough to tell minutes from hours.
var copyRates = map[string]float64{engine.CopyRebuild: 3000, engine.CopyEmbed: 15}

// DiffMapping implements engine.Migrator. The table always matches the schema, so schemas are compared.
func (e *Engine) DiffMapping(ctx context.Context, kb, wanted engine.KnowledgeBase) (*engine.MappingDiff, error) {
	if wanted.VectorIndex != "" {
		return nil, fault.Invalid("vector_index", wanted.VectorIndex, "left out: the embedded engine compares all vectors")
	}
	if err := wanted.CheckOwned(e.Name(), e.Capabilities()); err != nil {
		return nil, err
	}
	b, s, err := e.snapshot(ctx, &engine.KnowledgeBase{Ref: kb.Ref})
	if err != nil {
		return nil, err
	}
	if b.kb.Generation != kb.Generation {
		return nil, fault.New(fault.Conflict, "knowledge base %q has changed a moment ago; ask again", kb.ID)
	}
	d := &engine.MappingDiff{
		KnowledgeBase: kb.ID, Index: b.table.name, Class: engine.ChangeNone, Changes: []engine.MappingChange{},
		Estimate: engine.MappingEstimate{Documents: int(s.live.GetCardinality()), Bytes: s.bytes},
	}
	d.CompareColumns(shapeOf(&b.kb, "").Columns, shapeOf(&wanted, "").Columns)
	d.CompareEmbedding(&b.kb, &wanted)
	d.CompareBoosts(&b.kb, &wanted, engine.ChangeReindex)
	d.SettleCopy(&b.kb, &wanted, copyRates)
	return d, d.Seal(&b.kb, b.table.name)
}
