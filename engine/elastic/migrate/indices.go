package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// liveIndices reads the aliases, mappings and settings of all indices that a name stands
// for.
func (s *Steps) liveIndices(ctx context.Context, name string) (map[string]json.RawMessage, error) {
	var live map[string]json.RawMessage
	err := s.client.Read(ctx, rest.Get("/"+name), &live)
	return live, err
}

// asMarked leaves the mark that all documents have their moments out of the index of documents that stay as they
// are in another one, unless that has it.
func (s *Steps) asMarked(ctx context.Context, from string, index *mappings.Index) error {
	live, err := s.liveIndices(ctx, from)
	if err != nil {
		return err
	}
	for _, body := range live {
		var found struct {
			Mappings mappings.Mappings `json:"mappings"`
		}
		if err := json.Unmarshal(body, &found); err != nil {
			return fault.Wrap(fault.Unavailable, err, "the live mapping cannot be read")
		}
		if found.Mappings.Meta == nil || !found.Mappings.Meta.Moments {
			index.Mappings.Meta.Moments = false
		}
	}
	return nil
}

// aliasAction is one of the actions of an _aliases request, which are done in one step.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/indices-aliases.html
type aliasAction struct {
	Add         *aliasOf `json:"add,omitzero"`
	Remove      *aliasOf `json:"remove,omitzero"`
	RemoveIndex *aliasOf `json:"remove_index,omitzero"`
}

type aliasOf struct {
	Index string `json:"index"`
	Alias string `json:"alias,omitzero"`
	Write *bool  `json:"is_write_index,omitzero"`
}

func (s *Steps) updateAliases(ctx context.Context, actions ...aliasAction) error {
	request := rest.PostJSON("/_aliases", struct {
		Actions []aliasAction `json:"actions"`
	}{actions})
	return s.client.Change(ctx, request, nil)
}

// block stops writes to an index. When it returns, none is under way.
func (s *Steps) block(ctx context.Context, index string) error {
	return s.client.Change(ctx, rest.Put(rest.IndexPath(index, "_block/write"), nil), nil)
}

func (s *Steps) unblock(ctx context.Context, index string) error {
	return s.putSettings(ctx, index, map[string]any{"index.blocks.write": nil})
}

// putSettings changes settings of an index; nil means the default.
func (s *Steps) putSettings(ctx context.Context, index string, settings map[string]any) error {
	return s.client.Change(ctx, rest.Put(rest.IndexPath(index, "_settings"), settings), nil)
}

func (s *Steps) deleteIndex(ctx context.Context, index string) error {
	err := s.client.Change(ctx, rest.Delete("/"+index), nil)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

func (s *Steps) refreshIndex(ctx context.Context, index string) error {
	return s.client.Change(ctx, rest.Post(rest.IndexPath(index, "_refresh"), nil), nil)
}

// ambiguousAlias is the fault of an alias that does not stand for the one right index.
func ambiguousAlias(alias string, live map[string]json.RawMessage) error {
	return fault.New(fault.Conflict,
		"alias %s points to %d indices (%s); it must point to one: remove the others from it by POST /_aliases", alias,
		len(live), strings.Join(slices.Sorted(maps.Keys(live)), ", "))
}

const digestBytes = 16

// liveDigest is a hash of all that a plan depends on: which index it is, its mapping and
// its analysis.
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
	_ = json.Unmarshal(live, &index) // unreadable is a state too
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
