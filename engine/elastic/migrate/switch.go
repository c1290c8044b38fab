package migrate

import (
	"context"
	"errors"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// switchStep makes the new index the true one. While it looks for the last time
// no write is under way: the old index takes none, and the gateways wait.
func (s *Steps) switchStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	if !m.Switched {
		if err := s.replay(ctx, m, env.Save); err != nil { // what is left is little
			return err
		}
		if err := s.lookAgain(ctx, m, env); err != nil {
			return err
		}
	}
	if err := s.point(ctx, m, m.FromIndex, m.ToIndex); err != nil {
		return err
	}
	if err := s.store.SaveKnowledgeBase(ctx, &m.Plan.Wanted); err != nil {
		return err
	}
	if err := s.unblock(ctx, m.FromIndex); err != nil {
		return err
	}
	// What was written meanwhile; without the old model it waits in the log.
	if err := s.replay(ctx, m, env.Save); err != nil && !fault.Is(err, fault.Unsupported) {
		return err
	}
	return nil
}

// lookAgain compares both indices while nothing is written, and notes the new
// one as the true one. The block is lifted when they disagree.
func (s *Steps) lookAgain(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) (err error) {
	if err := s.unchanged(ctx, m); err != nil {
		return err
	}
	if err := s.block(ctx, m.FromIndex); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = s.lift(ctx, m, err)
		}
	}()
	if err := s.replay(ctx, m, env.Save); err != nil {
		return err
	}
	if err := s.refreshIndex(ctx, m.FromIndex); err != nil {
		return err
	}
	if err := s.checkForeign(ctx, m); err != nil {
		return err
	}
	if err := s.checkCounts(ctx, m); err != nil {
		return err
	}
	m.Switched = true
	err = env.Save(ctx)
	// One that is to be cancelled was stored: others may go by it already, and what
	// they write is given back.
	m.Switched = err == nil || fault.Is(err, fault.Canceled)
	return err
}

// lift ends the block after a failure, also when the step's context has ended.
func (s *Steps) lift(ctx context.Context, m *engine.Migration, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	return errors.Join(cause, s.unblock(ctx, m.FromIndex))
}

// unchanged refuses the switch when somebody changed the old index's mapping.
func (s *Steps) unchanged(ctx context.Context, m *engine.Migration) error {
	live, err := s.liveIndices(ctx, m.FromIndex)
	if err != nil {
		return err
	}
	if liveDigest(m.FromIndex, live[m.FromIndex]) != m.Plan.Diff.Digest {
		return missed(m, "unchanged mapping",
			"the mapping of %s was changed since the migration began; cancel, and plan again", m.FromIndex)
	}
	passed(m, "unchanged mapping", "the mapping of %s is the one that the plan was made for", m.FromIndex)
	return nil
}

// point moves the alias in one step. It refuses an alias that somebody else
// pointed elsewhere.
func (s *Steps) point(ctx context.Context, m *engine.Migration, from, to string) error {
	name := s.store.Alias(&m.From)
	live, err := s.liveIndices(ctx, name)
	if err != nil {
		return err
	}
	switch {
	case len(live) != 1:
		return manyIndices(name, live)
	case live[to] != nil:
		return nil // done before
	case live[from] == nil:
		return fault.New(fault.Conflict,
			"alias %s points to neither %s nor %s; point it to %s by POST /_aliases, then resume", name, from, to, from)
	}
	return s.aliases(ctx,
		aliasAction{Remove: &aliasOf{Index: from, Alias: name}},
		aliasAction{Add: &aliasOf{Index: to, Alias: name, Write: new(false)}},
	)
}

// revertStep makes the old index the true one again: it first gets what was
// written since the switch.
func (s *Steps) revertStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) (err error) {
	if m.Task != "" {
		s.cancelTask(ctx, m.Task)
		m.Task = ""
	}
	if m.Switched {
		if err := s.giveBack(ctx, m, env); err != nil {
			return err
		}
	}
	if m.Log != "" { // fenced, so behind an alias
		if err := s.point(ctx, m, m.ToIndex, m.FromIndex); err != nil {
			return err
		}
		if err := s.unblock(ctx, m.FromIndex); err != nil {
			return err
		}
	}
	if m.ToIndex == "" {
		return nil
	}
	return s.store.SaveKnowledgeBase(ctx, &m.From)
}

// giveBack replays the log from the new index into the old one while the new one
// takes no writes.
func (s *Steps) giveBack(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) (err error) {
	if err := s.unblock(ctx, m.FromIndex); err != nil { // of a switch that was cut short
		return err
	}
	if err := s.replay(ctx, m, env.Save); err != nil {
		return err
	}
	if err := s.block(ctx, m.ToIndex); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			lifted, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
			defer cancel()
			err = errors.Join(err, s.unblock(lifted, m.ToIndex))
		}
	}()
	if err := s.replay(ctx, m, env.Save); err != nil {
		return err
	}
	if err := s.checkCounts(ctx, m); err != nil {
		return err
	}
	m.Switched = false
	return env.Save(ctx)
}

// returnStep ends the change log in favour of the old index.
func (s *Steps) returnStep(ctx context.Context, m *engine.Migration, _ engine.MigrationEnv) error {
	name := s.store.Alias(&m.From)
	live, err := s.liveIndices(ctx, name)
	if err != nil {
		return err
	}
	if _, plain := live[name]; plain { // not adopted yet
		if err := s.unblock(ctx, name); err != nil {
			return err
		}
	} else if err := s.aliases(ctx,
		aliasAction{Add: &aliasOf{Index: m.FromIndex, Alias: name, Write: new(true)}},
		aliasAction{Add: &aliasOf{Index: m.FromIndex, Alias: s.store.WriteAlias(&m.From), Write: new(true)}},
	); err != nil {
		return err
	}
	return s.drop(ctx, m, m.ToIndex, m.Log)
}

// finishStep ends the change log in favour of the new index.
func (s *Steps) finishStep(ctx context.Context, m *engine.Migration, _ engine.MigrationEnv) error {
	name := s.store.Alias(&m.From)
	live, err := s.liveIndices(ctx, name)
	if err != nil {
		return err
	}
	if len(live) != 1 || live[m.ToIndex] == nil {
		return manyIndices(name, live)
	}
	err = s.aliases(ctx,
		aliasAction{Add: &aliasOf{Index: m.ToIndex, Alias: name, Write: new(false)}},
		aliasAction{Add: &aliasOf{Index: m.ToIndex, Alias: s.store.WriteAlias(&m.Plan.Wanted), Write: new(true)}},
	)
	if err != nil {
		return err
	}
	if err := s.setIndex(ctx, m.ToIndex, map[string]any{"index.gc_deletes": nil}); err != nil {
		return err
	}
	return s.drop(ctx, m, m.FromIndex, m.Log)
}

func (s *Steps) drop(ctx context.Context, m *engine.Migration, indices ...string) error {
	for _, index := range indices {
		if index == "" {
			continue
		}
		if err := s.deleteIndex(ctx, index); err != nil {
			return err
		}
	}
	s.store.Forget(m.Ref)
	return nil
}
