package versioned

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/versions"
)

// SavedPresets stores the presets that tenants save at run time, with their versions.
type SavedPresets interface {
	Sets
	// Details lists all presets that a tenant may name.
	Details(ctx context.Context, tenant string) ([]presets.Detail, error)
	// Given is a built-in or configured preset; source is empty if there is none of the name.
	Given(name string) (d *presets.Definition, source string)
	// Unused is why searches cannot name a version; empty: they can.
	Unused(v *versions.Version) string
}

// Presets are the presets that a search may name.
type Presets struct {
	Presets []string `json:"presets"`
	Default string   `json:"default" doc:"Of a search that names none: the saved preset default where there is one, else that of the configuration."`
	// Rerankers are the valid values of rerank.
	Rerankers []string         `json:"rerankers,omitempty" doc:"What rerank may name."`
	Rewrites  bool             `json:"rewrites,omitempty" doc:"Whether a language model writes what rewrite asks for."`
	Details   []presets.Detail `json:"details,omitempty" doc:"Where each is from, and saved ones that are not used."`
}

// PresetVersion is one state of a preset.
type PresetVersion struct {
	Name       string              `json:"name"`
	Source     string              `json:"source" enum:"builtin,file,saved" doc:"builtin, file: of the configuration, or saved: by this API."`
	Version    int                 `json:"version,omitempty" doc:"Of a saved one, from 1."`
	Author     string              `json:"author,omitempty" doc:"Name of the key that made it."`
	Comment    string              `json:"comment,omitempty"`
	CreatedAt  time.Time           `json:"created_at,omitzero"`
	Definition *presets.Definition `json:"definition,omitempty" doc:"Left out of lists, and of a built-in one."`
	Unused     string              `json:"unused,omitempty" locale:"text" doc:"Why searches cannot name it."`
}

// PresetHistory is the answer to listing a preset's versions.
type PresetHistory struct {
	Versions []PresetVersion `json:"versions" doc:"The newest first, without the definitions."`
}

// PresetEdit is a new state of a preset.
type PresetEdit struct {
	Definition  *presets.Definition `json:"definition" doc:"A built-in preset and what it changes, as the configuration has presets."`
	BaseVersion *int                `json:"base_version,omitempty" minimum:"0" maximum:"1000000000" doc:"The version that was edited, 0: there is none; a conflict when another came since."`
	Comment     string              `json:"comment,omitempty" doc:"Why, for the history; at most 1000 bytes."`
}

type presetInput struct {
	Name    string `path:"name" doc:"A preset."`
	Version int    `query:"version" minimum:"0" maximum:"1000000000" doc:"Of a saved one; 0: the one in use."`
}

type deletePresetInput struct {
	Name        string `path:"name" doc:"A saved preset."`
	BaseVersion int    `query:"base_version" minimum:"0" maximum:"1000000000" doc:"The version that was in use when this was decided; a conflict when another came since. 0: whatever is in use."`
}

type presetVersionsInput struct {
	Name  string `path:"name" doc:"A saved preset."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Versions at most."`
}

type savePresetInput struct {
	Name string `path:"name" doc:"1 to 64 of a-z, 0-9, _ and -, the first a letter or digit; no built-in preset, and none of the configuration."`
	Body PresetEdit
}

type rollbackPresetInput struct {
	Name string `path:"name" doc:"A saved preset."`
	Body Rollback
}

const (
	presetsPath = "/v1/presets"
	presetPath  = presetsPath + "/{name}"
)

// presetSearcher lists presets and rerankers.
type presetSearcher interface {
	Presets(tenant string) (names []string, standard string)
	Models() (rerankers []string, writes bool)
}

// presetService manages the presets that tenants save.
type presetService struct {
	api      *endpoint.API
	searcher presetSearcher
	store    SavedPresets // nil: there are none but the searcher's
}

func (s *presetService) register() {
	const tag = "presets"
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: presetsPath, Tag: "search", Access: endpoint.Reads,
		ID: "list-presets", Summary: "The presets that a search may name",
		About: "Built-in ones, those of the configuration, and those that the tenant saved. Also the rerankers that may " +
			"be named, and whether a language model writes further wordings.",
	}, s.list)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: presetPath, Tag: tag, Access: endpoint.Reads,
		ID: "get-preset", Summary: "Get a preset, of a saved one also an earlier version",
		About: "With the version that an edit is based on.",
	}, s.get)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPut, Path: presetPath, Tag: tag, Access: endpoint.Governs, Role: keys.Manage,
		ID: "save-preset", Summary: "Put a preset into use, at once, as a new version",
		About: "For the tenant's searches, up to 100 presets. A bad definition is refused with its place and changes " +
			"nothing. Presets of the configuration win: their names cannot be saved. The one that is called default " +
			"is of searches that name none.",
	}, s.save)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodDelete, Path: presetPath, Tag: tag, Access: endpoint.Governs, Role: keys.Manage,
		Status: http.StatusNoContent, ID: "delete-preset", Summary: "Delete a saved preset with all its versions",
		About: "Searches that name it fail from then on. Without one called default, searches that name none have that of " +
			"the configuration again.",
	}, s.remove)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: presetPath + "/versions", Tag: tag, Access: endpoint.Reads,
		ID: "list-preset-versions", Summary: "List the versions of a saved preset",
		About: "The newest first: who saved it, when and with which comment.",
	}, s.history)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: presetPath + "/rollback", Tag: tag, Access: endpoint.Governs, Role: keys.Manage,
		ID: "rollback-preset", Summary: "Put an earlier version of a preset into use again",
		About: "It becomes a new version, so that nothing is lost.",
	}, s.rollback)
}

func (s *presetService) list(ctx context.Context, scope access.Scope, _ *struct{}) (*Presets, error) {
	names, standard := s.searcher.Presets(scope.Tenant)
	rerankers, writes := s.searcher.Models()
	list := &Presets{Presets: names, Default: standard, Rerankers: rerankers, Rewrites: writes}
	if s.store == nil {
		return list, nil
	}
	var err error
	list.Details, err = s.store.Details(ctx, scope.Tenant)
	return list, err
}

func (s *presetService) get(ctx context.Context, scope access.Scope, in *presetInput) (*PresetVersion, error) {
	given, source := s.store.Given(in.Name)
	if source != "" && in.Version == 0 {
		return &PresetVersion{Name: in.Name, Source: source, Definition: given}, nil
	}
	v, err := s.store.Get(ctx, scope.Tenant, in.Name, in.Version)
	if err == nil && v.Version == 0 {
		err = s.unsaved(in.Name)
	}
	return s.presetVersion(v, err)
}

func (s *presetService) history(
	ctx context.Context, scope access.Scope, in *presetVersionsInput,
) (*PresetHistory, error) {
	all, err := s.store.History(ctx, scope.Tenant, in.Name, in.Limit)
	if err == nil && len(all) == 0 {
		err = s.unsaved(in.Name)
	}
	if err != nil {
		return nil, err
	}
	history := &PresetHistory{Versions: make([]PresetVersion, len(all))}
	for i := range all {
		history.Versions[i] = presetState(&all[i])
	}
	return history, nil
}

func (s *presetService) save(ctx context.Context, scope access.Scope, in *savePresetInput) (*PresetVersion, error) {
	if in.Body.Definition == nil {
		return nil, fault.Invalid("definition", nil, "a preset, such as {\"base\": \"balanced\", \"top_k\": 5}")
	}
	text, err := in.Body.Definition.Text()
	if err != nil {
		return nil, err
	}
	edit := versions.Edit{Set: in.Name, Text: text, Base: in.Body.BaseVersion, Comment: in.Body.Comment}
	if err := preparePreset(scope, &edit); err != nil {
		return nil, err
	}
	return s.presetVersion(s.store.Save(ctx, edit))
}

func (s *presetService) rollback(
	ctx context.Context, scope access.Scope, in *rollbackPresetInput,
) (*PresetVersion, error) {
	edit := versions.Edit{Set: in.Name, Base: in.Body.BaseVersion, Comment: in.Body.Comment}
	if err := preparePreset(scope, &edit); err != nil {
		return nil, err
	}
	if in.Body.Version < 1 {
		return nil, fault.Invalid("version", in.Body.Version, "a version of the preset, from 1")
	}
	if err := s.checkSaved(ctx, scope, in.Name); err != nil {
		return nil, err
	}
	return s.presetVersion(s.store.Rollback(ctx, edit, in.Body.Version))
}

func (s *presetService) remove(ctx context.Context, scope access.Scope, in *deletePresetInput) (*struct{}, error) {
	if err := mayChangePresets(scope); err != nil {
		return nil, err
	}
	if err := s.checkSaved(ctx, scope, in.Name); err != nil {
		return nil, err
	}
	var base *int
	if in.BaseVersion > 0 {
		base = &in.BaseVersion
	}
	return nil, s.store.Delete(ctx, scope.Tenant, in.Name, base)
}

// checkSaved refuses a name that the tenant has not saved.
func (s *presetService) checkSaved(ctx context.Context, scope access.Scope, name string) error {
	v, err := s.store.Get(ctx, scope.Tenant, name, 0)
	if err != nil || v.Version > 0 {
		return err
	}
	return s.unsaved(name)
}

// unsaved says that a tenant has saved nothing by a name.
func (s *presetService) unsaved(name string) error {
	err := &fault.Error{Kind: fault.NotFound, Field: "name"}
	err.Detail = fmt.Sprintf("preset %q does not exist", endpoint.Clip(name))
	if _, source := s.store.Given(name); source != "" {
		err.Detail = fmt.Sprintf("preset %q was not saved: it comes with the gateway or its configuration", name)
	}
	return err
}

// mayChangePresets refuses keys without access to everything that a preset changes.
func mayChangePresets(scope access.Scope) error {
	if scope.KnowledgeBases == nil {
		return nil
	}
	return fault.New(fault.Forbidden, "this key is bound to knowledge bases; presets are for all of them")
}

// preparePreset checks an edit and says whose it is.
func preparePreset(scope access.Scope, edit *versions.Edit) error {
	if err := mayChangePresets(scope); err != nil {
		return err
	}
	return sign(scope, edit)
}

func (s *presetService) presetVersion(v *versions.Version, err error) (*PresetVersion, error) {
	if err != nil {
		return nil, err
	}
	state := presetState(v)
	state.Unused = s.store.Unused(v)
	state.Definition, err = presets.ReadDefinition(v.Text)
	return &state, err
}

// presetState is a version without its definition.
func presetState(v *versions.Version) PresetVersion {
	return PresetVersion{
		Name: v.Set, Source: presets.FromSaved, Version: v.Version,
		Author: v.Author, Comment: v.Comment, CreatedAt: v.CreatedAt,
	}
}
