package migrate

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// createStep makes the new index. While it is filled it is refreshed only on request,
// and remembers deletions for longer than a copy can lag behind.
func (s *Steps) createStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	if m.ToIndex == "" {
		if err := s.chooseGeneration(ctx, m); err != nil {
			return err
		}
		m.ToIndex = s.store.Index(&m.Plan.Wanted)
		m.Replayed = -1
		if err := env.Save(ctx); err != nil {
			return err
		}
	}
	index, err := s.store.DesiredIndex(&m.Plan.Wanted)
	if err != nil {
		return err
	}
	if m.Diff().Copy == engine.CopyReindex {
		if err := s.asMarked(ctx, m.FromIndex, &index); err != nil {
			return err
		}
	}
	index.Settings.Index.RefreshInterval = "-1"
	err = s.store.EnsureIndex(ctx, m.ToIndex, index)
	if rest.Refused(err) && mappings.NeedsIK(m.Plan.Wanted.Analyzer) {
		return storage.MissingIK(m.Plan.Wanted.Analyzer, err)
	}
	if err != nil {
		return err
	}
	return s.putSettings(ctx, m.ToIndex, map[string]any{"index.gc_deletes": "1h"})
}

// versionsPerMigration is how many writes one migration may see.
const versionsPerMigration = 1 << 32

// chooseGeneration chooses a generation that was never used, and a base of versions above
// all existing ones: microseconds since 1970 grow faster than anybody writes.
func (s *Steps) chooseGeneration(ctx context.Context, m *engine.Migration) error {
	last, err := s.lastGeneration(ctx, &m.From)
	if err != nil {
		return err
	}
	m.Base = time.Now().UnixMicro()
	before, err := s.store.MigrationHistory(ctx, m.Ref, 1)
	if err != nil {
		return err
	}
	if len(before) > 0 {
		last = max(last, before[0].Plan.Wanted.Generation)
		m.Base = max(m.Base, before[0].Base+versionsPerMigration)
	}
	m.Plan.Wanted.Generation = last + 1
	return nil
}

// lastGeneration returns the highest generation that has an index.
func (s *Steps) lastGeneration(ctx context.Context, kb *engine.KnowledgeBase) (int, error) {
	name := s.store.Alias(kb)
	live, err := s.liveIndices(ctx, name+"-v*,"+name+"-log-v*")
	if err != nil && !fault.Is(err, fault.NotFound) {
		return 0, err
	}
	last := kb.Generation
	for index := range maps.Keys(live) {
		if n, err := strconv.Atoi(index[strings.LastIndex(index, "-v")+2:]); err == nil {
			last = max(last, n)
		}
	}
	return last, nil
}

// fenceStep begins the change log. A gateway that does not know of it writes to an
// alias that takes no writes from now on; the block waits for writes under way.
func (s *Steps) fenceStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	log := strings.Replace(m.ToIndex, s.store.Alias(&m.From), s.store.Alias(&m.From)+"-log", 1)
	if err := s.store.EnsureIndex(ctx, log, mappings.ChangeLog()); err != nil {
		return err
	}
	m.Log = log
	if err := env.Save(ctx); err != nil {
		return err
	}
	name := s.store.Alias(&m.From)
	live, err := s.liveIndices(ctx, name)
	if err != nil {
		return err
	}
	if len(live) != 1 || live[m.FromIndex] == nil {
		return ambiguousAlias(name, live)
	}
	err = s.updateAliases(ctx,
		aliasAction{Add: &aliasOf{Index: m.FromIndex, Alias: name, Write: new(false)}},
		aliasAction{Add: &aliasOf{Index: m.FromIndex, Alias: s.store.WriteAlias(&m.From), Write: new(false)}},
	)
	if err != nil {
		return err
	}
	if err := s.block(ctx, m.FromIndex); err != nil {
		return err
	}
	if m.Fence, err = s.lastSequenceNumbers(ctx, m.FromIndex); err != nil {
		return err
	}
	m.Diff().Digest = liveDigest(m.FromIndex, live[m.FromIndex])
	if err := env.Save(ctx); err != nil {
		return err
	}
	if err := s.unblock(ctx, m.FromIndex); err != nil {
		return err
	}
	return s.refreshIndex(ctx, m.FromIndex)
}

// lastSequenceNumbers returns the highest sequence number of every shard of an index.
func (s *Steps) lastSequenceNumbers(ctx context.Context, index string) ([]int64, error) {
	var stats struct {
		Indices map[string]struct {
			Shards map[string][]shardCopy `json:"shards"`
		} `json:"indices"`
	}
	if err := s.client.Read(ctx, rest.Get(rest.IndexPath(index, "_stats/docs?level=shards")), &stats); err != nil {
		return nil, err
	}
	var settings map[string]struct {
		Settings map[string]string `json:"settings"`
	}
	const shardCount = "index.number_of_shards"
	path := rest.IndexPath(index, "_settings/"+shardCount+"?flat_settings")
	if err := s.client.Read(ctx, rest.Get(path), &settings); err != nil {
		return nil, err
	}
	count, err := strconv.Atoi(settings[index].Settings[shardCount])
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "read how many shards index %s has", index)
	}
	all := make([]int64, count)
	for shard := range all {
		copies := stats.Indices[index].Shards[strconv.Itoa(shard)]
		i := slices.IndexFunc(copies, func(c shardCopy) bool { return c.Routing.Primary })
		if i < 0 {
			return nil, fault.New(fault.Unavailable, "shard %d of index %s is not there", shard, index)
		}
		all[shard] = copies[i].SeqNo.Max
	}
	return all, nil
}

// shardCopy is a copy of a shard in _stats.
type shardCopy struct {
	Routing struct {
		Primary bool `json:"primary"`
	} `json:"routing"`
	SeqNo struct {
		Max int64 `json:"max_seq_no"`
	} `json:"seq_no"`
}
