package offline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

// TuneReport is the result of a tuning.
type TuneReport struct {
	*tune.Result
	// Searched are the means that the search itself gives over all questions, to see how near what is worked out in
	// memory comes.
	Searched struct {
		Start float64 `json:"start"`
		Best  float64 `json:"best"`
	} `json:"searched"`
	Preset string `json:"preset_yaml,omitempty"` // for the configuration; empty: nothing is recommended
	// Files reports oddities in the files of the sets, by set.
	Files map[string]*exchange.Report `json:"files,omitempty"`
}

// WriteTables writes the report as Markdown.
func (r *TuneReport) WriteTables(w io.Writer) error {
	var b bytes.Buffer
	if err := r.Result.WriteTables(&b); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nThe search itself, all questions: %s %.4f, the variant that all choose %.4f.\n",
		r.Result.Preset, r.Searched.Start, r.Searched.Best)
	if r.Preset != "" {
		fmt.Fprintf(&b, "\nFor the configuration file:\n\n```yaml\n%s```\n", r.Preset)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Tuning is one search for better weights.
type Tuning struct {
	Evaluator *Evaluator
	Options   *tune.Options
	Name      string // of the preset that is recommended
	Sets      []*evaluation.Set

	stored []*evaluation.StoredSet // of the sets
}

// NewTuning tunes by the sets of an evaluator, among its presets.
func NewTuning(e *Evaluator, o *tune.Options, name string) *Tuning {
	o.Space.Planners = e.planners
	return &Tuning{Evaluator: e, Options: o, Name: name}
}

// Close removes the stored data, and closes the evaluator.
func (t *Tuning) Close(ctx context.Context) error {
	return errors.Join(t.Remove(ctx), t.Evaluator.Close())
}

// Remove deletes the stored data of the sets.
func (t *Tuning) Remove(ctx context.Context) error {
	var errs []error
	for _, stored := range t.stored {
		errs = append(errs, stored.Remove(ctx))
	}
	return errors.Join(errs...)
}

// files collects the oddities in the sets' files.
func (t *Tuning) files() map[string]*exchange.Report {
	all := map[string]*exchange.Report{}
	for _, set := range t.Sets {
		if !set.Report.IsZero() {
			all[set.Name] = set.Report
		}
	}
	return all
}

// Load reads the sets.
func (t *Tuning) Load(ctx context.Context) (err error) {
	if t.Sets, err = t.Evaluator.LoadAll(ctx); err != nil {
		return err
	}
	kb := engine.KnowledgeBase{Kind: engine.KindChunks, Dimensions: t.Sets[0].Dimensions}
	t.Options.Space.Fields = kb.Fields()
	t.Options.Digests = map[string]string{}
	for _, set := range t.Sets {
		if t.Options.Digests[set.Name] != "" {
			return fault.Invalid("--data", set.Name, "folders of different names")
		}
		t.Options.Digests[set.Name] = set.Digest()
	}
	return nil
}

// Run tunes, and searches by the preset as it was and by the variant that was found.
func (t *Tuning) Run(ctx context.Context) (report *TuneReport, err error) {
	if err := t.Load(ctx); err != nil {
		return nil, err
	}
	result, err := t.Tune(ctx)
	if err != nil {
		return nil, err
	}
	report = &TuneReport{Result: result, Files: t.files()}
	if err := t.search(ctx, report); err != nil || !report.Recommended {
		return report, err
	}
	report.Preset, err = result.WritePreset(t.Name, writtenOver(t.Evaluator.config, result.Best))
	return report, err
}

// Tune searches by the sets that are loaded.
func (t *Tuning) Tune(ctx context.Context) (*tune.Result, error) {
	if err := t.Options.Space.Complete(); err != nil {
		return nil, err
	}
	var bar *cli.Progress
	defer func() { bar.Finish() }()
	t.Options.Progress = func(_, of int) {
		if bar == nil {
			bar = cli.NewProgress(t.Evaluator.stderr, "variants", int64(of), cli.InPieces)
		}
		bar.Add(1)
	}
	tuner, err := tune.New(*t.Options)
	if err != nil {
		return nil, err
	}
	if err := t.Fetch(ctx, tuner); err != nil {
		return nil, err
	}
	return tuner.Run(ctx)
}

// Observing collects the observations of the legs.
type Observing interface {
	Requests() []search.Request
	Add(request int, q tune.Question, said *search.Observed) error
}

// Fetch asks every question in every way of retrieving.
func (t *Tuning) Fetch(ctx context.Context, tuner Observing) error {
	questions := 0
	for _, set := range t.Sets {
		questions += len(set.Judgments)
	}
	requests := tuner.Requests()
	bar := cli.NewProgress(t.Evaluator.stderr, "questions", int64(questions*len(requests)), cli.InPieces)
	defer bar.Finish()
	var one sync.Mutex
	for _, set := range t.Sets {
		stored, err := evaluation.Store(ctx, t.Evaluator.Engine, set)
		if err != nil {
			return err
		}
		t.stored = append(t.stored, stored)
		searcher, scale, asked := t.Evaluator.Searcher(stored), set.Scale(), 0
		for i := range requests {
			add := func(q *evaluation.Query, said *search.Observed) error {
				one.Lock()
				bar.Add(1)
				asked++
				one.Unlock()
				question := tune.Question{
					Set: set.Name, ID: q.ID, Judged: set.Judgments[q.ID], Scale: scale, Drops: set.Drops(q.ID),
				}
				return tuner.Add(i, question, said)
			}
			system := evaluation.System{Name: requests[i].Preset, Request: requests[i]}
			if err := evaluation.Observe(ctx, searcher, stored, system, add); err != nil {
				return err
			}
		}
		if asked == 0 {
			return fault.New(fault.InvalidArgument, "set %s has no judged questions", set.Name)
		}
	}
	return nil
}

// search asks all questions by the preset and by the variant that they chose.
func (t *Tuning) search(ctx context.Context, report *TuneReport) error {
	topK := t.Options.Space.TopK
	start := search.Request{Preset: report.Result.Preset, TopK: &topK}
	best := search.Request{Preset: report.Best.Preset, TopK: &topK, Overrides: report.Best.Overrides}
	for i, set := range t.Sets {
		searcher := t.Evaluator.Searcher(t.stored[i])
		for _, way := range []struct {
			request search.Request
			into    *float64
		}{{start, &report.Searched.Start}, {best, &report.Searched.Best}} {
			system := evaluation.System{Name: way.request.Preset, Request: way.request}
			result, err := evaluation.Run(ctx, searcher, t.stored[i], set, system)
			if err != nil {
				return err
			}
			*way.into += result.Mean(&t.Options.Metric, set) / float64(len(t.Sets))
		}
	}
	return nil
}

// writtenOver is a variant with what a preset of the configuration says where it is of one of those.
func writtenOver(c *config.Config, v tune.Variant) tune.Written {
	custom, is := c.Presets[v.Preset]
	if !is {
		return tune.Written{Variant: v}
	}
	base := tune.Variant{Preset: custom.Base, Overrides: v.Over(custom.Overrides)}
	return tune.Written{Variant: base, TopK: custom.TopK, WeightsBy: custom.WeightsBy}
}
