// Package migrate changes the shape of a knowledge base in an index of its own, while it is
// searched and written to: a new index is filled beside the old one, and an alias is
// switched. Each step may be repeated, as it looks at what is there.
//
//	diff.go        what a change would take, before it is planned
//	steps.go       the steps
//	adopt.go       an index changed in place, or put behind an alias
//	create.go      the new index, and the change log
//	copy.go task.go   the documents, rebuilt here or copied by Elasticsearch
//	switch.go      the alias to the new index, and back
//	check.go       what is compared before a switch
//	replay.go      the change log
//	documents.go indices.go   documents, aliases and settings
package migrate

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/fault"
)

// The steps of a migration.
const (
	stepPut    = "put"             // change the index in place
	stepAdopt  = "adopt"           // put an index from before there were generations behind an alias
	stepCreate = engine.StepCreate // the new index
	stepFence  = "fence"           // begin the change log
	stepCopy   = "copy"            // the documents
	stepReplay = "replay"          // the change log
	stepCheck  = "check"           // counts and samples
	stepGate   = engine.StepGate   // relevance
	stepSwitch = engine.StepSwitch // the alias and the catalogue
	stepRevert = "revert"          // the switch, if there was one
	stepReturn = "return"          // write to the old index alone, drop the new one
	stepFinish = "finish"          // write to the new index alone, drop the old one
)

// Steps changes the shape of what a store keeps.
type Steps struct {
	store   *storage.Store
	client  *rest.Client
	timeout time.Duration
	grace   time.Duration
}

// New makes the steps. An index is waited for no longer than the timeout; one that was
// replaced is kept for the grace.
func New(store *storage.Store, client *rest.Client, timeout, grace time.Duration) *Steps {
	return &Steps{store, client, timeout, grace}
}

// stepsOf lists the steps of each direction.
var stepsOf = map[string][]string{
	engine.GoForward: {
		stepAdopt, stepCreate, stepFence, stepCopy, stepReplay, stepCheck, stepGate, stepSwitch,
	},
	engine.GoCancel:   {stepRevert, stepReturn},
	engine.GoRollback: {stepRevert, stepReturn},
	engine.GoCleanup:  {stepFinish},
}

// MigrationSteps implements engine.Migrator.
func (s *Steps) MigrationSteps(m *engine.Migration) []string {
	if m.Direction == engine.GoForward && m.Diff().Class != engine.ChangeReindex {
		return []string{stepPut}
	}
	return stepsOf[m.Direction]
}

// MigrationStep implements engine.Migrator.
func (s *Steps) MigrationStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	step := map[string]func(context.Context, *engine.Migration, engine.MigrationEnv) error{
		stepPut: s.putStep, stepAdopt: s.adoptStep, stepCreate: s.createStep, stepFence: s.fenceStep,
		stepCopy: s.copyStep, stepReplay: s.replayStep, stepCheck: s.checkStep, stepGate: gateStep,
		stepSwitch: s.switchStep, stepRevert: s.revertStep, stepReturn: s.returnStep, stepFinish: s.finishStep,
	}[m.OwnStep()]
	if step == nil {
		return fault.New(fault.Internal, "a migration has no step %q", m.Step)
	}
	return step(ctx, m, env)
}

func gateStep(ctx context.Context, _ *engine.Migration, env engine.MigrationEnv) error {
	if env.Gate == nil {
		return nil
	}
	return env.Gate(ctx)
}
