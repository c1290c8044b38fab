package storage

import (
	"context"
	"encoding/json"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// apiKeys is the store of API keys beside the knowledge bases: a document a key, changed only
// by who has seen its latest revision.
type apiKeys struct{ store *Store }

// apiKey is a key's document.
type apiKey struct {
	Name     string `json:"name"`
	Record   string `json:"record"` // compared as a text
	LastUsed int64  `json:"last_used"`
}

// APIKeys gives the store of API keys; it lives as long as the engine.
func (s *Store) APIKeys() keys.Store { return &apiKeys{s} }

// apiKeysIndex holds one document per API key, also of those revoked.
func (s *Store) apiKeysIndex() string { return s.prefix + "-keys" }

const keysPerPage = 1000

// Load implements keys.Store.
func (k *apiKeys) Load(ctx context.Context) ([]keys.Row, error) {
	var all []keys.Row
	search := esquery.Search{
		Query: esquery.MatchAll{}, Size: keysPerPage, Source: []string{"name", "record", "last_used"},
		Sort: []esquery.Sort{{Field: "name", Order: esquery.Ascending}},
	}
	path := rest.IndexPath(k.store.apiKeysIndex(), "_search?ignore_unavailable=true&allow_partial_search_results=false")
	for {
		a, err := k.store.client.Search(ctx, rest.Post(path, search))
		if err != nil {
			return nil, err
		}
		for i := range a.Hits {
			var found apiKey
			if err := json.Unmarshal([]byte(a.Hits[i].Source), &found); err != nil {
				return nil, fault.Wrap(fault.Corrupt, err, "a stored key cannot be read")
			}
			all = append(all, keys.Row{Name: found.Name, Body: []byte(found.Record), LastUsed: found.LastUsed})
		}
		if len(a.Hits) < keysPerPage {
			return all, nil
		}
		search.SearchAfter = []any{all[len(all)-1].Name}
	}
}

// Insert implements keys.Store.
func (k *apiKeys) Insert(ctx context.Context, name string, body []byte) error {
	if err := k.store.prepare(ctx); err != nil {
		return err
	}
	if err := k.store.EnsureIndex(ctx, k.store.apiKeysIndex(), mappings.APIKeys()); err != nil {
		return err
	}
	path := rest.IndexPath(k.store.apiKeysIndex(), "_create/"+digest(name)+"?refresh=true")
	err := k.store.client.Change(ctx, rest.Put(path, apiKey{Name: name, Record: string(body)}), nil)
	if fault.Is(err, fault.Conflict) {
		return fault.New(fault.Conflict, "there is, or was, a key of this name")
	}
	return err
}

// Update implements keys.Store.
func (k *apiKeys) Update(ctx context.Context, name string, old, body []byte) error {
	changed := fault.New(fault.Conflict, "the key was changed meanwhile, or is gone")
	err := k.change(ctx, name, func(key *apiKey) error {
		if key.Record != string(old) {
			return changed
		}
		key.Record = string(body)
		return nil
	})
	if fault.Is(err, fault.NotFound) {
		return changed
	}
	return err
}

// Touch implements keys.Store.
func (k *apiKeys) Touch(ctx context.Context, used map[string]int64) error {
	for name, when := range used {
		err := k.change(ctx, name, func(key *apiKey) error {
			key.LastUsed = max(key.LastUsed, when)
			return nil
		})
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// change reads a key and writes what do makes of it, again when another gateway was faster: that
// may have been a last use alone.
func (k *apiKeys) change(ctx context.Context, name string, do func(*apiKey) error) error {
	for {
		var found struct {
			SeqNo       int64  `json:"_seq_no"`
			PrimaryTerm int64  `json:"_primary_term"`
			Source      apiKey `json:"_source"`
		}
		path := rest.IndexPath(k.store.apiKeysIndex(), "_doc/"+digest(name))
		if err := k.store.client.Read(ctx, rest.Get(path), &found); err != nil {
			return err
		}
		if err := do(&found.Source); err != nil {
			return err
		}
		request := rest.Put(path, found.Source).With("refresh=true&" + ifUnchanged([2]int64{found.SeqNo, found.PrimaryTerm}))
		err := k.store.client.Change(ctx, request, nil)
		if !fault.Is(err, fault.Conflict) {
			return err
		}
	}
}
