package versioned

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/versions"
)

// Sets stores sets of knowledge bases that are edited at run time, with their
// versions: synonyms and query rules.
type Sets interface {
	List(ctx context.Context, tenant string) ([]versions.Version, error)
	Get(ctx context.Context, tenant, set string, version int) (*versions.Version, error)
	History(ctx context.Context, tenant, set string, limit int) ([]versions.Version, error)
	Save(ctx context.Context, edit versions.Edit) (*versions.Version, error)
	Rollback(ctx context.Context, edit versions.Edit, version int) (*versions.Version, error)
	Delete(ctx context.Context, tenant, set string, base *int) error
}

type versionInput struct {
	KB      string `path:"kb" doc:"A knowledge base; of synonyms, global too."`
	Version int    `query:"version" minimum:"0" maximum:"1000000000" doc:"0: the one in use."`
}

type versionsInput struct {
	KB    string `path:"kb" doc:"A knowledge base; of synonyms, global too."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Versions at most."`
}

// Rollback names the version whose text becomes a new version.
type Rollback struct {
	Version     int    `json:"version" minimum:"1" maximum:"1000000000"`
	BaseVersion *int   `json:"base_version,omitempty" minimum:"0" maximum:"1000000000" doc:"The version that was in use when this was decided; a conflict when another came since."`
	Comment     string `json:"comment,omitempty" doc:"Why, for the history; at most 1000 bytes."`
}

type rollbackInput struct {
	KB   string `path:"kb" doc:"A knowledge base; of synonyms, global too."`
	Body Rollback
}

// Catalog lists the knowledge bases.
type Catalog interface {
	List(ctx context.Context, scope access.Scope) ([]engine.KnowledgeBase, error)
}

// sets serves the sets of one kind that a caller may see. V is a version as callers see it.
type sets[V any] struct {
	catalog Catalog
	store   Sets   // nil: there are none
	global  string // the name of one for all knowledge bases; empty: there is none

	brief func(*versions.Version) V // without its text
	whole func(*versions.Version) (V, error)
}

// check checks whether the caller may see a set. It must be that of a knowledge base
// that exists; only keys that are not bound to knowledge bases may see the global one.
func (s *sets[V]) check(ctx context.Context, scope access.Scope, name string) error {
	if name == s.global && s.global != "" {
		if scope.KnowledgeBases != nil {
			return fault.New(fault.Forbidden, "this key is bound to knowledge bases; global synonyms are for all of them")
		}
		return nil
	}
	all, err := s.catalog.List(ctx, scope)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(kb engine.KnowledgeBase) bool { return kb.ID == name }) {
		return nil
	}
	return &fault.Error{
		Kind: fault.NotFound, Field: "kb", Detail: fmt.Sprintf("knowledge base %q does not exist", endpoint.Clip(name)),
	}
}

// one is a version, if there is no error.
func (s *sets[V]) one(v *versions.Version, err error) (*V, error) {
	if err != nil {
		return nil, err
	}
	seen, err := s.whole(v)
	return &seen, err
}

// all are versions without their texts.
func (s *sets[V]) all(list []versions.Version) []V {
	seen := make([]V, len(list))
	for i := range list {
		seen[i] = s.brief(&list[i])
	}
	return seen
}

func (s *sets[V]) list(ctx context.Context, scope access.Scope) ([]V, error) {
	bases, err := s.catalog.List(ctx, scope)
	if err != nil {
		return nil, err
	}
	all, err := s.store.List(ctx, scope.Tenant)
	if err != nil {
		return nil, err
	}
	var visible []versions.Version
	for _, v := range all {
		known := slices.ContainsFunc(bases, func(kb engine.KnowledgeBase) bool { return kb.ID == v.Set })
		if known || v.Set == s.global && scope.KnowledgeBases == nil {
			visible = append(visible, v)
		}
	}
	return s.all(visible), nil
}

func (s *sets[V]) get(ctx context.Context, scope access.Scope, in *versionInput) (*V, error) {
	if err := s.check(ctx, scope, in.KB); err != nil {
		return nil, err
	}
	return s.one(s.store.Get(ctx, scope.Tenant, in.KB, in.Version))
}

func (s *sets[V]) history(ctx context.Context, scope access.Scope, in *versionsInput) ([]V, error) {
	if err := s.check(ctx, scope, in.KB); err != nil {
		return nil, err
	}
	list, err := s.store.History(ctx, scope.Tenant, in.KB, in.Limit)
	return s.all(list), err
}

// save makes a new version of a set, in the name of the caller.
func (s *sets[V]) save(ctx context.Context, scope access.Scope, edit versions.Edit) (*V, error) {
	if err := s.prepare(ctx, scope, &edit); err != nil {
		return nil, err
	}
	v, err := s.store.Save(ctx, edit)
	return s.one(s.settled(ctx, scope, v, err))
}

// settled takes an edit back whose knowledge base was deleted meanwhile: nobody would drop it, and
// the next one of the name would get it.
func (s *sets[V]) settled(
	ctx context.Context, scope access.Scope, v *versions.Version, err error,
) (*versions.Version, error) {
	if err != nil {
		return nil, err
	}
	gone := s.check(ctx, scope, v.Set)
	if !fault.Is(gone, fault.NotFound) {
		return v, nil // it is saved, even if that cannot be reported now
	}
	if err := s.store.Delete(ctx, scope.Tenant, v.Set, &v.Version); err != nil && !fault.Is(err, fault.Conflict) {
		return nil, err
	}
	return nil, gone
}

func (s *sets[V]) rollback(ctx context.Context, scope access.Scope, in *rollbackInput) (*V, error) {
	edit := versions.Edit{Set: in.KB, Base: in.Body.BaseVersion, Comment: in.Body.Comment}
	if err := s.prepare(ctx, scope, &edit); err != nil {
		return nil, err
	}
	if in.Body.Version < 1 {
		return nil, fault.Invalid("version", in.Body.Version, "a version of the set, from 1")
	}
	v, err := s.store.Rollback(ctx, edit, in.Body.Version)
	return s.one(s.settled(ctx, scope, v, err))
}

// maxComment is the most bytes of the comment of an edit.
const maxComment = 1000

// prepare checks an edit and records its author.
func (s *sets[V]) prepare(ctx context.Context, scope access.Scope, edit *versions.Edit) error {
	if err := s.check(ctx, scope, edit.Set); err != nil {
		return err
	}
	return sign(scope, edit)
}

// sign checks the comment of an edit and records its author.
func sign(scope access.Scope, edit *versions.Edit) error {
	if len(edit.Comment) > maxComment || !utf8.ValidString(edit.Comment) {
		return fault.Invalid("comment", edit.Comment, "at most 1000 bytes of UTF-8")
	}
	edit.Tenant, edit.Author = scope.Tenant, scope.Key
	return nil
}
