package migrate

import (
	"context"
	"encoding/json"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
)

// liveIndices reads all indices that a name stands for: aliases, mappings,
// settings.
func (s *Steps) liveIndices(ctx context.Context, name string) (map[string]json.RawMessage, error) {
	var live map[string]json.RawMessage
	err := s.client.Read(ctx, rest.Get("/"+name), &live)
	return live, err
}

// aliasAction is one of several that happen at once.
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

func (s *Steps) aliases(ctx context.Context, actions ...aliasAction) error {
	request := rest.PostJSON("/_aliases", struct {
		Actions []aliasAction `json:"actions"`
	}{actions})
	return s.client.Change(ctx, request, nil)
}

// block makes an index take no writes; when it returns, none is under way.
func (s *Steps) block(ctx context.Context, index string) error {
	return s.client.Change(ctx, rest.Put(rest.IndexPath(index, "_block/write"), nil), nil)
}

func (s *Steps) unblock(ctx context.Context, index string) error {
	return s.setIndex(ctx, index, map[string]any{"index.blocks.write": nil})
}

// setIndex changes settings; nil means the default.
func (s *Steps) setIndex(ctx context.Context, index string, settings map[string]any) error {
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
