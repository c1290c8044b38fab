package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/synonyms"
)

// Synonyms keeps the sets that are edited while the gateway runs.
type Synonyms interface {
	List(ctx context.Context, tenant string) ([]synonyms.Version, error)
	Get(ctx context.Context, tenant, set string, version int) (*synonyms.Version, error)
	History(ctx context.Context, tenant, set string, limit int) ([]synonyms.Version, error)
	Save(ctx context.Context, edit synonyms.Edit) (*synonyms.Version, error)
	Rollback(ctx context.Context, edit synonyms.Edit, version int) (*synonyms.Version, error)
	Delete(ctx context.Context, tenant, set string) error
	Try(set, text, question string) (applied []synonyms.Applied, cut int, err error)
}

// SynonymSets is the answer to listing them.
type SynonymSets struct {
	Sets []synonyms.Version `json:"sets" doc:"What is in use of each set, without the texts."`
}

// SynonymHistory is the answer to listing a set's versions.
type SynonymHistory struct {
	Versions []synonyms.Version `json:"versions" doc:"The newest first, without the texts."`
}

// SynonymTrial shows what synonyms do to a question.
type SynonymTrial struct {
	Current []synonyms.Applied `json:"current" doc:"With the version in use."`
	Draft   []synonyms.Applied `json:"draft,omitempty" doc:"With the text given."`
	Cut     int                `json:"cut,omitempty" doc:"Synonyms that are over a limit and left out of both, at least: a rule gives a word 64, a set a question 2048."`
}

type synonymVersionInput struct {
	KB      string `path:"kb" doc:"A knowledge base, or global."`
	Version int    `query:"version" minimum:"0" maximum:"1000000000" doc:"0: the one in use."`
}

type synonymHistoryInput struct {
	KB    string `path:"kb" doc:"A knowledge base, or global."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Versions at most."`
}

// SynonymText is a new text of a set.
type SynonymText struct {
	Text        string `json:"text" doc:"Rules in Solr's format, one a line; a weight as in auto^0.5."`
	BaseVersion *int   `json:"base_version,omitempty" doc:"The version that was edited; a conflict when another came since."`
	Comment     string `json:"comment,omitempty" doc:"Why, for the history; at most 1000 bytes."`
}

// SynonymRollback names the version whose text becomes a new version.
type SynonymRollback struct {
	Version int    `json:"version"`
	Comment string `json:"comment,omitempty" doc:"Why, for the history; at most 1000 bytes."`
}

// SynonymQuestion is a question to try synonyms on.
type SynonymQuestion struct {
	Query string  `json:"query"`
	Text  *string `json:"text,omitempty" doc:"A draft that is not saved."`
}

type saveSynonymsInput struct {
	KB   string `path:"kb" doc:"A knowledge base, or global."`
	Body SynonymText
}

type rollbackSynonymsInput struct {
	KB   string `path:"kb" doc:"A knowledge base, or global."`
	Body SynonymRollback
}

type trySynonymsInput struct {
	KB   string `path:"kb" doc:"A knowledge base, or global."`
	Body SynonymQuestion
}

// synonymBody is room for a text of the largest size as JSON, every letter of it escaped once.
const synonymBody = 2*synonyms.MaxText + 64<<10

const (
	synonymsPath = "/v1/synonyms"
	synonymPath  = synonymsPath + "/{kb}"
)

func (s *Server) synonymRoutes() {
	const tag = "synonyms"
	register(s, route{
		method: http.MethodGet, path: synonymsPath, tag: tag, access: reads,
		id: "list-synonyms", summary: "List the edited synonym sets of the tenant",
	}, s.listSynonyms)
	register(s, route{
		method: http.MethodGet, path: synonymPath, tag: tag, access: reads,
		id: "get-synonyms", summary: "Get a set's text, of the version in use or an earlier one",
	}, s.getSynonyms)
	register(s, route{
		method: http.MethodPut, path: synonymPath, tag: tag, access: governs, role: keys.Manage,
		bodyBytes: synonymBody,
		id:        "save-synonyms", summary: "Put a new text into use, at once, as a new version",
		about: "A bad line is refused with its number and changes nothing.",
	}, s.saveSynonyms)
	register(s, route{
		method: http.MethodGet, path: synonymPath + "/versions", tag: tag, access: reads,
		id: "list-synonym-versions", summary: "List the versions of a set",
	}, s.synonymVersions)
	register(s, route{
		method: http.MethodPost, path: synonymPath + "/rollback", tag: tag, access: governs, role: keys.Manage,
		id: "rollback-synonyms", summary: "Put an earlier version's text into use again",
	}, s.rollbackSynonyms)
	register(s, route{
		method: http.MethodPost, path: synonymPath + "/try", tag: tag, access: reads,
		bodyBytes: synonymBody,
		id:        "try-synonyms", summary: "Show what the synonyms, or a draft of them, do to a question",
	}, s.trySynonyms)
}

// checkSynonymSet checks whether the caller may see a set. It must be that of a knowledge base
// that exists; only keys that are not bound to knowledge bases may see global.
func (s *Server) checkSynonymSet(ctx context.Context, scope access.Scope, name string) error {
	if name == synonyms.Global {
		if scope.KnowledgeBases != nil {
			return fault.New(fault.Forbidden, "this key is bound to knowledge bases; global synonyms are for all of them")
		}
		return nil
	}
	all, err := s.options.Catalog.List(ctx, scope)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(kb engine.KnowledgeBase) bool { return kb.ID == name }) {
		return nil
	}
	return &fault.Error{
		Kind: fault.NotFound, Field: "kb", Detail: fmt.Sprintf("knowledge base %q does not exist", clip(name)),
	}
}

func (s *Server) listSynonyms(ctx context.Context, scope access.Scope, _ *struct{}) (*SynonymSets, error) {
	bases, err := s.options.Catalog.List(ctx, scope)
	if err != nil {
		return nil, err
	}
	all, err := s.options.Synonyms.List(ctx, scope.Tenant)
	if err != nil {
		return nil, err
	}
	visible := &SynonymSets{Sets: []synonyms.Version{}}
	for _, v := range all {
		known := slices.ContainsFunc(bases, func(kb engine.KnowledgeBase) bool { return kb.ID == v.Set })
		if known || v.Set == synonyms.Global && scope.KnowledgeBases == nil {
			visible.Sets = append(visible.Sets, v)
		}
	}
	return visible, nil
}

// dropSynonyms drops the synonyms of a deleted knowledge base and their history, so that a new one
// of the same name does not get them.
func (s *Server) dropSynonyms(ctx context.Context, scope access.Scope, kb string) error {
	if s.options.Synonyms == nil || kb == synonyms.Global {
		return nil
	}
	return s.options.Synonyms.Delete(ctx, scope.Tenant, kb)
}

func (s *Server) getSynonyms(
	ctx context.Context, scope access.Scope, in *synonymVersionInput,
) (*synonyms.Version, error) {
	if err := s.checkSynonymSet(ctx, scope, in.KB); err != nil {
		return nil, err
	}
	return s.options.Synonyms.Get(ctx, scope.Tenant, in.KB, in.Version)
}

func (s *Server) synonymVersions(
	ctx context.Context, scope access.Scope, in *synonymHistoryInput,
) (*SynonymHistory, error) {
	if err := s.checkSynonymSet(ctx, scope, in.KB); err != nil {
		return nil, err
	}
	versions, err := s.options.Synonyms.History(ctx, scope.Tenant, in.KB, in.Limit)
	return &SynonymHistory{Versions: versions}, err
}

func (s *Server) saveSynonyms(
	ctx context.Context, scope access.Scope, in *saveSynonymsInput,
) (*synonyms.Version, error) {
	if err := s.checkSynonymSet(ctx, scope, in.KB); err != nil {
		return nil, err
	}
	edit, err := editOf(scope, in.KB, in.Body.Comment)
	if err != nil {
		return nil, err
	}
	edit.Text, edit.Base = in.Body.Text, in.Body.BaseVersion
	return s.options.Synonyms.Save(ctx, edit)
}

func (s *Server) rollbackSynonyms(
	ctx context.Context, scope access.Scope, in *rollbackSynonymsInput,
) (*synonyms.Version, error) {
	if err := s.checkSynonymSet(ctx, scope, in.KB); err != nil {
		return nil, err
	}
	if in.Body.Version < 1 {
		return nil, fault.Invalid("version", in.Body.Version, "a version of the set, from 1")
	}
	edit, err := editOf(scope, in.KB, in.Body.Comment)
	if err != nil {
		return nil, err
	}
	return s.options.Synonyms.Rollback(ctx, edit, in.Body.Version)
}

// maxComment is the most bytes of the comment of an edit.
const maxComment = 1000

func editOf(scope access.Scope, set, comment string) (synonyms.Edit, error) {
	if len(comment) > maxComment || !utf8.ValidString(comment) {
		return synonyms.Edit{}, fault.Invalid("comment", comment, "at most 1000 bytes of UTF-8")
	}
	return synonyms.Edit{Tenant: scope.Tenant, Set: set, Author: scope.Key, Comment: comment}, nil
}

func (s *Server) trySynonyms(ctx context.Context, scope access.Scope, in *trySynonymsInput) (*SynonymTrial, error) {
	if err := s.checkSynonymSet(ctx, scope, in.KB); err != nil {
		return nil, err
	}
	if in.Body.Query == "" || len(in.Body.Query) > search.MaxQueryBytes {
		return nil, fault.Invalid("query", in.Body.Query, fmt.Sprintf("a question of 1 to %d bytes", search.MaxQueryBytes))
	}
	used, err := s.options.Synonyms.Get(ctx, scope.Tenant, in.KB, 0)
	if err != nil {
		return nil, err
	}
	trial := &SynonymTrial{}
	if trial.Current, trial.Cut, err = s.options.Synonyms.Try(in.KB, used.Text, in.Body.Query); err != nil {
		return nil, err
	}
	if in.Body.Text != nil {
		var cut int
		trial.Draft, cut, err = s.options.Synonyms.Try("draft", *in.Body.Text, in.Body.Query)
		trial.Cut += cut
	}
	return trial, err
}
