// Package versioned has the resources that are edited at run time and keep all their versions.
//
//	versioned.go  Stores: their dependencies
//	sets.go       the common part of sets of knowledge bases
//	synonyms.go, synonymeffects.go, rules.go  such sets
//	presets.go    presets that tenants save
package versioned

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/synonyms"
	"github.com/hybridge-search/hybridge/versions"
)

// Stores are the stores of the resources.
type Stores struct {
	Synonyms Synonyms     // nil: they cannot be edited
	Drafts   Drafts       // of synonyms; nil: nothing is searched by them
	Rules    Sets         // query rules; nil: there are none
	Presets  SavedPresets // nil: there are none but the searcher's
}

// Searcher lists presets and rerankers, and logs queries.
type Searcher interface {
	presetSearcher
	queryLog
}

// queryLog adds a query to the log line of a request, if that is configured.
type queryLog interface {
	NoteQuery(ctx context.Context, query string)
}

// Edited lists the stores with a set for each knowledge base.
type Edited []struct {
	store  Sets
	global string // the set for all knowledge bases
}

// Register adds the resources, and gives the sets to be dropped with a knowledge base.
func Register(api *endpoint.API, catalog Catalog, searcher Searcher, of *Stores) Edited {
	ofSynonyms := &sets[synonyms.Version]{
		catalog: catalog, store: of.Synonyms, global: synonyms.Global,
		brief: func(v *versions.Version) synonyms.Version { return synonyms.Version(*v) },
		whole: func(v *versions.Version) (synonyms.Version, error) { return synonyms.Version(*v), nil },
	}
	ofRules := &sets[RuleSet]{catalog: catalog, store: of.Rules, brief: briefRules, whole: wholeRules}
	(&presetService{api, searcher, of.Presets}).register()
	(&synonymService{api, ofSynonyms, of.Synonyms, of.Drafts, searcher}).register()
	(&ruleService{api, ofRules}).register()
	return Edited{{ofSynonyms.store, ofSynonyms.global}, {ofRules.store, ofRules.global}}
}

// Drop drops the sets of a deleted knowledge base, with their history, so that a new one
// of the same name does not get them.
func (s Edited) Drop(ctx context.Context, scope access.Scope, kb string) error {
	for _, of := range s {
		if of.store == nil || kb == of.global {
			continue
		}
		if err := of.store.Delete(ctx, scope.Tenant, kb, nil); err != nil {
			return err
		}
	}
	return nil
}
