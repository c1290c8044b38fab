package app

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/rules"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/synonyms"
	"github.com/hybridge-search/hybridge/versions"
)

// Planners returns the planners of all presets, built-in and configured.
func Planners(c *config.Config) (map[string]search.Planner, error) {
	planners, err := presets.With(customPresets(c.Presets))
	if err != nil {
		return nil, err
	}
	if planners[c.DefaultPreset] == nil {
		return nil, fault.Invalid("default_preset", c.DefaultPreset, "the name of a preset, built-in or configured")
	}
	return WithSynonymBoost(planners, c.Synonyms.Boost), nil
}

// customPresets converts the configured presets for package presets.
func customPresets(configured map[string]config.Preset) map[string]presets.Custom {
	custom := make(map[string]presets.Custom, len(configured))
	for name, p := range configured {
		custom[name] = presets.Custom(p)
	}
	return custom
}

func gatewayKeys(configured []config.Key) ([]gateway.Key, error) {
	keys := make([]gateway.Key, len(configured))
	for i, k := range configured {
		hash, err := k.Hash()
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "the key %s cannot be read", k.Name)
		}
		filter, err := k.Conditions()
		if err != nil {
			return nil, err
		}
		keys[i] = gateway.Key{
			Filter: filter,
			Name:   k.Name, Tenant: k.Tenant, KnowledgeBases: k.KnowledgeBases,
			ReadOnly: k.ReadOnly, Attach: k.Attach, Hash: hash,
		}
	}
	return keys, nil
}

// settingsInForce are the settings as the gateway shows them.
func (a *App) settingsInForce() ([]gateway.Setting, error) {
	all, err := a.Config.InForce(a.Origins)
	if err != nil {
		return nil, err
	}
	told := make([]gateway.Setting, len(all))
	for i := range all {
		s := &all[i]
		told[i] = gateway.Setting{
			Key: s.Key, Value: s.Value, Default: s.Default, Source: s.Source, Accept: s.Accept, About: s.Doc,
			Variable: s.Env(), Flag: s.Flag,
		}
	}
	return told, nil
}

// WithSynonymBoost sets the configured boost in all plans that use synonyms.
func WithSynonymBoost(planners map[string]search.Planner, boost float64) map[string]search.Planner {
	boosted := make(map[string]search.Planner, len(planners))
	for name, planner := range planners {
		boosted[name] = func(req *search.Request, fields []engine.Field) (search.Plan, error) {
			plan, err := planner(req, fields)
			if plan.Text.SynonymBoost > 0 {
				plan.Text.SynonymBoost = boost
			}
			return plan, err
		}
	}
	return boosted
}

// ruleSets are the query rules of knowledge bases.
type ruleSets struct{ kept *versions.Store[*rules.Set] }

// For implements search.Rules.
func (r ruleSets) For(kb engine.Ref) *rules.Set { return r.kept.InUse(kb.Tenant, kb.ID) }

// allSynonyms combines the synonyms that were edited through the API, which come first, with those
// of files.
type allSynonyms struct {
	files  *synonyms.Library
	edited editedSynonyms
}

// editedSynonyms are those of the API: what is saved, or what would be if a draft were.
type editedSynonyms interface {
	For(tenant, knowledgeBase string) analysis.Expander
}

// drafts searches by synonyms that are not saved.
type drafts struct{ *App }

// SearchBy implements gateway.Drafts.
func (d drafts) SearchBy(
	ctx context.Context, scope access.Scope, draft *synonyms.Draft, req search.Request,
) (*search.Response, error) {
	if draft == nil {
		return d.observer.Search(ctx, scope, req)
	}
	return d.observer.WithSynonyms(allSynonyms{files: d.synonyms, edited: draft}).Search(ctx, scope, req)
}

// For implements search.Synonyms; nil: there are none.
func (l allSynonyms) For(kb engine.Ref) analysis.Expander {
	edited, files := l.edited.For(kb.Tenant, kb.ID), l.files.For(kb.ID)
	switch {
	case edited == synonyms.None && files == synonyms.None:
		return nil
	case edited == synonyms.None:
		return files
	case files == synonyms.None:
		return edited
	default:
		return expanders{edited, files}
	}
}

// expanders expands by one after the other.
type expanders []analysis.Expander

// Expand implements analysis.Expander.
func (all expanders) Expand(terms []string) (found analysis.Expansions) {
	for _, e := range all {
		found = found.And(e.Expand(terms))
	}
	return found
}
