package storage

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// MetadataBlock is the setting that blocks reading the metadata of an index.
const MetadataBlock = "index.blocks.metadata"

// BlockedFromReading reports whether a refusal is of that block.
func BlockedFromReading(err error) bool {
	why, refused := errors.AsType[*rest.Refusal](err)
	return refused && why.Mentions("FORBIDDEN/9/")
}

// IndexDrift lists the settings of an index that others changed.
type IndexDrift struct {
	Index   string
	Changes []engine.MappingChange
}

// Text formats the drift in one line.
func (d *IndexDrift) Text() string {
	said := make([]string, len(d.Changes))
	for i := range d.Changes {
		c := &d.Changes[i]
		name := strings.TrimPrefix(c.Path, "settings.")
		said[i] = fault.New(fault.Conflict, "setting %s is %s: %s", name, c.Live, c.Reason).Detail
	}
	return fault.New(fault.Conflict, "somebody has changed index %s: %s", d.Index, strings.Join(said, "; ")).Detail
}

// SettingsDrift compares the settings of the indices that a knowledge base is stored in, or attached to,
// with what searches and writes need. Nothing is said of indices without drift.
func (s *Store) SettingsDrift(ctx context.Context, kb *engine.KnowledgeBase) ([]IndexDrift, error) {
	name := s.Index(kb)
	if kb.Attach != nil {
		name = kb.Attach.Index
	}
	return s.driftOf(ctx, name, kb.Attach != nil)
}

// OwnDrift does the same for the engine's internal indices.
func (s *Store) OwnDrift(ctx context.Context) ([]IndexDrift, error) {
	names := []string{s.catalogueIndex(), s.keptIndex(), s.migrationsIndex(), s.historyIndex()}
	return s.driftOf(ctx, strings.Join(names, ","), false)
}

func (s *Store) driftOf(ctx context.Context, names string, readOnly bool) ([]IndexDrift, error) {
	var live map[string]json.RawMessage
	path := "/" + url.PathEscape(names) + "/_settings?ignore_unavailable=true"
	err := s.client.Read(ctx, rest.Get(path), &live)
	if BlockedFromReading(err) {
		return []IndexDrift{{Index: names, Changes: []engine.MappingChange{mappings.BlockedFromReading()}}}, nil
	}
	if err != nil {
		return nil, err
	}
	var all []IndexDrift
	for _, index := range slices.Sorted(maps.Keys(live)) {
		changes, err := mappings.SettingsDrift(live[index], readOnly)
		if err != nil {
			return nil, rest.Unreadable(err)
		}
		if len(changes) > 0 {
			all = append(all, IndexDrift{index, changes})
		}
	}
	return all, nil
}

// Reset undoes the changes that can be undone while the index is in use. Blocks are removed first, one
// request each, as Elasticsearch requires.
func (s *Store) Reset(ctx context.Context, index string, drift []engine.MappingChange) error {
	settings := mappings.Resets(drift)
	put := func(some map[string]any) error {
		return s.client.Change(ctx, rest.Put(rest.IndexPath(index, "_settings"), some), nil)
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if strings.HasPrefix(name, "index.blocks.") {
			if err := put(map[string]any{name: nil}); err != nil {
				return err
			}
			delete(settings, name)
		}
	}
	if len(settings) == 0 {
		return nil
	}
	return put(settings)
}

// checkSettings adds foreign changes of the settings to found, or undoes them if possible.
func (s *Store) checkSettings(
	ctx context.Context, kb *engine.KnowledgeBase, repair bool, found *engine.Integrity,
) error {
	drift, err := s.SettingsDrift(ctx, kb)
	if err == nil && repair && len(drift) > 0 {
		for i := range drift {
			if err := s.Reset(ctx, drift[i].Index, drift[i].Changes); err != nil {
				return err
			}
		}
		drift, err = s.SettingsDrift(ctx, kb)
	}
	said := make([]string, len(drift))
	for i := range drift {
		said[i] = drift[i].Text()
	}
	found.Settings = strings.Join(said, "; ")
	return err
}

// driftFault is why chunks of an index with drift could not be compared.
func driftFault(err error, drift string) error {
	if err == nil || drift == "" {
		return err
	}
	return &fault.Error{Kind: fault.KindOf(err), Detail: drift, Err: err}
}
