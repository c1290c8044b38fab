package migrate

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// migratable refuses knowledge bases without an index of their own.
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
	if storage.BlockedFromReading(err) {
		return s.blockedDiff(&kb)
	}
	if err != nil {
		return nil, err
	}
	if len(live) != 1 {
		return nil, ambiguousAlias(name, live)
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
		d.Conflict("aliases."+name, "alias", "the alias points to "+index+" and the catalogue says "+s.store.Index(&kb)+
			"; point it there again (POST /_aliases)")
	}
	if err := s.checkPlugin(ctx, &wanted, &d); err != nil {
		return nil, err
	}
	diff := &engine.MappingDiff{
		KnowledgeBase: kb.ID, Index: index, Class: d.Class, Changes: d.Changes, Digest: liveDigest(index, live[index]),
	}
	diff.CompareBoosts(&kb, &wanted, engine.ChangeReindex)
	if diff.Class == engine.ChangeReindex {
		diff.Copy = d.Copy
		if diff.Copy == "" {
			diff.Copy = engine.CopyReindex
		}
	}
	return diff, s.estimate(ctx, index, diff)
}

// blockedDiff is the diff of an index whose metadata may not be read.
func (s *Steps) blockedDiff(kb *engine.KnowledgeBase) (*engine.MappingDiff, error) {
	diff := &engine.MappingDiff{KnowledgeBase: kb.ID, Index: s.store.Index(kb), Class: engine.ChangeNone}
	diff.Add(mappings.BlockedFromReading())
	return diff, diff.Seal(diff.Index, diff.Changes)
}

// checkPlugin adds a conflict if the nodes lack the plugin of the analyzer.
func (s *Steps) checkPlugin(ctx context.Context, wanted *engine.KnowledgeBase, d *mappings.Difference) error {
	if !mappings.NeedsIK(wanted.Analyzer) {
		return nil
	}
	request := rest.PostJSON("/_analyze", struct {
		Tokenizer string `json:"tokenizer"`
		Text      string `json:"text"`
	}{wanted.Analyzer, "x"})
	err := s.client.Read(ctx, request, nil)
	if rest.Refused(err) {
		d.Conflict("settings.index.analysis", "plugin", storage.MissingIK(wanted.Analyzer, nil).Detail)
		return nil
	}
	return err
}

// copyRates are documents per second of each kind of copy on about two cores: enough to
// tell minutes from hours.
var copyRates = map[string]float64{
	engine.CopyReindex: 4000, engine.CopyRebuild: 1500, engine.CopyEmbed: 15,
}

// estimate adds how large the index is, and how long a copy takes.
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
