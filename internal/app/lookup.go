package app

import (
	"maps"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/rules"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/synonyms"
	"github.com/hybridge-search/hybridge/versions"
)

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

// editedSynonyms are the synonyms edited by the API: saved ones, or a draft.
type editedSynonyms interface {
	For(tenant, knowledgeBase string) analysis.Expander
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

// tenantPresets are the configured presets and the saved ones of a tenant.
type tenantPresets struct {
	saved    *presets.Store
	planners map[string]search.Planner
	usual    string
}

// Planners implements runs.Presets.
func (p tenantPresets) Planners(tenant string) map[string]search.Planner {
	all := maps.Clone(p.planners)
	for _, name := range p.saved.Names(tenant) {
		if _, given := all[name]; !given {
			all[name] = p.saved.Planner(tenant, name)
		}
	}
	return all
}

// Custom implements runs.Presets.
func (p tenantPresets) Custom(tenant, name string) *presets.Custom {
	if d, source := p.saved.Given(name); source != "" {
		if d == nil {
			return nil
		}
		return &d.Custom
	}
	if saved := p.saved.InUse(tenant, name); saved != nil {
		return &saved.Definition.Custom
	}
	return nil
}

// Usual implements runs.Presets.
func (p tenantPresets) Usual() string { return p.usual }
