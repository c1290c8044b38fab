// Package migrate does the steps by which a knowledge base in an index of its own changes its
// shape while it is searched and written to: a new index is filled beside the old one, and
// an alias is switched.
//
//	migration.go   the steps, and what a change would take
//	switch.go      the last step, and the way back
//	compare.go     checks before it
//	copy.go        the new index and its documents
//	replay.go      what was written meanwhile
//	indices.go     indices and aliases
package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// The steps of a migration. Each may be repeated: it looks at what is there.
const (
	stepPut    = "put"    // change the index in place
	stepAdopt  = "adopt"  // put an index of a gateway without generations behind an alias
	stepCreate = "create" // the new index
	stepFence  = "fence"  // begin the change log
	stepCopy   = "copy"   // the documents
	stepReplay = "replay" // the change log
	stepCheck  = "check"  // counts and samples
	stepGate   = "gate"   // relevance
	stepSwitch = "switch" // the alias and the catalogue
	stepRevert = "revert" // the switch, if there was one
	stepReturn = "return" // write to the old index alone, drop the new one
	stepFinish = "finish" // write to the new index alone, drop the old one
)

// Steps changes the shape of what a store keeps.
type Steps struct {
	store   *storage.Store
	client  *rest.Client
	timeout time.Duration
}

// New makes the steps. An index is waited for no longer than the timeout.
func New(store *storage.Store, client *rest.Client, timeout time.Duration) *Steps {
	return &Steps{store, client, timeout}
}

// directions are the steps of each direction.
var directions = map[string][]string{
	engine.GoForward: {
		stepAdopt, stepCreate, stepFence, stepCopy, stepReplay, stepCheck, stepGate, stepSwitch,
	},
	engine.GoCancel:   {stepRevert, stepReturn},
	engine.GoRollback: {stepRevert, stepReturn},
	engine.GoCleanup:  {stepFinish},
}

// MigrationSteps implements engine.Migrator.
func (s *Steps) MigrationSteps(m *engine.Migration) []string {
	if m.Direction == engine.GoForward && m.Plan.Diff.Class != engine.ChangeReindex {
		return []string{stepPut}
	}
	return directions[m.Direction]
}

// MigrationStep implements engine.Migrator.
func (s *Steps) MigrationStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	step := map[string]func(context.Context, *engine.Migration, engine.MigrationEnv) error{
		stepPut: s.putStep, stepAdopt: s.adoptStep, stepCreate: s.createStep, stepFence: s.fenceStep,
		stepCopy: s.copyStep, stepReplay: s.replayStep, stepCheck: s.checkStep, stepGate: gateStep,
		stepSwitch: s.switchStep, stepRevert: s.revertStep, stepReturn: s.returnStep, stepFinish: s.finishStep,
	}[m.Step]
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

// migratable refuses what has no index of its own.
func migratable(kb *engine.KnowledgeBase) error {
	switch {
	case kb.Attach != nil:
		return fault.New(fault.ReadOnly,
			"knowledge base %q is attached to an index of somebody else's, whose mapping is not managed", kb.ID)
	case kb.Shared:
		return fault.New(fault.Unsupported,
			"knowledge base %q shares its index with others; write it into one of its own to change its mapping", kb.ID)
	}
	return nil
}

// DesiredMapping implements engine.Migrator.
func (s *Steps) DesiredMapping(_ context.Context, kb engine.KnowledgeBase) (json.RawMessage, error) {
	index, err := s.store.DesiredIndex(&kb)
	if err != nil {
		return nil, err
	}
	return json.Marshal(index)
}

// LiveMapping implements engine.Migrator.
func (s *Steps) LiveMapping(ctx context.Context, kb engine.KnowledgeBase) (json.RawMessage, error) {
	name := s.store.Index(&kb)
	if kb.Attach != nil {
		name = kb.Attach.Index
	}
	live, err := s.liveIndices(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, index := range slices.Sorted(maps.Keys(live)) {
		return live[index], nil
	}
	return nil, storage.Unknown(kb.Ref)
}

// DiffMapping implements engine.Migrator.
func (s *Steps) DiffMapping(ctx context.Context, kb, wanted engine.KnowledgeBase) (*engine.MappingDiff, error) {
	if err := migratable(&kb); err != nil {
		return nil, err
	}
	desired, err := s.store.DesiredIndex(&wanted)
	if err != nil {
		return nil, err
	}
	name := s.store.Alias(&kb)
	live, err := s.liveIndices(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Wrap(fault.Conflict, err,
			"no index stands behind %s any more; create the alias, or the knowledge base anew", name)
	}
	if err != nil {
		return nil, err
	}
	if len(live) != 1 {
		return nil, manyIndices(name, live)
	}
	index := slices.Collect(maps.Keys(live))[0]
	d, err := mappings.Diff(desired, live[index])
	if err != nil {
		return nil, err
	}
	if d.Copy == engine.CopyEmbed && wanted.Dimensions == 0 {
		d.Copy = engine.CopyRebuild
	}
	if kb.Generation != 0 && index != s.store.Index(&kb) {
		d.Conflict("aliases."+name, "the alias points to "+index+" and the catalogue says "+s.store.Index(&kb)+
			"; point it there again (POST /_aliases)")
	}
	if err := s.pluginConflict(ctx, &wanted, &d); err != nil {
		return nil, err
	}
	diff := &engine.MappingDiff{
		KnowledgeBase: kb.ID, Index: index, Class: d.Class, Changes: d.Changes, Digest: liveDigest(index, live[index]),
	}
	if d.Class == engine.ChangeReindex {
		diff.Copy = d.Copy
		if diff.Copy == "" {
			diff.Copy = engine.CopyReindex
		}
	}
	return diff, s.estimate(ctx, index, diff)
}

// manyIndices says that an alias stands for several indices, and the way out.
func manyIndices(alias string, live map[string]json.RawMessage) error {
	return fault.New(fault.Conflict,
		"alias %s points to %d indices (%s); it must point to one: remove the others from it by POST /_aliases", alias,
		len(live), strings.Join(slices.Sorted(maps.Keys(live)), ", "))
}

// pluginConflict asks for the analyzer before an index is made with it.
func (s *Steps) pluginConflict(ctx context.Context, wanted *engine.KnowledgeBase, d *mappings.Difference) error {
	if !mappings.NeedsIK(wanted.Analyzer) {
		return nil
	}
	request := rest.PostJSON("/_analyze", struct {
		Tokenizer string `json:"tokenizer"`
		Text      string `json:"text"`
	}{wanted.Analyzer, "x"})
	err := s.client.Read(ctx, request, nil)
	if fault.Is(err, fault.InvalidArgument) {
		d.Conflict("settings.index.analysis", storage.MissingIK(wanted.Analyzer, nil).Detail)
		return nil
	}
	return err
}

const digestBytes = 16

// liveDigest tells any two states of an index apart that a plan must not mix up:
// which index it is, and its mapping and analysis.
func liveDigest(name string, live json.RawMessage) string {
	var index struct {
		Settings struct {
			Index struct {
				UUID     string          `json:"uuid"`
				Analysis json.RawMessage `json:"analysis"`
			} `json:"index"`
		} `json:"settings"`
		Mappings json.RawMessage `json:"mappings"`
	}
	_ = json.Unmarshal(live, &index) // what cannot be read is a state too
	var mapping any
	_ = json.Unmarshal(index.Mappings, &mapping) // the same
	sorted, err := json.Marshal(mapping)
	if err != nil {
		sorted = index.Mappings
	}
	identity := []byte(name + "\n" + index.Settings.Index.UUID + "\n")
	hash := sha256.Sum256(slices.Concat(identity, index.Settings.Index.Analysis, sorted))
	return hex.EncodeToString(hash[:digestBytes])
}

// Documents per second of each kind of copy, roughly what two cores do: enough
// to tell minutes from hours.
var copyRates = map[string]float64{
	engine.CopyReindex: 4000, engine.CopyRebuild: 1500, engine.CopyEmbed: 15,
}

func (s *Steps) estimate(ctx context.Context, index string, diff *engine.MappingDiff) error {
	var stats struct {
		All struct {
			Primaries struct {
				Docs struct {
					Count int `json:"count"`
				} `json:"docs"`
				Store struct {
					Bytes int64 `json:"size_in_bytes"`
				} `json:"store"`
			} `json:"primaries"`
		} `json:"_all"`
	}
	if err := s.client.Read(ctx, rest.Get(rest.IndexPath(index, "_stats/docs,store")), &stats); err != nil {
		return err
	}
	diff.Estimate = engine.MappingEstimate{
		Documents: stats.All.Primaries.Docs.Count, Bytes: stats.All.Primaries.Store.Bytes,
	}
	if rate := copyRates[diff.Copy]; rate > 0 {
		diff.Estimate.Minutes = float64(diff.Estimate.Documents) / rate / 60
	}
	return nil
}

// putStep changes the index in place, and the schema with it.
func (s *Steps) putStep(ctx context.Context, m *engine.Migration, _ engine.MigrationEnv) error {
	desired, err := s.store.DesiredIndex(&m.Plan.Wanted)
	if err != nil {
		return err
	}
	mapping := rest.Put(rest.IndexPath(m.FromIndex, "_mapping"), desired.Mappings)
	if err := s.client.Change(ctx, mapping, nil); err != nil {
		return err
	}
	settings := rest.Put(rest.IndexPath(m.FromIndex, "_settings"), struct {
		Replicas        string `json:"index.auto_expand_replicas"`
		RefreshInterval string `json:"index.refresh_interval"`
	}{desired.Settings.Index.Replicas, desired.Settings.Index.RefreshInterval})
	if err := s.client.Change(ctx, settings, nil); err != nil {
		return err
	}
	return s.store.SaveKnowledgeBase(ctx, &m.Plan.Wanted)
}

// adoptStep puts the index of a gateway without generations behind an alias of
// its name: it is cloned (by hard links) while it takes no writes, and the clone
// takes its place in one step.
func (s *Steps) adoptStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	name := s.store.Alias(&m.From)
	live, err := s.liveIndices(ctx, name)
	if err != nil {
		return err
	}
	if len(live) != 1 {
		return manyIndices(name, live)
	}
	if _, plain := live[name]; plain {
		if err := s.adopt(ctx, m, name); err != nil {
			return err
		}
	}
	if m.From.Generation == 0 {
		m.From.Generation = 1
		if err := s.store.SaveKnowledgeBase(ctx, &m.From); err != nil {
			return err
		}
	}
	m.FromIndex = s.store.Index(&m.From)
	return env.Save(ctx)
}

func (s *Steps) adopt(ctx context.Context, m *engine.Migration, name string) error {
	first := m.From
	first.Generation = 1
	clone := s.store.Index(&first)
	if err := s.block(ctx, name); err != nil {
		return err
	}
	err := s.deleteIndex(ctx, clone) // of an attempt that was cut short
	if err != nil {
		return err
	}
	request := rest.Put(rest.IndexPath(name, "_clone/"+clone), struct {
		Settings map[string]bool `json:"settings"`
	}{map[string]bool{"index.blocks.write": false}})
	if err := s.client.Change(ctx, request, nil); err != nil {
		return err
	}
	health := fmt.Sprintf("/_cluster/health/%s?wait_for_status=yellow&timeout=%ds", clone, int(s.timeout.Seconds()))
	if err := s.client.Change(ctx, rest.Get(health), nil); err != nil {
		return err
	}
	return s.aliases(ctx,
		aliasAction{RemoveIndex: &aliasOf{Index: name}},
		aliasAction{Add: &aliasOf{Index: clone, Alias: name, Write: new(true)}},
		aliasAction{Add: &aliasOf{Index: clone, Alias: s.store.WriteAlias(&first), Write: new(true)}},
	)
}
