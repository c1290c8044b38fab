package measuring

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/offline"
)

// tuneFlags are the flags of tune.
type tuneFlags struct {
	sets                   offline.Options
	preset, metric, method string
	space, retrieval       []string
	trials, folds          int
	seed                   uint64
	name, report           string
	perQuery, json         bool
	byFamily               bool
}

func tuneCommand(p *cli.Program) *cobra.Command {
	f := &tuneFlags{}
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Search for better weights of a preset, on test collections",
		Long: `Searches for weights, normaliser, k and signals of a preset on test collections in BEIR's layout, as eval
reads them. Every question is asked once for each way of retrieving; all else is tried in memory. What is found is
measured on held-out questions (nested cross-validation), and recommended if it is significantly better: as a
preset for the configuration.`,
		Example: `  hybridge tune --data sets/scifact
  hybridge tune --data sets/scifact --data sets/shop --preset rrf --space weights.text=0..1 --space rrf_k=1..200:log
  hybridge tune --data sets --preset linear --retrieval candidates=50,100,200 --method random --trials 5000
  hybridge tune --data sets --retrieval preset=balanced,linear,rrf --metric mrr@10 --report tuning.md
  hybridge tune --data sets/shop --per-query --name shop
  hybridge tune --data sets --by-family --preset rrf`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTune(p, cmd, f) },
	}
	flags := cmd.Flags()
	addSets(flags, &f.sets)
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
	flags.BoolVar(&f.byFamily, "by-family", false, "Divide the questions by families of collections (names equal up "+
		"to the first _): each is measured with what the others choose")
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
	e, err := offline.Open(cmd.Context(), settings, p.Stderr, &f.sets)
	if err != nil {
		return err
	}
	t := offline.NewTuning(e, options, f.name)
	var report tables
	if f.perQuery {
		report, err = t.PerQuery(cmd.Context())
	} else {
		report, err = t.Run(cmd.Context())
	}
	if err = errors.Join(err, t.Close(cmd.Context())); err != nil {
		return err
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
	if f.perQuery && len(f.space)+len(f.retrieval) > 0 {
		return nil, fault.Invalid("--per-query", true,
			"without --space and --retrieval: tune these first, and begin with that preset")
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
