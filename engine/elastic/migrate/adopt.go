package migrate

import (
	"context"
	"fmt"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/mappings"
)

// putStep changes the mapping and settings of the index in place, then the schema.
func (s *Steps) putStep(ctx context.Context, m *engine.Migration, _ engine.MigrationEnv) error {
	desired, err := s.store.DesiredIndex(&m.Plan.Wanted)
	if err != nil {
		return err
	}
	if err := s.resetSettings(ctx, m.FromIndex); err != nil {
		return err
	}
	if err := s.asMarked(ctx, m.FromIndex, &desired); err != nil {
		return err
	}
	mapping := rest.Put(rest.IndexPath(m.FromIndex, "_mapping"), desired.Mappings)
	if err := s.client.Change(ctx, mapping, nil); err != nil {
		return err
	}
	return s.store.SaveKnowledgeBase(ctx, &m.Plan.Wanted)
}

// resetSettings undoes what others changed of the settings that matter. Blocks go first, each by
// itself: while one is there, nothing else can be changed, nor perhaps read.
func (s *Steps) resetSettings(ctx context.Context, index string) error {
	live, err := s.liveIndices(ctx, index)
	if storage.BlockedFromReading(err) {
		if err = s.putSettings(ctx, index, map[string]any{storage.MetadataBlock: nil}); err == nil {
			live, err = s.liveIndices(ctx, index)
		}
	}
	if err != nil {
		return err
	}
	for _, body := range live {
		drift, err := mappings.SettingsDrift(body, false)
		if err != nil {
			return rest.Unreadable(err)
		}
		if err := s.store.Reset(ctx, index, drift); err != nil {
			return err
		}
	}
	return nil
}

// adoptStep puts an index that was made before there were generations behind an alias of
// its name: it is cloned (by hard links) while it takes no writes, then replaced by the
// clone in one step.
func (s *Steps) adoptStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	name := s.store.Alias(&m.From)
	live, err := s.liveIndices(ctx, name)
	if err != nil {
		return err
	}
	if len(live) != 1 {
		return ambiguousAlias(name, live)
	}
	if err := s.resetSettings(ctx, name); err != nil {
		return err
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
	err := s.deleteIndex(ctx, clone) // of an interrupted attempt
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
	return s.updateAliases(ctx,
		aliasAction{RemoveIndex: &aliasOf{Index: name}},
		aliasAction{Add: &aliasOf{Index: clone, Alias: name, Write: new(true)}},
		aliasAction{Add: &aliasOf{Index: clone, Alias: s.store.WriteAlias(&first), Write: new(true)}},
	)
}
