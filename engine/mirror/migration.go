package mirror

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

var _ engine.Migrator = (*Set)(nil)

// A knowledge base on several engines changes shape on each by that engine's own steps, which are
// named engine/step. All fill their new storage, one after the other; then all switch. Between two
// switches each engine gives what is written the vectors of its own shape, so nothing need wait.
// The reference's record is the migration that is shown; the others keep a part of it, with the
// same id, where they would keep one of their own.

// migrator is a member that can change shapes.
func migrator(e engine.Engine) (engine.Migrator, error) {
	m, ok := e.(engine.Migrator)
	if !ok {
		return nil, fault.New(fault.Unsupported, "engine %s cannot change the shape of a knowledge base", e.Name())
	}
	return m, nil
}

func (s *Set) reference() (engine.Migrator, error) { return migrator(s.members[0]) }

// KnowledgeBase implements engine.Finder: as the reference has it.
func (s *Set) KnowledgeBase(ctx context.Context, ref engine.Ref) (engine.KnowledgeBase, error) {
	m, err := s.reference()
	if err != nil {
		return engine.KnowledgeBase{}, err
	}
	return m.KnowledgeBase(ctx, ref)
}

// DesiredMapping implements engine.Migrator: one by engine.
func (s *Set) DesiredMapping(ctx context.Context, kb engine.KnowledgeBase) (json.RawMessage, error) {
	return s.mappings(kb, func(m engine.Migrator, kb engine.KnowledgeBase) (json.RawMessage, error) {
		return m.DesiredMapping(ctx, kb)
	})
}

// LiveMapping implements engine.Migrator: one by engine.
func (s *Set) LiveMapping(ctx context.Context, kb engine.KnowledgeBase) (json.RawMessage, error) {
	return s.mappings(kb, func(m engine.Migrator, kb engine.KnowledgeBase) (json.RawMessage, error) {
		return m.LiveMapping(ctx, kb)
	})
}

func (s *Set) mappings(
	kb engine.KnowledgeBase, of func(engine.Migrator, engine.KnowledgeBase) (json.RawMessage, error),
) (json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	for _, e := range s.members {
		m, err := migrator(e)
		if err != nil {
			return nil, err
		}
		if all[e.Name()], err = of(m, on(kb, e)); err != nil {
			return nil, err
		}
	}
	return json.Marshal(all)
}

// DiffMapping implements engine.Migrator. Where one engine needs a new storage all get one, so that
// all can go back.
func (s *Set) DiffMapping(ctx context.Context, kb, wanted engine.KnowledgeBase) (*engine.MappingDiff, error) {
	whole := &engine.MappingDiff{
		KnowledgeBase: kb.ID, Class: engine.ChangeNone, Changes: []engine.MappingChange{},
		Engines: map[string]*engine.MappingDiff{},
	}
	digests := make([]string, len(s.members))
	for i, e := range s.members {
		m, err := migrator(e)
		if err != nil {
			return nil, err
		}
		own, err := m.KnowledgeBase(ctx, kb.Ref)
		if err != nil {
			return nil, err
		}
		if i == 0 && own.Generation != kb.Generation {
			return nil, fault.New(fault.Conflict, "knowledge base %q has changed a moment ago; ask again", kb.ID)
		}
		d, err := m.DiffMapping(ctx, own, shaped(own, wanted))
		if err != nil {
			return nil, err
		}
		whole.Engines[e.Name()], digests[i] = d, d.Digest
		whole.Index = cmp.Or(whole.Index, d.Index)
		for _, c := range d.Changes {
			c.Path = e.Name() + "/" + c.Path
			whole.Add(c)
		}
		whole.Estimate.Documents = max(whole.Estimate.Documents, d.Estimate.Documents)
		whole.Estimate.Bytes += d.Estimate.Bytes
	}
	for _, e := range s.members {
		d := whole.Engines[e.Name()]
		if whole.Class != engine.ChangeConflict {
			d.Class = whole.Class
		}
		if d.Class == engine.ChangeReindex {
			d.Copy = cmp.Or(d.Copy, engine.CopyRebuild)
		}
		whole.Estimate.Minutes += d.Estimate.Minutes
		if whole.Copy = cmp.Or(whole.Copy, d.Copy); d.Copy == engine.CopyEmbed {
			whole.Copy = d.Copy // the most expensive
		}
	}
	return whole, whole.Seal(digests)
}

// shaped returns the wanted schema for one engine.
func shaped(own, wanted engine.KnowledgeBase) engine.KnowledgeBase {
	wanted.Engine, wanted.Generation = own.Engine, own.Generation
	return wanted
}

// SavePlan implements engine.Migrator.
func (s *Set) SavePlan(ctx context.Context, plan *engine.MappingPlan) error {
	m, err := s.reference()
	if err != nil {
		return err
	}
	return m.SavePlan(ctx, plan)
}

// TakePlan implements engine.Migrator.
func (s *Set) TakePlan(ctx context.Context, ref engine.Ref, id string) (*engine.MappingPlan, error) {
	m, err := s.reference()
	if err != nil {
		return nil, err
	}
	return m.TakePlan(ctx, ref, id)
}

// StartMigration implements engine.Migrator.
func (s *Set) StartMigration(ctx context.Context, migration *engine.Migration) error {
	m, err := s.reference()
	if err != nil {
		return err
	}
	return m.StartMigration(ctx, migration)
}

// Migration implements engine.Migrator.
func (s *Set) Migration(ctx context.Context, ref engine.Ref) (*engine.Migration, error) {
	m, err := s.reference()
	if err != nil {
		return nil, err
	}
	return m.Migration(ctx, ref)
}

// Migrations implements engine.Migrator.
func (s *Set) Migrations(ctx context.Context) ([]engine.Migration, error) {
	m, err := s.reference()
	if err != nil {
		return nil, err
	}
	return m.Migrations(ctx)
}

// SaveMigration implements engine.Migrator.
func (s *Set) SaveMigration(ctx context.Context, migration *engine.Migration) error {
	m, err := s.reference()
	if err != nil {
		return err
	}
	return m.SaveMigration(ctx, migration)
}

// MigrationHistory implements engine.Migrator.
func (s *Set) MigrationHistory(ctx context.Context, ref engine.Ref, limit int) ([]engine.Migration, error) {
	m, err := s.reference()
	if err != nil {
		return nil, err
	}
	return m.MigrationHistory(ctx, ref, limit)
}

// EndMigration implements engine.Migrator. A part that cannot be ended does no harm: the next
// migration ends it.
func (s *Set) EndMigration(ctx context.Context, migration *engine.Migration) error {
	m, err := s.reference()
	if err == nil {
		err = m.EndMigration(ctx, migration)
	}
	if err != nil {
		return err
	}
	for _, e := range s.members[1:] {
		if err := endPart(ctx, e, migration); err != nil {
			s.mirror.log.WarnContext(ctx, "the part of a migration is not ended", "knowledge_base", migration.Ref.ID,
				"engine", e.Name(), "error", err)
		}
	}
	return nil
}

func endPart(ctx context.Context, e engine.Engine, of *engine.Migration) error {
	m, err := migrator(e)
	if err != nil {
		return err
	}
	part, err := m.Migration(ctx, of.Ref)
	if fault.Is(err, fault.NotFound) || err == nil && part.ID != of.ID {
		return nil
	}
	if err != nil {
		return err
	}
	part.State, part.FinishedAt = of.State, of.FinishedAt
	return m.EndMigration(ctx, part)
}

// MigrationSteps implements engine.Migrator. Going back, all engines take a step before the next.
func (s *Set) MigrationSteps(m *engine.Migration) []string {
	var steps, last []string
	back := make([][]string, len(s.members))
	for i := range s.members {
		e := s.members[len(s.members)-1-i] // the reference last: the catalog shows what it has
		member, err := migrator(e)
		if err != nil {
			return nil // no plan was made then
		}
		part := *m
		part.Plan.Wanted.Engine = e.Name()
		for _, step := range member.MigrationSteps(&part) {
			name := e.Name() + "/" + step
			switch {
			case m.Direction != engine.GoForward:
				back[i] = append(back[i], name)
			case step == engine.StepSwitch:
				last = append(last, name)
			case step != engine.StepGate || e == s.members[0]: // one comparison of the shapes is enough
				steps = append(steps, name)
			}
		}
	}
	for at := range longest(back) {
		for _, each := range back {
			if at < len(each) {
				steps = append(steps, each[at])
			}
		}
	}
	return append(steps, last...)
}

func longest(all [][]string) int {
	n := 0
	for _, each := range all {
		n = max(n, len(each))
	}
	return n
}

// MigrationStep implements engine.Migrator.
func (s *Set) MigrationStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	name, step, _ := strings.Cut(m.Step, "/")
	e, ok := s.Member(name)
	if !ok {
		return fault.New(fault.Internal, "a migration has no step %q", m.Step)
	}
	member, err := migrator(e)
	if err != nil {
		return err
	}
	if e != s.members[0] {
		return s.partStep(ctx, member, m, env)
	}
	if step == engine.StepCreate { // the progress was that of another engine
		m.Progress = engine.MigrationProgress{Throttle: m.Progress.Throttle}
	}
	return member.MigrationStep(ctx, m, env)
}

// partStep does a step on an engine that is not the reference. While it runs the migration shows
// its progress.
func (s *Set) partStep(
	ctx context.Context, member engine.Migrator, m *engine.Migration, env engine.MigrationEnv,
) error {
	part, err := partOf(ctx, member, m)
	if err != nil || part == nil {
		return err
	}
	part.State, part.Direction, part.Step, part.Owner, part.Beat = m.State, m.Direction, m.Step, m.Owner, m.Beat
	part.Progress.Throttle = m.Progress.Throttle
	own := m.Progress
	err = member.MigrationStep(ctx, part, engine.MigrationEnv{Save: func(ctx context.Context) error {
		if err := member.SaveMigration(ctx, part); err != nil {
			return err
		}
		m.Progress = part.Progress
		err := env.Save(ctx)
		part.Progress.Throttle = m.Progress.Throttle
		return err
	}})
	own.Throttle = m.Progress.Throttle
	m.Progress = own
	for _, c := range part.Checks {
		c.Name = part.Plan.Wanted.Engine + "/" + c.Name
		m.Checks = slices.DeleteFunc(m.Checks, func(old engine.MigrationCheck) bool { return old.Name == c.Name })
		m.Checks = append(m.Checks, c)
	}
	return cmp.Or(err, member.SaveMigration(ctx, part))
}

// partOf returns an engine's part of a migration; nil if there is nothing to roll back.
func partOf(ctx context.Context, member engine.Migrator, m *engine.Migration) (*engine.Migration, error) {
	part, err := member.Migration(ctx, m.Ref)
	switch {
	case err == nil && part.ID == m.ID:
		return part, nil
	case err == nil: // of one that ended while this engine was away
		part.FinishedAt = m.UpdatedAt
		if err := member.EndMigration(ctx, part); err != nil {
			return nil, err
		}
	case !fault.Is(err, fault.NotFound):
		return nil, err
	}
	if m.Direction != engine.GoForward {
		return nil, nil
	}
	own, err := member.KnowledgeBase(ctx, m.Ref)
	if err != nil {
		return nil, err
	}
	part = &engine.Migration{
		ID: m.ID, Ref: m.Ref, State: m.State, Direction: m.Direction, Step: m.Step, Plan: m.Plan, From: own,
		StartedBy: m.StartedBy, StartedAt: m.StartedAt, UpdatedAt: m.UpdatedAt, Owner: m.Owner, Beat: m.Beat,
	}
	part.Plan.Wanted = shaped(own, m.Plan.Wanted)
	part.FromIndex = part.Diff().Index
	return part, member.StartMigration(ctx, part)
}
