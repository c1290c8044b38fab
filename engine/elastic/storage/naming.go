package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

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
