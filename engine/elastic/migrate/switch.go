package migrate

import (
	"context"
	"errors"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// switchStep makes the new index the current one. During its last checks the old index
// takes no writes, and the gateways wait.
func (s *Steps) switchStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	if !m.Switched {
		if err := s.replay(ctx, m, env.Save); err != nil { // so that little is left to do under the block
			return err
		}
		if err := s.verifyAndSwitch(ctx, m, env); err != nil {
			return err
		}
	}
	if err := s.moveAlias(ctx, m, m.FromIndex, m.ToIndex); err != nil {
		return err
	}
	if err := s.store.SaveKnowledgeBase(ctx, &m.Plan.Wanted); err != nil {
		return err
	}
	if err := s.unblock(ctx, m.FromIndex); err != nil {
		return err
	}
	m.MovedAt = time.Now()
	// Copy back what was written meanwhile. It stays in the log if the old model is not configured.
	if err := s.replay(ctx, m, env.Save); err != nil && !fault.Is(err, fault.Unsupported) {
		return err
	}
	return nil
}

// verifyAndSwitch compares both indices while nothing is written, and notes the new
// one as the current one. The block is lifted when they differ.
func (s *Steps) verifyAndSwitch(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) (err error) {
	if err := s.checkUnchanged(ctx, m); err != nil {
		return err
	}
	if err := s.block(ctx, m.FromIndex); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = s.unblockAfter(ctx, m.FromIndex, err)
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
	// A migration that is to be cancelled has been saved as switched all the same: others may
	// write to the new index already, and the revert copies that back.
	m.Switched = err == nil || fault.Is(err, fault.Canceled)
	return err
}

// unblockAfter lifts the block after a failure, even if the step's context has ended.
func (s *Steps) unblockAfter(ctx context.Context, index string, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	return errors.Join(cause, s.unblock(ctx, index))
}

// checkUnchanged refuses the switch when somebody changed the old index's mapping.
func (s *Steps) checkUnchanged(ctx context.Context, m *engine.Migration) error {
	live, err := s.liveIndices(ctx, m.FromIndex)
	if err != nil {
		return err
	}
	if liveDigest(m.FromIndex, live[m.FromIndex]) != m.Diff().Digest {
		return m.Miss("unchanged mapping",
			"the mapping of %s was changed since the migration began; cancel, and plan again", m.FromIndex)
	}
	m.Pass("unchanged mapping", "the mapping of %s is the one that the plan was made for", m.FromIndex)
	return nil
}

// moveAlias moves the alias in one step. It refuses an alias that somebody else has pointed
// elsewhere.
func (s *Steps) moveAlias(ctx context.Context, m *engine.Migration, from, to string) error {
	name := s.store.Alias(&m.From)
	live, err := s.liveIndices(ctx, name)
	if err != nil {
		return err
	}
	switch {
	case len(live) != 1:
		return ambiguousAlias(name, live)
	case live[to] != nil:
		return nil // done before
	case live[from] == nil:
		return fault.New(fault.Conflict,
			"alias %s points to neither %s nor %s; point it to %s by POST /_aliases, then resume", name, from, to, from)
	}
	return s.updateAliases(ctx,
		aliasAction{Remove: &aliasOf{Index: from, Alias: name}},
		aliasAction{Add: &aliasOf{Index: to, Alias: name, Write: new(false)}},
	)
}

// revertStep makes the old index the current one again, after copying back what was written
// since the switch.
func (s *Steps) revertStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) (err error) {
	if m.Task != "" {
		s.cancelTask(ctx, m.Task)
		m.Task = ""
	}
	if m.Switched {
		if err := s.replayBack(ctx, m, env); err != nil {
			return err
		}
	}
	if m.Log != "" { // else there may be no alias yet
		if err := s.moveAlias(ctx, m, m.ToIndex, m.FromIndex); err != nil {
			return err
		}
		// The new one too: gateways that were not told yet still search it, so writes wait for it.
		for _, index := range []string{m.FromIndex, m.ToIndex} {
			if err := s.unblock(ctx, index); err != nil {
				return err
			}
		}
	}
	if m.ToIndex == "" {
		return nil
	}
	if err := s.store.SaveKnowledgeBase(ctx, &m.From); err != nil {
		return err
	}
	if !m.MovedAt.IsZero() { // else no gateway has ever been told of the new index
		m.MovedAt = time.Now()
	}
	return nil
}

// awaitOthers waits until every gateway has read the catalogue since it was changed, and
// the searches that began before have ended: until then both indices take all writes, and
// either may be searched.
func (s *Steps) awaitOthers(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	for left := s.grace - time.Since(m.MovedAt); left > 0; left = s.grace - time.Since(m.MovedAt) {
		select {
		case <-time.After(min(left, time.Second)):
		case <-ctx.Done():
			return fault.Wrap(fault.Canceled, ctx.Err(), "waiting for other gateways")
		}
		if err := env.Save(ctx); err != nil { // or another gateway takes over
			return err
		}
	}
	return nil
}

// replayBack copies back what was written to the new index. While the last of it is copied,
// the new index takes no writes.
func (s *Steps) replayBack(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) (err error) {
	if err := s.unblock(ctx, m.FromIndex); err != nil { // which an interrupted switch may have left blocked
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
			err = s.unblockAfter(ctx, m.ToIndex, err)
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

// returnStep ends the change log: writes go to the old index alone.
func (s *Steps) returnStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	if err := s.awaitOthers(ctx, m, env); err != nil {
		return err
	}
	name := s.store.Alias(&m.From)
	live, err := s.liveIndices(ctx, name)
	if err != nil {
		return err
	}
	if _, plain := live[name]; plain { // not adopted yet
		if err := s.unblock(ctx, name); err != nil {
			return err
		}
	} else if err := s.updateAliases(ctx,
		aliasAction{Add: &aliasOf{Index: m.FromIndex, Alias: name, Write: new(true)}},
		aliasAction{Add: &aliasOf{Index: m.FromIndex, Alias: s.store.WriteAlias(&m.From), Write: new(true)}},
	); err != nil {
		return err
	}
	return s.drop(ctx, m, m.ToIndex, m.Log)
}

// finishStep ends the change log: writes go to the new index alone.
func (s *Steps) finishStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	if err := s.awaitOthers(ctx, m, env); err != nil {
		return err
	}
	name := s.store.Alias(&m.From)
	live, err := s.liveIndices(ctx, name)
	if err != nil {
		return err
	}
	if len(live) != 1 || live[m.ToIndex] == nil {
		return ambiguousAlias(name, live)
	}
	err = s.updateAliases(ctx,
		aliasAction{Add: &aliasOf{Index: m.ToIndex, Alias: name, Write: new(false)}},
		aliasAction{Add: &aliasOf{Index: m.ToIndex, Alias: s.store.WriteAlias(&m.Plan.Wanted), Write: new(true)}},
	)
	if err != nil {
		return err
	}
	if err := s.putSettings(ctx, m.ToIndex, map[string]any{"index.gc_deletes": nil}); err != nil {
		return err
	}
	return s.drop(ctx, m, m.FromIndex, m.Log)
}

// drop deletes what a migration leaves behind.
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
