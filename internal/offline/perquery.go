package offline

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// PerQueryReport says how much fitted weights per query gain.
type PerQueryReport struct {
	*tune.PerQueryResult
	// Searched is the mean that the search itself gives over all questions by the model, to see how near what is worked
	// out in memory comes; nil: there is no model.
	Searched *float64 `json:"searched,omitempty"`
	Preset   string   `json:"preset_yaml,omitempty"` // for the configuration; empty: nothing is recommended
	// Files reports oddities in the files of the sets, by set.
	Files map[string]*exchange.Report `json:"files,omitempty"`
}

// WriteTables writes the report as Markdown.
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

// PerQuery fits weights that follow from the question.
func (t *Tuning) PerQuery(ctx context.Context) (*PerQueryReport, error) {
	if err := t.Load(ctx); err != nil {
		return nil, err
	}
	fit, err := tune.NewPerQuery(*t.Options)
	if err != nil {
		return nil, err
	}
	if err := t.Fetch(ctx, fit); err != nil {
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
	written := writtenOver(t.Evaluator.config, result.Best)
	written.WeightsBy = result.Model
	if report.Searched, err = t.searchBy(ctx, presets.Custom{
		Base: written.Preset, TopK: written.TopK, WeightsBy: result.Model, Overrides: written.Overrides,
	}); err != nil || !result.Recommended {
		return report, err
	}
	report.Preset, err = result.WritePreset(t.Name, written)
	return report, err
}

// searchBy asks all questions by a preset that is not saved.
func (t *Tuning) searchBy(ctx context.Context, custom presets.Custom) (*float64, error) {
	const name = "per-query"
	planners, err := presets.With(map[string]presets.Custom{name: custom})
	if err != nil {
		return nil, err
	}
	topK, sum := t.Options.Space.TopK, 0.0
	for i, set := range t.Sets {
		searcher := t.Evaluator.Searcher(t.stored[i])
		searcher.Planners = app.WithSynonymBoost(planners, t.Evaluator.config.Synonyms.Boost)
		system := evaluation.System{Name: name, Request: search.Request{Preset: name, TopK: &topK}}
		result, err := evaluation.Run(ctx, searcher, t.stored[i], set, system)
		if err != nil {
			return nil, err
		}
		sum += result.Mean(&t.Options.Metric, set)
	}
	mean := sum / float64(len(t.Sets))
	return &mean, nil
}
