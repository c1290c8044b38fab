package migration

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// errCancelled ends the forward steps because a user wants it.
var errCancelled = fault.New(fault.Canceled, "the migration is to be cancelled")

// errTakenOver ends a run because another gateway goes on with it.
var errTakenOver = fault.New(fault.Conflict, "another gateway has taken over the migration")

// run is one migration under way in this process.
type run struct {
	*Service
	engine.Migrator
	m      *engine.Migration
	report func(jobs.Progress)
}

// start runs the steps as a job.
func (s *Service) start(migrator engine.Migrator, m *engine.Migration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[m.Ref] {
		return fault.New(fault.Conflict, "the migration is running")
	}
	own := *m                  // the caller's copy is for the answer
	own.Progress.Measure(0, 0) // another gateway's rate says nothing of this one
	_, err := s.Jobs.Start(jobs.Job{
		ID: m.ID, Kind: JobKind, Tenant: m.Ref.Tenant, KnowledgeBase: m.Ref.ID, Continues: true,
	}, func(ctx context.Context, report func(jobs.Progress)) error {
		defer s.ended(own.Ref)
		r := &run{Service: s, Migrator: migrator, m: &own, report: report}
		return r.complete(ctx)
	})
	s.running[m.Ref] = err == nil
	return err
}

func (s *Service) ended(ref engine.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, ref)
	s.Catalog.Expire()
}

// complete runs the steps that are left, and stores how that ended.
func (r *run) complete(ctx context.Context) error {
	for {
		err := r.runSteps(ctx)
		if err == nil {
			return r.finish(ctx)
		}
		if err := r.handleError(ctx, err); err != nil {
			return err
		}
	}
}

// runSteps runs the steps of the direction, from the present one on.
func (r *run) runSteps(ctx context.Context) error {
	steps := r.MigrationSteps(r.m)
	for _, step := range steps[max(0, slices.Index(steps, r.m.Step)):] {
		r.m.Step = step
		r.m.Begin(step, now())
		if err := r.runStep(ctx); err != nil {
			return err
		}
		r.m.End(now())
	}
	return nil
}

// runStep repeats a step while the engine is unavailable or busy.
func (r *run) runStep(ctx context.Context) error {
	r.Logger.InfoContext(ctx, "mapping", slog.String("knowledge_base", r.m.Ref.ID),
		slog.String("direction", r.m.Direction), slog.String("step", r.m.Step))
	env := engine.MigrationEnv{Save: r.save}
	if len(r.m.Plan.Options.Gate.Queries) > 0 {
		env.Gate = r.gate
	}
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval, delays.MaxInterval = 200*time.Millisecond, 5*time.Second
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := r.save(ctx)
		if err == nil {
			err = r.MigrationStep(ctx, r.m, env)
		}
		if err != nil && !transient(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(delays), backoff.WithMaxElapsedTime(r.Patience))
	if found, ok := errors.AsType[*fault.Error](err); ok {
		return found
	}
	return err
}

// transient reports whether an error may be gone when the step is repeated.
func transient(err error) bool {
	kind := fault.KindOf(err)
	return !fault.IsLasting(err) && (kind == fault.Unavailable || kind == fault.Timeout || kind == fault.Overloaded)
}

// save stores the progress, and that this gateway is alive. It adopts what users changed
// meanwhile.
func (r *run) save(ctx context.Context) error {
	for {
		r.m.Beat, r.m.UpdatedAt, r.m.Owner = now(), now(), r.id
		err := r.SaveMigration(ctx, r.m)
		if !fault.Is(err, fault.Conflict) {
			r.reportProgress()
			if err == nil && r.m.Cancel && r.m.Direction == engine.GoForward {
				return errCancelled
			}
			return err
		}
		stored, err := r.Migration(ctx, r.m.Ref)
		switch {
		case fault.Is(err, fault.NotFound):
			return errTakenOver
		case err != nil:
			return err
		case stored.Owner != r.id || stored.ID != r.m.ID:
			return errTakenOver
		}
		r.m.Revision, r.m.Cancel = stored.Revision, stored.Cancel
		r.m.Progress.Throttle = stored.Progress.Throttle
	}
}

func (r *run) reportProgress() {
	p := &r.m.Progress
	r.report(jobs.Progress{Step: r.m.Step, Done: p.Done, Total: p.Total, Rate: p.Rate, Remaining: p.Remaining})
}

// handleError returns nil when the run is to go on, in the direction that the migration
// has now. Other errors are stored with the migration.
func (r *run) handleError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errTakenOver):
		return err
	case errors.Is(err, errCancelled):
		r.m.Direction, r.m.Cancel = engine.GoCancel, false
		r.m.Step = r.MigrationSteps(r.m)[0]
		return nil
	case ctx.Err() != nil:
		return fault.Wrap(fault.Canceled, ctx.Err(), "the gateway ended; the migration goes on with the next one")
	}
	r.Logger.ErrorContext(ctx, "mapping failed", slog.String("knowledge_base", r.m.Ref.ID),
		slog.String("step", r.m.Step), slog.Any("error", err))
	r.m.State, r.m.Error = engine.MigrationFailed, publicError(r.m, err)
	if saving := r.save(ctx); saving != nil && !errors.Is(saving, errCancelled) {
		r.Logger.WarnContext(ctx, "the failure could not be stored; the migration is taken up again",
			slog.Any("error", saving))
	}
	return err
}

// publicError leaves out what is for the log only.
func publicError(m *engine.Migration, err error) *engine.MigrationError {
	public := &engine.MigrationError{Code: fault.KindOf(err), Detail: "the gateway failed; its log says why"}
	var f *fault.Error
	if errors.As(err, &f) && f.Kind != fault.Internal {
		public.Detail = f.Detail
	}
	public.WayOut = "mend the cause and resume"
	if m.Direction == engine.GoForward {
		public.WayOut = "mend the cause and resume, or cancel: the index in use is complete and stays in use until the switch"
	}
	return public
}

// finish stores the end of a direction.
func (r *run) finish(ctx context.Context) error {
	r.m.State = map[string]string{
		engine.GoForward: engine.MigrationSwitched, engine.GoCancel: engine.MigrationCancelled,
		engine.GoRollback: engine.MigrationRolledBack, engine.GoCleanup: engine.MigrationDone,
	}[r.m.Direction]
	if r.m.Direction == engine.GoForward && r.m.ToIndex == "" {
		r.m.State = engine.MigrationDone // nothing was kept: it was done in place
	}
	r.reportProgress()
	if r.m.State == engine.MigrationSwitched {
		return r.save(ctx)
	}
	r.m.FinishedAt = now()
	return r.EndMigration(ctx, r.m)
}

// Watch resumes the migrations that no gateway runs, at once and then every few
// seconds, until the context ends.
func (s *Service) Watch(ctx context.Context) {
	ticker := time.NewTicker(s.Takeover / 3)
	defer ticker.Stop()
	for {
		for _, e := range s.Catalog.Engines() {
			s.resumeAbandoned(ctx, e)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (s *Service) resumeAbandoned(ctx context.Context, e engine.Engine) {
	migrator, ok := e.(engine.Migrator)
	if !ok {
		return
	}
	list, err := migrator.Migrations(ctx)
	if err != nil {
		s.Logger.DebugContext(ctx, "migrations cannot be listed", slog.Any("error", err))
		return
	}
	for i := range list {
		m := &list[i]
		s.mu.Lock()
		mine := s.running[m.Ref]
		s.mu.Unlock()
		if mine || m.State != engine.MigrationRunning || s.alive(m) {
			continue
		}
		migrator, ok := s.migratorOf(ctx, e, m)
		if !ok {
			continue
		}
		m.Owner, m.Beat = s.id, now()
		if err := migrator.SaveMigration(ctx, m); err != nil {
			continue // another gateway was faster
		}
		s.Logger.InfoContext(ctx, "mapping taken up", slog.String("knowledge_base", m.Ref.ID), slog.String("step", m.Step))
		if err := s.start(migrator, m); err != nil {
			s.Logger.WarnContext(ctx, "mapping not taken up", slog.Any("error", err))
		}
	}
}

// migratorOf returns the migrator that resumes a migration stored on an engine: the engine, or the mirror of
// all engines of the knowledge base; false for a part of a mirrored migration.
func (s *Service) migratorOf(ctx context.Context, e engine.Engine, m *engine.Migration) (engine.Migrator, bool) {
	if len(m.From.Engines) > 1 {
		if m.From.Engines[0] != e.Name() {
			return nil, false
		}
		var err error
		if _, e, err = s.Catalog.Get(ctx, access.Scope{Tenant: m.Ref.Tenant}, m.Ref.ID); err != nil {
			s.Logger.DebugContext(ctx, "the engines of a migration cannot be had", slog.Any("error", err))
			return nil, false
		}
	}
	migrator, ok := e.(engine.Migrator)
	return migrator, ok
}
