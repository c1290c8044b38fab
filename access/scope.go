// Package access holds the permissions of a caller.
package access

import (
	"path"
	"regexp"
	"slices"

	"github.com/hybridge-search/hybridge/filter"
)

// Scope says who the caller is: the tenant, and the knowledge bases that the key is bound
// to (nil: all of the tenant's). Every search, write and listing takes one, so no handler
// can forget it.
type Scope struct {
	Tenant         string
	KnowledgeBases []string
	Key            string // name of the key, for histories; empty without keys
	// Indexes are the names of those that the caller may attach; * stands for any
	// characters. Nil allows every index, an empty list none.
	Indexes []string
	// Filter restricts the key within its knowledge bases: chunks that do not pass
	// do not exist for the caller, and only chunks that pass may be written. Nil: all chunks.
	Filter []filter.Condition
}

// Sees reports whether a chunk passes the filter that the scope is bound to.
func (s *Scope) Sees(chunk filter.Fields) bool { return filter.MatchesAll(s.Filter, chunk) }

// validIndexes matches valid names of indexes, with * as the only wildcard.
var validIndexes = regexp.MustCompile(`^[^\\\[\]/?"<>|\s,#:A-Z]{1,255}$`)

// AcceptedIndexes describes in words what ValidIndexes accepts.
const AcceptedIndexes = "names of indexes, * for any characters"

// ValidIndexes reports whether a text may name the indexes that a key may attach.
func ValidIndexes(pattern string) bool { return validIndexes.MatchString(pattern) }

// AllowsIndex reports whether the scope may attach an index, or all that a pattern stands for:
// a * of the pattern is only met by one of the scope's.
func (s Scope) AllowsIndex(name string) bool {
	if s.Indexes == nil {
		return true
	}
	return slices.ContainsFunc(s.Indexes, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return matched && err == nil
	})
}

// Allows reports whether the scope may see a knowledge base.
func (s Scope) Allows(id string) bool {
	return s.KnowledgeBases == nil || slices.Contains(s.KnowledgeBases, id)
}
