// Package storage keeps knowledge bases in Elasticsearch: each in an index of its own, in a
// shared one, or in one that somebody else made.
//
//	store.go                 the store: its version, the names of its indices, how they are created
//	catalogue.go             knowledge bases
//	write.go                 writes and deletions
//	change.go                applies changes that depend on the stored documents
//	changelog.go             the log of changes made while a migration runs
//	bulk.go                  bulk requests
//	documents.go             reads other than searches
//	listing.go               lists of documents and chunks
//	generation.go            when cached answers of searches become outdated
//	migrations.go            plans and migrations
//	recordkeeper.go, recorditems.go   records beside the knowledge bases, and their items
//	apikeys.go               API keys
//	usage.go                 how much a tenant stores and writes
//	location.go              knowledge base → index, fields, filters that always apply
//	document.go              chunk → document
//	chunk.go                 document → chunk
//	verify.go, drift.go      compare documents with their chunks, settings with those needed
package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/schema"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/scoring"
)

// Options of a store. Only Embed may be nil.
type Options struct {
	Client    *rest.Client
	Tokenizer engine.Tokenizer
	// Prefix starts the name of every index: lower-case letters, digits, "_" and "-".
	Prefix string
	// Embed embeds texts for knowledge bases that change their model;
	// fault.Unsupported for a model that is not configured.
	Embed engine.Embed

	Writes *engine.Writes
}

// Store keeps knowledge bases in Elasticsearch. It is safe for concurrent use.
type Store struct {
	client    *rest.Client
	tokenizer engine.Tokenizer
	prefix    string
	embed     engine.Embed
	recent    *recent
	versionAt versionAt
	watched   *engine.Writes
}

// New makes a store. It sends nothing.
func New(o Options) (*Store, error) {
	if strings.Trim(o.Prefix, plainLetters+"-") != "" || strings.HasPrefix(o.Prefix, "-") ||
		strings.HasPrefix(o.Prefix, "_") {
		return nil, fault.Invalid("elasticsearch.index_prefix", o.Prefix,
			"lower-case letters, digits, _ and -, beginning with a letter or digit")
	}
	return &Store{
		client: o.Client, tokenizer: o.Tokenizer, prefix: o.Prefix, embed: o.Embed, recent: newRecent(),
		watched: o.Writes,
	}, nil
}

// prepare makes the catalogue's index, and the template that keeps a write to a deleted
// knowledge base from making an index.
func (s *Store) prepare(ctx context.Context) error {
	if err := s.readable(ctx); err != nil {
		return err
	}
	template := rest.Put("/_index_template/"+s.prefix, mappings.NoAutoCreate(s.prefix+"-*"))
	if err := s.client.Change(ctx, template, nil); err != nil {
		return err
	}
	if err := s.EnsureIndex(ctx, s.catalogueIndex(), mappings.Catalogue()); err != nil {
		return err
	}
	return s.raise(ctx)
}

// DesiredIndex returns the mapping and settings of an index for a knowledge base.
func (s *Store) DesiredIndex(kb *engine.KnowledgeBase) (mappings.Index, error) {
	return mappings.Desired(kb, s.tokenizer.Fingerprint())
}

func (s *Store) createIndex(ctx context.Context, kb *engine.KnowledgeBase) error {
	index, err := s.DesiredIndex(kb)
	if err != nil {
		return err
	}
	if !kb.Shared {
		index.Aliases = map[string]mappings.Alias{s.Alias(kb): {Write: true}, s.WriteAlias(kb): {Write: true}}
	}
	request := rest.Put("/"+s.Index(kb), index)
	err = s.client.Change(ctx, request, nil)
	switch {
	case fault.Is(err, fault.Conflict): // a shared one, or left by an interrupted creation
		return s.verifyIndex(ctx, kb)
	case rest.Refused(err) && mappings.NeedsIK(kb.Analyzer):
		return MissingIK(kb.Analyzer, err)
	}
	return err
}

// MissingIK is the fault of an analyzer whose plugin the nodes do not have.
func MissingIK(analyzer string, err error) *fault.Error {
	return &fault.Error{
		Kind: fault.Unsupported, Field: "analyzer", Err: err,
		Detail: "analyzer " + analyzer + " needs the analysis-ik plugin on every node of Elasticsearch " +
			"(bin/elasticsearch-plugin install analysis-ik); without it choose jieba, cjk or standard",
	}
}

func (s *Store) verifyIndex(ctx context.Context, kb *engine.KnowledgeBase) error {
	live, err := s.liveMappings(ctx, s.Alias(kb))
	if err != nil {
		return err
	}
	for _, found := range live {
		if err := mappings.Verify(kb, &found); err != nil {
			return err
		}
	}
	return nil
}

// EnsureIndex makes an index unless it is there.
func (s *Store) EnsureIndex(ctx context.Context, name string, index mappings.Index) error {
	request := rest.Put("/"+name, index)
	if err := s.client.Change(ctx, request, nil); err != nil && !fault.Is(err, fault.Conflict) {
		return err
	}
	return nil
}

const (
	plainLetters = "abcdefghijklmnopqrstuvwxyz0123456789_"
	maxPlain     = 60  // bytes of a tenant's or a knowledge base's name within an index name
	maxID        = 512 // bytes of an _id, Elasticsearch's limit
	hashBytes    = 16
)

// catalogueIndex holds one document per knowledge base.
func (s *Store) catalogueIndex() string { return s.prefix + "-catalog" }

// Index names the index of one generation of a knowledge base's storage.
// Without a generation it is the alias, or the index that a gateway made before there
// were generations.
func (s *Store) Index(kb *engine.KnowledgeBase) string {
	if kb.Shared || kb.Generation == 0 {
		return s.Alias(kb)
	}
	return fmt.Sprintf("%s-v%d", s.Alias(kb), kb.Generation)
}

// WriteAlias names the alias by which one generation is written to. It goes with the
// generation, so that a gateway that does not know of a migration yet is refused.
func (s *Store) WriteAlias(kb *engine.KnowledgeBase) string {
	if kb.Shared || kb.Generation == 0 {
		return s.Alias(kb)
	}
	return fmt.Sprintf("%s-w%d", s.Alias(kb), kb.Generation)
}

// keptIndex holds the records beside knowledge bases.
func (s *Store) keptIndex() string { return s.prefix + "-records" }

// migrationsIndex holds plans and migrations, historyIndex those that ended.
func (s *Store) migrationsIndex() string { return s.prefix + "-mappings" }
func (s *Store) historyIndex() string    { return s.prefix + "-history" }

// Alias names the index of a knowledge base that is not attached: the alias of
// its own, or the index that it shares with all of its shape.
func (s *Store) Alias(kb *engine.KnowledgeBase) string {
	if kb.Shared {
		name := fmt.Sprintf("%s-shared-%d-%s-%s", s.prefix, kb.Dimensions, strings.ToLower(kb.Analyzer), kb.Kind)
		if further := kb.FieldsOf(scoring.Vector); len(kb.VectorFields) > 0 {
			slices.Sort(further)
			name += "-" + digest(further...)
		}
		return name
	}
	name := fmt.Sprintf("%s-kb-%s-%s", s.prefix, slug(kb.Tenant), slug(kb.ID))
	if slug(kb.Tenant) != kb.Tenant || slug(kb.ID) != kb.ID {
		name += "-" + digest(kb.Tenant, kb.ID) // a part that no plain name has
	}
	return name
}

// slug replaces what an index name may not hold.
func slug(name string) string {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune(plainLetters, r) {
			return r
		}
		return '_'
	}, name)
	return plain[:min(len(plain), maxPlain)]
}

// digest is a hash of a list of names, different for different lists.
func digest(names ...string) string {
	hash := sha256.New()
	for _, name := range names {
		_, _ = fmt.Fprintf(hash, "%d:%s,", len(name), name) // a hash never fails to write
	}
	return hex.EncodeToString(hash.Sum(nil)[:hashBytes])
}

var escapeBar = strings.NewReplacer("%", "%25", "|", "%7C")

// documentID is the _id of a chunk: tenant|kb|chunk, or its digest where that
// is too long.
func documentID(kb *engine.KnowledgeBase, chunk string) string {
	id := escapeBar.Replace(kb.Tenant) + "|" + escapeBar.Replace(kb.ID) + "|" + chunk
	if len(id) > maxID {
		return digest(kb.Tenant, kb.ID, chunk)
	}
	return id
}

// routingOf keeps a knowledge base in a shared index on one shard.
func routingOf(kb *engine.KnowledgeBase) string {
	if !kb.Shared {
		return ""
	}
	return digest(kb.Tenant, kb.ID)
}

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
