package offline

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

// OddPrefix precedes reports of oddities in files.
const OddPrefix = "hybridge: "

// Options say which sets are searched, where and how.
type Options struct {
	Data      []string // folders of retrieval sets, or of several
	Qrels     string   // judgments of the only set, in place of its own
	Presets   []string
	Systems   []string // further requests, as NAME={"preset":"…", …}
	Engine    string
	Vectors   string // name of the vectors that the sets bring
	VectorsOf string // the model that made them
	Live      bool   // embed with the configured model instead
}

// Evaluator is the wiring of one evaluation. It shares no data with the configured gateway.
type Evaluator struct {
	options  *Options
	config   *config.Config
	log      *slog.Logger
	stderr   io.Writer
	folder   string // for all files; removed at the end
	analyzer *tokens.Analyzer
	model    *app.Model
	bank     *bank.Keeper
	planners map[string]search.Planner // of the configured presets
	sets     []string                  // their folders

	Engine  engine.Engine
	Systems []evaluation.System
}

// Open opens an evaluator, which logs and reports oddities of files to stderr.
func Open(ctx context.Context, c *config.Config, stderr io.Writer, o *Options) (*Evaluator, error) {
	e := &Evaluator{options: o, config: c, log: cli.NewLogger(stderr, c.Log), stderr: stderr}
	steps := []func(context.Context, *config.Config) error{
		e.openSets, e.openSystems, e.openAnalyzer, e.openEngine, e.openModel,
	}
	for _, step := range steps {
		if err := step(ctx, c); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

func (e *Evaluator) openSets(context.Context, *config.Config) (err error) {
	if len(e.options.Data) == 0 {
		return cli.MissingFlag("--data", "the folder of a test collection")
	}
	if e.sets, err = evaluation.Find(e.options.Data); err == nil && e.options.Qrels != "" && len(e.sets) > 1 {
		err = fault.Invalid("--qrels", e.options.Qrels, "with --data of one set")
	}
	return err
}

func (e *Evaluator) openSystems(_ context.Context, c *config.Config) (err error) {
	switch e.options.Engine {
	case app.EmbeddedName, elastic.Name:
	case postgres.Name:
		if c.Postgres.URL == "" {
			return fault.New(fault.InvalidArgument, "engine %s needs --postgres-url", postgres.Name)
		}
	default:
		return fault.Invalid("engine", e.options.Engine, app.EmbeddedName+", "+elastic.Name+" or "+postgres.Name)
	}
	if e.planners, err = app.Planners(c); err != nil {
		return err
	}
	for _, name := range e.options.Presets {
		e.Systems = append(e.Systems, evaluation.Preset(name))
	}
	for _, text := range e.options.Systems {
		system, err := evaluation.ParseSystem(text)
		if err != nil {
			return err
		}
		e.Systems = append(e.Systems, system)
	}
	return nil
}

func (e *Evaluator) openAnalyzer(_ context.Context, c *config.Config) (err error) {
	if e.folder, err = os.MkdirTemp("", "hybridge-eval-"); err != nil {
		return fault.Wrap(fault.Internal, err, "make a folder for the evaluation")
	}
	e.analyzer, err = app.NewAnalyzer(e.folder, c, nil)
	return err
}

// openEngine opens an engine that shares no data with the configured one: it has a temporary
// folder, another index prefix or another schema. An empty catalogue stays on the server for
// the next evaluation.
func (e *Evaluator) openEngine(ctx context.Context, c *config.Config) (err error) {
	switch e.options.Engine {
	case app.EmbeddedName:
		e.Engine, err = embedded.Open(ctx, embedded.Options{
			Path: filepath.Join(e.folder, "data"), Tokenizer: e.analyzer, Logger: e.log,
		})
	case elastic.Name:
		options := app.ElasticOptions(&c.Elasticsearch)
		options.Tokenizer, options.Logger, options.IndexPrefix = e.analyzer, e.log, "eval-"+options.IndexPrefix
		e.Engine, err = elastic.New(options)
	case postgres.Name:
		pg := &c.Postgres
		e.Engine, err = postgres.Open(ctx, postgres.Options{
			Settings: postgres.Settings{
				Schema: "eval_" + pg.Schema, PoolSize: pg.PoolSize, ExactLimit: pg.ExactLimit,
				KeywordWait: time.Hour, // a degraded answer would measure nothing
			},
			URL: pg.URL, Tokenizer: e.analyzer, Logger: e.log,
		})
	}
	return err
}

func (e *Evaluator) openModel(_ context.Context, c *config.Config) (err error) {
	options := bank.Options{Folder: filepath.Join(c.DataDir, "bank"), Logger: e.log}
	if e.options.Live {
		if e.model, err = app.NewModel(&c.Embedding, e.log); err != nil {
			return err
		}
		if e.model == nil {
			return fault.New(fault.InvalidArgument, "--live needs an embedding model, and none is configured")
		}
		e.model.WaitForStart = true
		options.Models = []bank.Model{e.model}
	}
	e.bank, err = bank.Open(options)
	return err
}

// WaitForBank waits until the bank of texts is embedded, without which answers have no relevance.
func (e *Evaluator) WaitForBank(ctx context.Context) error {
	if e.model == nil {
		return nil
	}
	return e.bank.Wait(ctx, e.model.Model())
}

// Close closes the engine and the model, and removes all files.
func (e *Evaluator) Close() error {
	var errs []error
	e.bank.Close()
	e.model.Close()
	if e.Engine != nil {
		errs = append(errs, e.Engine.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(e.folder))...)
}

// LoadAll reads the sets, and embeds them where no vectors come with them.
func (e *Evaluator) LoadAll(ctx context.Context) (sets []*evaluation.Set, err error) {
	for _, folder := range e.sets {
		set, err := e.load(ctx, folder)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// Searcher searches the stored sets. Questions bring their vectors; a model is for phrasings.
func (e *Evaluator) Searcher(stored search.Catalog) *search.Searcher {
	planners := evaluation.Planners(e.planners)
	options := search.Options{Catalog: stored, Analyzer: e.analyzer, Planners: planners, Bank: e.bank}
	if e.model != nil {
		options.Embedder = e.model
	}
	app.AddServices(&options, e.config)
	return search.New(options)
}

// Report measures every system on every set. each, which may be nil, gets the results on a set as they come.
func (e *Evaluator) Report(
	ctx context.Context, each func(*evaluation.Set, []*evaluation.Result) error,
) (*evaluation.Report, error) {
	report := &evaluation.Report{Engine: e.options.Engine, Vectors: "vectors " + e.options.Vectors}
	report.Diverse = slices.ContainsFunc(e.Systems, func(s evaluation.System) bool { return s.Request.Diversity != nil })
	if e.options.Live {
		report.Vectors = "vectors made by " + e.model.Model()
	}
	for i := range e.Systems {
		report.Systems = append(report.Systems, e.Systems[i].Name)
	}
	for _, folder := range e.sets {
		set, err := e.load(ctx, folder)
		if err != nil {
			return nil, err
		}
		results, err := e.measure(ctx, set)
		if err != nil {
			return nil, err
		}
		report.Add(set, results)
		if each == nil {
			continue
		}
		if err := each(set, results); err != nil {
			return nil, err
		}
	}
	return report, nil
}

func (e *Evaluator) load(ctx context.Context, folder string) (*evaluation.Set, error) {
	from := evaluation.Source{Judgments: e.options.Qrels}
	if e.model == nil {
		from.Vectors = e.options.Vectors
	}
	set, err := evaluation.LoadFrom(folder, from)
	if err != nil {
		return nil, err
	}
	if err := set.Report.Write(e.stderr, OddPrefix); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "write what is odd about %s", folder)
	}
	if e.model == nil {
		set.Model = e.options.VectorsOf
		return set, nil
	}
	set.Model = e.model.Model()
	return set, set.Embed(ctx, e.model)
}

// measure runs every system on a set.
func (e *Evaluator) measure(ctx context.Context, set *evaluation.Set) (results []*evaluation.Result, err error) {
	err = e.WithStored(ctx, set, func(s *search.Searcher, stored *evaluation.StoredSet) error {
		for _, system := range e.Systems {
			result, err := evaluation.Run(ctx, s, stored, set, system)
			if err != nil {
				return err
			}
			results = append(results, result)
		}
		return nil
	})
	return results, err
}

// WithStored stores a set for a function that searches it.
func (e *Evaluator) WithStored(
	ctx context.Context, set *evaluation.Set, do func(*search.Searcher, *evaluation.StoredSet) error,
) error {
	stored, err := evaluation.Store(ctx, e.Engine, set)
	if err != nil {
		return err
	}
	return errors.Join(do(e.Searcher(stored), stored), stored.Remove(ctx))
}
