package presets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/versions"
)

// MaxSaved is how many presets a tenant may save.
const MaxSaved = 100

// Where a preset is from.
const (
	FromBuiltin = "builtin"
	FromFile    = "file" // the configuration
	FromSaved   = "saved"
)

// StoreOptions configure a Store.
type StoreOptions struct {
	Folder string // of its file, which must exist
	// Planners are the presets that are there for everybody; their names are not for saved ones.
	Planners map[string]search.Planner
	// Custom describes the Planners that the configuration defines.
	Custom map[string]Custom
	// Rerankers are the names that rerank may have, and Rewrites is whether rewrite may be asked for.
	Rerankers []string
	Rewrites  bool
	Versions  int // of each preset that are kept; versions.Kept when 0
	Logger    *slog.Logger
}

// Saved is a definition that is in use. It never changes.
type Saved struct {
	Definition *Definition
	planner    search.Planner
}

// Store keeps the presets that tenants save while the gateway runs, with their versions. It is
// safe for concurrent use.
type Store struct {
	*versions.Store[*Saved]
	options StoreOptions
	bases   map[string]search.Planner
}

// OpenStore opens or creates the file and compiles the versions in use. A preset that is no longer
// accepted, as one whose name the configuration has by now, is logged and not used.
func OpenStore(ctx context.Context, o StoreOptions) (*Store, error) {
	s := &Store{options: o, bases: map[string]search.Planner{}}
	for name := range builtin {
		if planner := o.Planners[name]; planner != nil {
			s.bases[name] = planner
		}
	}
	kept, err := versions.Open(ctx, versions.Options[*Saved]{
		Folder: o.Folder, File: "presets.db", Compile: s.compile, Versions: o.Versions, Sets: MaxSaved, Logger: o.Logger,
	})
	if err != nil {
		return nil, err
	}
	s.Store = kept
	return s, nil
}

// compile makes a planner of a text. It counts no rules: a definition has none.
func (s *Store) compile(name string, _ int, text string) (*Saved, int, error) {
	const at = "definition"
	if err := s.checkName(name); err != nil {
		return nil, 0, err
	}
	if len(text) > MaxDefinition {
		return nil, 0, fault.Invalid(at, fmt.Sprintf("%d bytes", len(text)), "at most 65536 bytes of JSON")
	}
	d := &Definition{}
	if err := json.Unmarshal([]byte(text), d, json.RejectUnknownMembers(true)); err != nil {
		return nil, 0, fault.Wrap(fault.InvalidArgument, err, "the definition of preset %s cannot be read", name)
	}
	planner, err := d.compile(name, at, s.bases)
	if err == nil {
		err = cmp.Or(s.checkModels(d, at+"."), d.Provenance.check(at+".provenance."))
	}
	if err != nil {
		return nil, 0, named(err, at)
	}
	return &Saved{Definition: d, planner: planner}, 0, nil
}

// named gives an error about all of a definition its field.
func named(err error, at string) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Field == "" {
		f.Field = at
	}
	return err
}

// checkName refuses names that others have: presets that are there for everybody win.
func (s *Store) checkName(name string) error {
	if !validName.MatchString(name) {
		return fault.Invalid("name", name, "1 to 64 of a-z, 0-9, _ and -, the first a letter or digit")
	}
	_, source := s.Given(name)
	if source == "" {
		return nil
	}
	taken := &fault.Error{Kind: fault.Conflict, Field: "name"}
	taken.Detail = fmt.Sprintf("preset %q is built in; a saved one needs another name", name)
	if source == FromFile {
		taken.Detail = fmt.Sprintf("the configuration has a preset %q, which wins; a saved one needs another name", name)
	}
	return taken
}

// checkModels refuses models that are not configured.
func (s *Store) checkModels(d *Definition, at string) error {
	if by := d.Rerank.Planned(); by != nil && !slices.Contains(s.options.Rerankers, by.Name) {
		known := "(none)"
		if len(s.options.Rerankers) > 0 {
			known = strings.Join(s.options.Rerankers, ", ")
		}
		return fault.Invalid(at+"rerank", by.Name, "null, or one of the configured rerankers: "+known)
	}
	if d.Rewrite != nil && !s.options.Rewrites {
		return &fault.Error{
			Kind: fault.InvalidArgument, Field: at + "rewrite",
			Detail: fmt.Sprintf("%s needs llm.url, which is not set", at+"rewrite"),
		}
	}
	return nil
}

// Planner implements search.SavedPresets.
func (s *Store) Planner(tenant, name string) search.Planner {
	if saved := s.InUse(tenant, name); saved != nil {
		return saved.planner
	}
	return nil
}

// Given is a built-in or configured preset; source is empty if there is none of the name.
// A built-in one has no definition.
func (s *Store) Given(name string) (d *Definition, source string) {
	if custom, of := s.options.Custom[name]; of {
		return &Definition{Custom: custom}, FromFile
	}
	if s.options.Planners[name] != nil {
		return nil, FromBuiltin
	}
	return nil, ""
}

// Detail is the entry of a preset in a list.
type Detail struct {
	Name        string      `json:"name"`
	Source      string      `json:"source" enum:"builtin,file,saved" doc:"builtin, file: of the configuration, or saved: by this API."`
	Version     int         `json:"version,omitempty" doc:"That is in use of a saved one, from 1."`
	Description string      `json:"description,omitempty" locale:"text" doc:"What it does; of those not built in as they were given."`
	WhenToUse   string      `json:"when_to_use,omitempty" locale:"text" doc:"What a built-in one is for."`
	Base        string      `json:"base,omitempty" doc:"Built-in preset that it changes."`
	Provenance  *Provenance `json:"provenance,omitempty"`
	UpdatedAt   time.Time   `json:"updated_at,omitzero" doc:"When a saved one changed last."`
	Unused      string      `json:"unused,omitempty" locale:"text" doc:"Why searches cannot name this saved one, as when the configuration has a preset of its name by now."`
}

// Details lists the presets that a tenant has, by name.
func (s *Store) Details(ctx context.Context, tenant string) ([]Detail, error) {
	stored, err := s.List(ctx, tenant)
	if err != nil {
		return nil, err
	}
	all := make([]Detail, 0, len(s.options.Planners)+len(stored))
	for name := range s.options.Planners {
		d, source := s.Given(name)
		all = append(all, detail(name, source, d))
	}
	for i := range stored {
		one, err := s.detail(ctx, tenant, &stored[i])
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Detail) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source))
	})
	return all, nil
}

// detail describes a saved preset, with the reason where it is not used.
func (s *Store) detail(ctx context.Context, tenant string, v *versions.Version) (Detail, error) {
	saved, unused := s.InUse(tenant, v.Set), ""
	if saved == nil {
		stored, err := s.Get(ctx, tenant, v.Set, v.Version)
		if err != nil {
			return Detail{}, err
		}
		unused = s.Unused(stored)
		d, _ := ReadDefinition(stored.Text) // its error is in unused
		saved = &Saved{Definition: d}
	}
	one := detail(v.Set, FromSaved, saved.Definition)
	one.Version, one.UpdatedAt, one.Unused = v.Version, v.CreatedAt, unused
	return one, nil
}

// Unused is why searches cannot name a version; empty: they can.
func (s *Store) Unused(v *versions.Version) string {
	_, _, err := s.compile(v.Set, v.Version, v.Text)
	if err == nil {
		return ""
	}
	return err.Error()
}

func detail(name, source string, d *Definition) Detail {
	one := Detail{Name: name, Source: source}
	if d != nil {
		one.Base, one.Description, one.Provenance = d.Base, d.Description, d.Provenance
	} else if source == FromBuiltin {
		one.Description, one.WhenToUse = builtin[name].description, builtin[name].whenToUse
	}
	return one
}
