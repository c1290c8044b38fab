package storage

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/schema"
	"github.com/hybridge-search/hybridge/mappings"
)

// The catalogue's index says in its mapping's _meta which version wrote the store: schema, and
// min_reader, the oldest schema whose programs may use it (package schema). One from before
// says nothing and has 0 of both.

// versionLife is how long the version is not read again: a newer program may come at any time.
const versionLife = 5 * time.Second

// readable refuses a store that this program must not read or write: fault.Unsupported.
func (s *Store) readable(ctx context.Context) error {
	if last := s.versionAt.Load(); last != nil && time.Since(*last) < versionLife {
		return nil
	}
	_, err := s.version(ctx)
	return err
}

// version reads and checks the version of the store; the zero value means that the store does not exist yet.
func (s *Store) version(ctx context.Context) (v schema.Version, err error) {
	var found map[string]struct {
		Mappings struct {
			Meta struct {
				Schema    int `json:"schema"`
				MinReader int `json:"min_reader"`
			} `json:"_meta"`
		} `json:"mappings"`
	}
	err = s.client.Read(ctx, rest.Get(rest.IndexPath(s.catalogueIndex(), "_mapping?ignore_unavailable=true")), &found)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return v, err
	}
	for _, index := range found {
		v = schema.Version{Schema: index.Mappings.Meta.Schema, MinReader: index.Mappings.Meta.MinReader}
	}
	if err := v.Readable(fmt.Sprintf("Elasticsearch's index %s", s.catalogueIndex()), mappings.Schema); err != nil {
		return v, err
	}
	s.versionAt.Store(new(time.Now()))
	return v, nil
}

// raise says in an older store that this program has written to it.
func (s *Store) raise(ctx context.Context) error {
	v, err := s.version(ctx)
	if err != nil || v.Schema >= mappings.Schema {
		return err
	}
	meta := map[string]any{"_meta": mappings.Catalogue().Mappings.Meta}
	return s.client.Change(ctx, rest.Put(rest.IndexPath(s.catalogueIndex(), "_mapping"), meta), nil)
}

// versionAt is the time when the version was last accepted.
type versionAt = atomic.Pointer[time.Time]
