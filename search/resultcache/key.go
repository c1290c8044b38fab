package resultcache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search"
)

// format changes when answers cached by earlier versions can no longer be read.
const format = 3

type key [sha256.Size]byte

// dependencies is all that an answer depends on.
type dependencies struct {
	Format      int            `json:"format"`
	Fingerprint string         `json:"fingerprint"`
	Tenant      string         `json:"tenant"`
	Request     search.Request `json:"request"`
	// Preset identifies the saved preset of the requested name.
	Preset string `json:"preset"`
	// Bound is the filter of the scope.
	Bound []filter.Condition `json:"bound"`
	Bases []dependency       `json:"bases"`
}

type dependency struct {
	KB         engine.KnowledgeBase `json:"kb"`
	Generation string               `json:"generation"`
	Plan       search.Plan          `json:"plan"`
	edit
}

// edit identifies the state of a knowledge base's synonyms and rules, which change at run time.
type edit struct {
	Synonyms string `json:"synonyms"`
	Rules    string `json:"rules"`
}

// basis is the state that an answer depends on beside its plan, when its key was made.
type basis struct {
	states map[engine.Ref]string // generations
	edits  map[engine.Ref]edit
	preset string
}

func newBasis() *basis {
	return &basis{states: map[engine.Ref]string{}, edits: map[engine.Ref]edit{}}
}

// errUnknown is for engines that cannot tell the generation.
var errUnknown = errors.New("the generation of a knowledge base is not known")

// keyOf asks the engines for generations, and stores them in stands with the rest; with an error
// the answer cannot be cached.
func (s *Searcher) keyOf(
	ctx context.Context, scope access.Scope, req *search.Request, stands *basis,
) (key, error) {
	stands.preset = s.presetOf(scope, req) // before the plan: an edit in between must be seen
	subjects, err := s.Subjects(ctx, scope, req)
	if err != nil {
		return key{}, err
	}
	all := dependencies{
		Format: format, Fingerprint: s.options.Fingerprint, Tenant: scope.Tenant, Request: *req, Bound: scope.Filter,
		Preset: stands.preset,
	}
	all.Request.Cache = nil
	all.Request.ClientID, all.Request.SessionID, all.Request.Experiments = "", "", nil // who asks changes no answer
	for i := range subjects {
		d, err := s.dependency(ctx, &subjects[i])
		if err != nil {
			return key{}, err
		}
		all.Bases = append(all.Bases, d)
		stands.states[d.KB.Ref], stands.edits[d.KB.Ref] = d.Generation, d.edit
	}
	data, err := json.Marshal(all)
	if err != nil {
		return key{}, err
	}
	return sha256.Sum256(data), nil
}

func (s *Searcher) dependency(ctx context.Context, subject *search.Subject) (dependency, error) {
	d := dependency{KB: subject.KB, Plan: subject.Plan, edit: s.editOf(subject.KB.Ref)}
	generations := subject.Generations()
	if generations == nil {
		return d, errUnknown
	}
	var err error
	d.Generation, err = generations.Generation(ctx, &subject.KB)
	if err == nil && d.Generation == "" {
		err = errUnknown
	}
	return d, err
}

func (s *Searcher) editOf(kb engine.Ref) (e edit) {
	if s.options.Synonyms != nil {
		e.Synonyms = s.options.Synonyms(kb)
	}
	if s.options.Rules != nil {
		e.Rules = s.options.Rules(kb)
	}
	return e
}

// presetOf identifies the saved preset of a request, named or by default.
func (s *Searcher) presetOf(scope access.Scope, req *search.Request) string {
	if s.options.Presets == nil {
		return ""
	}
	return s.options.Presets(scope.Tenant, cmp.Or(req.Preset, search.PresetDefault))
}

// edited reports whether synonyms, rules or the preset changed since the key was made: the answer may depend on the
// new ones, and its key on the old ones, which a rollback puts into use again.
func (s *Searcher) edited(stood *basis, scope access.Scope, req *search.Request) bool {
	for kb, was := range stood.edits {
		if s.editOf(kb) != was {
			return true
		}
	}
	return s.presetOf(scope, req) != stood.preset
}
