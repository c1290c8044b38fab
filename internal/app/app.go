// Package app is the whole gateway, wired: configuration → engines → searcher → HTTP.
package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/hybridge-search/hybridge/access/audit"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/analysis/jieba"
	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/docs"
	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/mirror"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/guide"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/ingest/parse/pool"
	"github.com/hybridge-search/hybridge/lib/admission"
	"github.com/hybridge-search/hybridge/presets"
	answers "github.com/hybridge-search/hybridge/rag/answer"
	"github.com/hybridge-search/hybridge/rules"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/recall"
	"github.com/hybridge-search/hybridge/search/rerank"
	"github.com/hybridge-search/hybridge/search/resultcache"
	"github.com/hybridge-search/hybridge/search/rewrite"
	"github.com/hybridge-search/hybridge/synonyms"
	"github.com/hybridge-search/hybridge/versions"
	"github.com/hybridge-search/hybridge/web"
)

// EmbeddedName is the name of the engine in the data directory.
const EmbeddedName = "embedded"

// App is the whole program, wired. Open it, Run it, Close it.
type App struct {
	Options
	metrics  *prometheus.Registry
	writes   *writeMetrics
	analyzer *tokens.Analyzer
	engines  []engine.Engine
	mirror   *mirror.Mirror    // for knowledge bases on several engines
	model    *Model            // the usual one; nil: not configured
	models   map[string]*Model // further ones, by name
	bank     *bank.Keeper      // of the scale of its cosines
	synonyms *synonyms.Library // of files
	edited   *synonyms.Store   // edited through the API
	rules    *versions.Store[*rules.Set]
	planners map[string]search.Planner // of the presets that are there for everybody
	presets  *presets.Store            // those that tenants save

	redis    *redis.Client         // nil: not configured
	keywords *tiered.Cache         // of the postgres engine; nil without it
	answers  *resultcache.Searcher // nil: turned off
	observer *search.Searcher      // below it
	recall   *recall.Measurer
	trials   *live.Store // experiments; nil: the default engine keeps none

	events *events.Log // nil: searches and events are not logged

	keys      *keys.Keeper
	keyFile   *keys.SQLite // nil: the keys are elsewhere, and there were none here
	quota     *quota.Meter
	usageFile *quota.SQLite         // nil: what tenants write is counted elsewhere
	tracing   *trace.TracerProvider // nil: there are no traces
	audit     *slog.Logger          // nil: nothing is audited
	auditFile *os.File

	catalog  *catalog.Catalog
	pipeline *ingest.Pipeline
	parsers  *pool.Pool // of the pipeline
	jobs     *jobs.Manager
	mappings *migration.Service
	server   *gateway.Server

	work sync.WaitGroup // the background work of Run
}

// Options are what a gateway is opened with.
type Options struct {
	Config  *config.Config
	Origins config.Origins // of its values
	Logger  *slog.Logger
	Version string // of the program
	// Preload is set for a gateway that runs for long: it starts the model and loads
	// knowledge bases before the first request.
	Preload bool
	Demo    fs.FS // what the demo is filled with; nil: docs.Demo
	// Grace is how long Elasticsearch keeps what a migration has replaced; 0: as long as other gateways may need it.
	Grace time.Duration
}

// Open builds everything but starts nothing that takes long. On an error it closes what is open. If another process
// uses the data directory, it is a fault.Conflict.
func Open(ctx context.Context, o Options) (*App, error) {
	a := &App{Options: o}
	if a.Demo == nil {
		a.Demo = docs.Demo()
	}
	a.metrics = registry()
	a.writes = newWriteMetrics(a.metrics)
	steps := []func(context.Context) error{
		a.openTracing, a.openAnalyzer, a.openRedis, a.openEngines, a.openPostgres, a.openMirror,
		a.openModel, a.openSynonyms, a.openRules, a.openPresets, a.openAudit, a.openKeys, a.openQuota, a.openEvents,
		a.openGateway,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	return a, nil
}

func (a *App) openAnalyzer(context.Context) (err error) {
	a.analyzer, err = NewAnalyzer(a.Config.DataDir, a.Config, a.Logger)
	return err
}

// NewAnalyzer returns an analyzer with gojieba, whose dictionaries are unpacked in the folder when they are needed.
func NewAnalyzer(folder string, c *config.Config, log *slog.Logger) (*tokens.Analyzer, error) {
	words, err := jieba.Open(jieba.Options{
		DictionaryDir: filepath.Join(folder, "dictionaries"), UserDictionary: c.UserDictionary, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	return tokens.New(words), nil
}

// openEngines opens the embedded engine, and Elasticsearch if it is configured.
func (a *App) openEngines(ctx context.Context) error {
	local, err := embedded.Open(ctx, embedded.Options{
		Path: a.Config.DataDir, Tokenizer: a.analyzer, Logger: a.Logger, Preload: a.Preload,
		AcceptLoss: a.Config.AcceptLoss, Writes: a.writes.of(EmbeddedName), Embed: a.embedFor,
	})
	if err != nil {
		return err
	}
	a.engines = append(a.engines, local)
	c := &a.Config.Elasticsearch
	if len(c.URL) == 0 {
		return nil
	}
	options := ElasticOptions(c)
	options.Grace = a.Grace
	options.Tokenizer, options.Logger, options.Embed = a.analyzer, a.Logger, a.embedFor
	options.Writes = a.writes.of(elastic.Name)
	distributed, err := elastic.New(options)
	if err != nil {
		return err
	}
	a.engines = append(a.engines, distributed)
	return nil
}

// ElasticOptions returns the settings of Elasticsearch as options of the engine.
func ElasticOptions(c *config.Elasticsearch) elastic.Options {
	return elastic.Options{
		URLs: c.URL, APIKey: c.APIKey.Reveal(), Username: c.Username, Password: c.Password.Reveal(),
		TLS: rest.TLS{
			CAFile: c.CAFile, CAFingerprint: c.CAFingerprint, ClientCertFile: c.ClientCertFile, ClientKeyFile: c.ClientKeyFile,
			InsecureSkipVerify: c.InsecureSkipVerify,
		},
		IndexPrefix: c.IndexPrefix, Timeout: c.Timeout, ExactLimit: c.ExactLimit, JSON: !c.Smile,
	}
}

// Engine is the open engine of a name; nil: there is none.
func (a *App) Engine(name string) engine.Engine {
	for _, e := range a.engines {
		if e.Name() == name {
			return e
		}
	}
	return nil
}

func (a *App) openMirror(ctx context.Context) (err error) {
	a.mirror, err = mirror.Open(ctx, mirror.Options{Path: a.Config.DataDir, Engines: a.engines, Logger: a.Logger})
	return err
}

// mirrored returns the named engines as one.
func (a *App) mirrored(names []string) (engine.Engine, error) { return a.mirror.Over(names) }

func (a *App) openModel(context.Context) (err error) {
	a.model, err = NewModel(&a.Config.Embedding, a.Logger)
	if err != nil {
		return err
	}
	if a.models, err = newModels(a.Config.AllEmbeddings(), a.Logger); err != nil {
		return err
	}
	options := bank.Options{Folder: filepath.Join(a.Config.DataDir, "bank"), Logger: a.Logger}
	if a.model != nil { // a nil pointer in an interface is not nil
		a.model.WaitForStart = !a.Preload
		options.Models = append(options.Models, a.model)
	}
	for _, m := range a.models {
		options.Models = append(options.Models, m)
	}
	a.bank, err = bank.Open(options)
	return err
}

func (a *App) openSynonyms(ctx context.Context) (err error) {
	a.synonyms, err = synonyms.Open(synonyms.Options{
		Path: a.Config.Synonyms.Path, Tokenizer: a.analyzer, OnReload: a.synonymsReloaded,
	})
	if err != nil {
		return err
	}
	a.edited, err = synonyms.OpenStore(ctx, synonyms.StoreOptions{
		Path: a.Config.DataDir, Tokenizer: a.analyzer, Versions: a.Config.Synonyms.Versions, Logger: a.Logger,
	})
	return err
}

func (a *App) openRules(ctx context.Context) (err error) {
	a.rules, err = versions.Open(ctx, versions.Options[*rules.Set]{
		Folder: a.Config.DataDir, File: "rules.db", Versions: a.Config.Synonyms.Versions, Logger: a.Logger,
		Compile: func(_ string, _ int, text string) (*rules.Set, int, error) {
			set, err := rules.Parse(text, a.analyzer)
			return set, set.Len(), err
		},
	})
	return err
}

func (a *App) openPresets(ctx context.Context) (err error) {
	if a.planners, err = Planners(a.Config); err != nil {
		return err
	}
	a.presets, err = presets.OpenStore(ctx, presets.StoreOptions{
		Folder: a.Config.DataDir, Planners: a.planners, Custom: customPresets(a.Config.Presets),
		Rerankers: slices.Sorted(maps.Keys(a.Config.AllRerankers())), Rewrites: a.Config.LLM.URL != "",
		Versions: a.Config.Synonyms.Versions, Logger: a.Logger,
	})
	return err
}

func (a *App) synonymsReloaded(err error) {
	if err != nil {
		a.Logger.Warn("the synonyms were not reloaded, those from before stay in use", "error", err)
		return
	}
	a.Logger.Info("the synonyms were reloaded")
}

// searchWait is how long a search waits for its turn.
const searchWait = 5 * time.Second

func (a *App) openGateway(context.Context) error {
	configured, err := gatewayKeys(a.Config.Keys)
	if err != nil {
		return err
	}
	a.catalog = catalog.New(a.engines, catalog.Options{
		DefaultEngine: a.defaultEngine(), Dimensions: a.dimensions,
		OwnIndexes: a.Config.Elasticsearch.IndexPrefix, Mirror: a.mirrored,
	})
	searching := a.searchOptions()
	var embedder ingest.Embedder
	if a.model != nil { // a nil pointer in an interface is not nil
		searching.Embedder, embedder = a.model, a.model
	}
	searching.Embedders = map[string]search.Embedder{}
	further := map[string]ingest.Embedder{}
	for name, m := range a.models {
		searching.Embedders[name], further[name] = m, m
	}
	a.openMigration(searching)
	limits := &a.Config.Limits
	if a.parsers, err = newParsers(limits.Parsers, a.Config.DataDir); err != nil {
		return err
	}
	a.pipeline = ingest.New(a.catalog, embedder, ingest.Options{
		MaxLine: int(limits.LineBytes), MaxFile: int(limits.FileBytes), Parser: a.parser(), Embedders: further,
	})
	a.countRepairs(a.metrics)
	a.countDamage(a.metrics)
	if a.keywords != nil {
		a.metrics.MustRegister(a.keywords)
	}
	searching.Registry = a.metrics
	searcher, err := a.searcher(searching, a.metrics)
	if err != nil {
		return err
	}
	ui, err := web.Files()
	if err != nil {
		return err
	}
	proxies, err := a.Config.ProxyNetworks()
	if err != nil {
		return err
	}
	options := a.gatewayOptions()
	if options.Settings, err = a.settingsInForce(); err != nil {
		return err
	}
	options.UI, options.TrustedProxies, options.Keys = ui, proxies, configured
	options.Searcher, options.Registry = searcher, a.metrics
	a.addEvaluations(&options, searcher, searching.Planners)
	a.addExperiments(&options)
	a.server = gateway.New(options)
	return nil
}

// gatewayOptions are those that the configuration and the open parts decide.
func (a *App) gatewayOptions() gateway.Options {
	options := gateway.Options{
		Catalog: a.catalog, Ingester: a.pipeline, Synonyms: a.edited, Drafts: drafts{a}, Rules: a.rules, Presets: a.presets,
		Mappings: a.mappings, Jobs: a.jobs, Demo: a, Recall: a.recall,
		AllowedHosts: a.Config.AllowedHosts, AllowedOrigins: a.Config.CORS.AllowedOrigins,
		StoredKeys: a.keys, KeysNeeded: a.Config.NeedsStoredKeys(), Quota: a.quota,
		Audit: a.audit, Logger: a.Logger, LogQueries: a.Config.Log.Queries,
		Version: a.Version, Readiness: a.readiness, Troubles: a.troubles, Limits: gatewayLimits(&a.Config.Limits),
	}
	options.Embedders = map[string]gateway.Embedder{}
	for name, m := range a.models {
		options.Embedders[name] = m
	}
	if c := &a.Config.Answer; c.URL != "" {
		options.Limits.Answers = c.Concurrent
		options.Answers = answers.New(answers.Options{
			URL: c.URL, Model: c.Model, APIKey: c.APIKey.Reveal(), Timeout: c.Timeout,
		})
	}
	if path := a.Config.Audit.Path; path != "" {
		options.AuditLog = &audit.File{Path: path, Nobody: gateway.DefaultTenant}
	}
	options.Guide = a.guide
	if a.model != nil {
		options.Embedder = a.model
	}
	if a.tracing != nil { // a nil pointer in an interface is not nil
		options.Tracing = a.tracing
	}
	return options
}

// guide reads the user guide.
func (a *App) guide() (*guide.Guide, error) {
	defer debug.FreeOSMemory() // reading leaves 20 MB of garbage
	return guide.Read(docs.Files(), a.analyzer)
}

// workPerProcessor is the work of larger searches at a time: with eight times as much, ordinary
// searches beside it took six times as long.
const workPerProcessor = 4

func (a *App) searchOptions() search.Options {
	limits := &a.Config.Limits
	options := search.Options{
		Catalog: a.catalog, Analyzer: a.analyzer, Synonyms: allSynonyms{files: a.synonyms, edited: a.edited},
		Rules:    ruleSets{a.rules},
		Planners: a.planners, Saved: a.presets, DefaultPreset: a.Config.DefaultPreset, Bank: a.bank,
		AnswerBytes: int64(limits.AnswerBytes), MakingBytes: int64(limits.SendingBytes),
		Admission: admission.New(admission.Options{
			Light: limits.Searches, Heavy: cmp.Or(limits.SearchWork, workPerProcessor*runtime.GOMAXPROCS(0)),
			Beside:     max(1, runtime.GOMAXPROCS(0)-1),
			LightQueue: 1024, HeavyQueue: 8, Keys: 1024, Wait: searchWait,
		}),
		Slow: search.SlowLog{
			Logger: a.Logger, After: a.Config.Log.SlowSearch, Queries: a.Config.Log.Queries, About: gateway.RequestAttrs,
		},
	}
	AddServices(&options, a.Config)
	return options
}

// AddServices adds the models that are asked beside the engines: rerankers, and what writes phrasings.
func AddServices(o *search.Options, c *config.Config) {
	o.Rerankers = map[string]search.Reranker{}
	for name, r := range c.AllRerankers() {
		o.Rerankers[name] = rerank.New(rerank.Options{
			URL: r.URL, Model: r.Model, APIKey: r.APIKey.Reveal(), Timeout: r.Timeout, Shape: r.Shape,
		})
	}
	if l := &c.LLM; l.URL != "" {
		o.Rewriter = rewrite.New(rewrite.Options{
			URL: l.URL, Model: l.Model, APIKey: l.APIKey.Reveal(), Timeout: l.Timeout, Kept: l.Kept, KeptFor: l.KeptFor,
		})
	}
}

func gatewayLimits(l *config.Limits) gateway.Limits {
	return gateway.Limits{
		JSONBytes: int(l.BodyBytes), Request: l.RequestTimeout, Ingest: l.IngestTimeout,
		Idle: l.IdleTimeout, ShutdownGrace: l.ShutdownGrace,
		AnswerBytes: int(l.AnswerBytes), SendingBytes: int(l.SendingBytes),
		Rate: l.Rate, KeyRate: l.KeyRate,
		Concurrent: l.Concurrent, KeyConcurrent: l.KeyConcurrent, WrongKeys: l.WrongKeys,
	}
}

// registry returns a registry with the metrics of the Go runtime and the process.
func registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

func (a *App) defaultEngine() string {
	switch {
	case a.Config.DefaultEngine != "":
		return a.Config.DefaultEngine
	case len(a.Config.Elasticsearch.URL) > 0:
		return elastic.Name
	case a.Config.Postgres.URL != "":
		return postgres.Name
	default:
		return ""
	}
}

// readyTimeout is how long a back end may take to answer.
const readyTimeout = 2 * time.Second

// readiness checks all back ends in parallel. Keyword search needs the engine of new knowledge
// bases; what else is away costs the hits that it has.
func (a *App) readiness(ctx context.Context) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	checks := map[string]func(context.Context) error{}
	for _, e := range a.engines {
		checks[e.Name()] = e.Ping
	}
	if a.model != nil {
		checks["embedding"] = a.model.check
	}
	for name, m := range a.models {
		checks["embedding "+name] = m.check
	}
	if a.redis != nil {
		checks["redis"] = func(ctx context.Context) error { return a.redis.Ping(ctx).Err() }
	}
	needed := cmp.Or(a.defaultEngine(), a.engines[0].Name()) // the embedded one
	var mu sync.Mutex
	var all sync.WaitGroup
	states := make(map[string]error, len(checks))
	for name, check := range checks {
		all.Go(func() {
			err := check(ctx)
			if err != nil && name != needed {
				err = gateway.Spare{Err: err}
			}
			mu.Lock()
			defer mu.Unlock()
			states[name] = err
		})
	}
	all.Wait()
	return states
}

// Run serves on the listener until the context has ended and the requests in flight are
// answered. If demo is set, it also fills the demo knowledge base.
func (a *App) Run(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer a.work.Wait()
	defer cancel()
	if a.Preload && a.model != nil {
		a.model.start()
	}
	if a.Preload {
		a.work.Go(func() { a.mappings.Watch(ctx) })
	}
	a.work.Go(func() { a.keys.Run(ctx) })
	a.work.Go(func() { a.quota.Run(ctx) })
	if a.trials != nil {
		a.work.Go(func() { a.trials.Run(ctx) })
	}
	if a.events != nil {
		a.work.Go(func() { a.events.Run(ctx) })
	}
	if a.Config.Demo {
		a.work.Go(func() { a.retryDemo(ctx) })
	}
	return a.server.Serve(ctx, listener)
}

// Close stops the model and closes the engines. Call it after Run has returned.
func (a *App) Close() error {
	defer a.closeTracing()
	if a.answers != nil {
		a.answers.Close()
	}
	if a.jobs != nil {
		a.jobs.Close()
	}
	a.bank.Close()
	a.model.Close()
	for _, m := range a.models {
		m.Close()
	}
	var errs []error
	if a.parsers != nil {
		errs = append(errs, a.parsers.Close())
	}
	if a.synonyms != nil {
		errs = append(errs, a.synonyms.Close())
	}
	if a.edited != nil {
		errs = append(errs, a.edited.Close())
	}
	if a.rules != nil {
		errs = append(errs, a.rules.Close())
	}
	if a.presets != nil {
		errs = append(errs, a.presets.Close())
	}
	if a.keyFile != nil {
		errs = append(errs, a.keyFile.Close())
	}
	if a.usageFile != nil {
		errs = append(errs, a.usageFile.Close())
	}
	if a.auditFile != nil {
		errs = append(errs, a.auditFile.Close())
	}
	if a.events != nil {
		errs = append(errs, a.events.Close())
	}
	if a.mirror != nil {
		errs = append(errs, a.mirror.Close())
	}
	for _, e := range a.engines {
		errs = append(errs, e.Close())
	}
	if a.redis != nil {
		errs = append(errs, a.redis.Close())
	}
	return errors.Join(errs...)
}
