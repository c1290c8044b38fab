package measuring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// PerQueryReport is the output per query.
type PerQueryReport struct {
	*tune.PerQueryResult
	// Searched is the mean that the search itself gives over all questions by the model, to see how near what is worked
	// out in memory comes; nil: there is no model.
	Searched *float64 `json:"searched,omitempty"`
	Preset   string   `json:"preset_yaml,omitempty"` // for the configuration; empty: nothing is recommended
	// Files reports oddities in the files of the sets, by set.
	Files map[string]*exchange.Report `json:"files,omitempty"`
}

// WriteTables implements tables.
func (r *PerQueryReport) WriteTables(w io.Writer) error {
	var b bytes.Buffer
	if err := r.PerQueryResult.WriteTables(&b); err != nil {
		return err
	}
	if r.Searched != nil {
		fmt.Fprintf(&b, "\nThe search itself, all questions: %.4f.\n", *r.Searched)
	}
	if r.Preset != "" {
		fmt.Fprintf(&b, "\nFor the configuration file:\n\n```yaml\n%s```\n", r.Preset)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// tunePerQuery fits weights per query.
func tunePerQuery(p *cli.Program, cmd *cobra.Command, f *tuneFlags, t *tuning, settings *config.Config) error {
	report, err := t.perQuery(cmd.Context(), f, settings)
	if err = errors.Join(err, t.close(cmd.Context())); err != nil {
		return err
	}
	return printTuned(cmd.Context(), p, report, f)
}

func (t *tuning) perQuery(ctx context.Context, f *tuneFlags, settings *config.Config) (*PerQueryReport, error) {
	if len(f.space)+len(f.retrieval) > 0 {
		return nil, fault.Invalid("--per-query", true,
			"without --space and --retrieval: tune these first, and begin with that preset")
	}
	if err := t.load(ctx); err != nil {
		return nil, err
	}
	fit, err := tune.NewPerQuery(*t.options)
	if err != nil {
		return nil, err
	}
	if err := t.fetch(ctx, fit); err != nil {
		return nil, err
	}
	result, err := fit.Run(ctx)
	if err != nil {
		return nil, err
	}
	report := &PerQueryReport{PerQueryResult: result, Files: t.files()}
	if result.Model == nil {
		return report, nil
	}
	written := writtenOver(settings, result.Best)
	written.WeightsBy = result.Model
	if report.Searched, err = t.searchBy(ctx, presets.Custom{
		Base: written.Preset, TopK: written.TopK, WeightsBy: result.Model, Overrides: written.Overrides,
	}); err != nil || !result.Recommended {
		return report, err
	}
	report.Preset, err = result.WritePreset(f.name, written)
	return report, err
}

// searchBy asks all questions by a preset that is not saved.
func (t *tuning) searchBy(ctx context.Context, custom presets.Custom) (*float64, error) {
	const name = "per-query"
	planners, err := presets.With(map[string]presets.Custom{name: custom})
	if err != nil {
		return nil, err
	}
	topK, sum := t.options.Space.TopK, 0.0
	for i, set := range t.sets {
		searcher := t.evaluator.searcher(t.stored[i])
		searcher.Planners = app.WithSynonymBoost(planners, t.evaluator.config.Synonyms.Boost)
		system := evaluation.System{Name: name, Request: search.Request{Preset: name, TopK: &topK}}
		result, err := evaluation.Run(ctx, searcher, t.stored[i], set, system)
		if err != nil {
			return nil, err
		}
		sum += result.Mean(&t.options.Metric, set)
	}
	mean := sum / float64(len(t.sets))
	return &mean, nil
}
