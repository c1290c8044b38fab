package app

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/rules"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/synonyms"
	"github.com/hybridge-search/hybridge/versions"
)

// customization holds the users' changes to searches.
type customization struct {
	synonyms *synonyms.Library // of files
	edited   *synonyms.Store   // edited through the API
	rules    *versions.Store[*rules.Set]
	planners map[string]search.Planner // of the presets that all tenants have
	presets  *presets.Store            // saved by tenants
}

func (c *customization) open(ctx context.Context, o *Options, analyzer *tokens.Analyzer) error {
	if err := c.openSynonyms(ctx, o, analyzer); err != nil {
		return err
	}
	if err := c.openRules(ctx, o, analyzer); err != nil {
		return err
	}
	return c.openPresets(ctx, o)
}

func (c *customization) openSynonyms(ctx context.Context, o *Options, analyzer *tokens.Analyzer) (err error) {
	c.synonyms, err = synonyms.Open(synonyms.Options{
		Path: o.Config.Synonyms.Path, Tokenizer: analyzer, OnReload: func(err error) { synonymsReloaded(o.Logger, err) },
	})
	if err != nil {
		return err
	}
	c.edited, err = synonyms.OpenStore(ctx, synonyms.StoreOptions{
		Path: o.Config.DataDir, Tokenizer: analyzer, Versions: o.Config.Synonyms.Versions, Logger: o.Logger,
	})
	return err
}

func synonymsReloaded(log *slog.Logger, err error) {
	if err != nil {
		log.Warn("the synonyms were not reloaded, those from before stay in use", "error", err)
		return
	}
	log.Info("the synonyms were reloaded")
}

func (c *customization) openRules(ctx context.Context, o *Options, analyzer *tokens.Analyzer) (err error) {
	c.rules, err = versions.Open(ctx, versions.Options[*rules.Set]{
		Folder: o.Config.DataDir, File: "rules.db", Versions: o.Config.Synonyms.Versions, Logger: o.Logger,
		Compile: func(_ string, _ int, text string) (*rules.Set, int, error) {
			set, err := rules.Parse(text, analyzer)
			return set, set.Len(), err
		},
	})
	return err
}

func (c *customization) openPresets(ctx context.Context, o *Options) (err error) {
	if c.planners, err = Planners(o.Config); err != nil {
		return err
	}
	c.presets, err = presets.OpenStore(ctx, presets.StoreOptions{
		Folder: o.Config.DataDir, Planners: c.planners, Custom: customPresets(o.Config.Presets),
		Rerankers: slices.Sorted(maps.Keys(o.Config.AllRerankers())), Rewrites: o.Config.LLM.URL != "",
		Versions: o.Config.Synonyms.Versions, Logger: o.Logger,
	})
	return err
}

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

func (c *customization) close() error {
	var errs []error
	if c.synonyms != nil {
		errs = append(errs, c.synonyms.Close())
	}
	if c.edited != nil {
		errs = append(errs, c.edited.Close())
	}
	if c.rules != nil {
		errs = append(errs, c.rules.Close())
	}
	if c.presets != nil {
		errs = append(errs, c.presets.Close())
	}
	return errors.Join(errs...)
}
