// Package app is the whole gateway, wired: configuration → engines → searcher → HTTP.
//
// app.go opens, runs and closes it (options.go, welcome.go, listen.go). It is made of parts, a file each:
// storage.go the engines (with repairs.go and writes.go, their metrics), models.go and model.go the embedding models,
// customization.go synonyms, rules and presets, which searches look up in lookup.go, door.go keys, quota and audit log,
// content.go knowledge bases (parsers.go splits files for them), searching.go the searcher, usage.go what users do.
// gateway.go makes the server of them, with drafts.go, evaluations.go, readiness.go and demo.go; tracing.go is traces.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/analysis/jieba"
	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/docs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/gateway"
)

// App is the whole program, wired. Open it, Run it, Close it.
type App struct {
	Options
	parts
	server *gateway.Server
	work   sync.WaitGroup // the background work of Run
}

// Open builds everything but starts nothing that takes long. On an error it closes what is open. If another process
// uses the data directory, it is a fault.Conflict.
func Open(ctx context.Context, o Options) (*App, error) {
	a := &App{Options: o}
	if a.Demo == nil {
		a.Demo = docs.Demo()
	}
	if err := a.open(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// open opens the parts in the order in which they need each other.
func (a *App) open(ctx context.Context) (err error) {
	o := &a.Options
	a.metrics = registry()
	if a.tracing, err = newTracing(ctx, &o.Config.Tracing, o.Version, o.Logger); err != nil {
		return err
	}
	if a.analyzer, err = NewAnalyzer(o.Config.DataDir, o.Config, o.Logger); err != nil {
		return err
	}
	engines := engineParts{Options: o, analyzer: a.analyzer, embed: a.models.embedFor, writes: newWriteMetrics(a.metrics)}
	steps := []func() error{
		func() error { return a.storage.open(ctx, &engines) },
		func() error { return a.models.open(o) },
		func() error { return a.edits.open(ctx, o, a.analyzer) },
		func() error { return a.door.open(ctx, o, &a.storage, a.countTenant) },
		func() error { return a.usage.openEvents(ctx, o, &a.storage, a.metrics) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	a.server, err = a.openGateway(o)
	return err
}

func (a *App) countTenant(ctx context.Context, tenant string) (quota.Counts, error) {
	return a.content.count(ctx, &a.storage, tenant)
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

// registry returns a registry with the metrics of the Go runtime and the process.
func registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Engine is the open engine of a name; nil: there is none.
func (a *App) Engine(name string) engine.Engine { return a.storage.named(name) }

// NoteSearch logs a search.
func (a *App) NoteSearch(scope access.Scope, s *live.Searched) { a.usage.note(scope, s) }

// Run serves on the listener until the context has ended and the requests in flight are
// answered. If demo is set, it also fills the demo knowledge base.
func (a *App) Run(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer a.work.Wait()
	defer cancel()
	if a.Preload && a.models.standard != nil {
		a.models.standard.start()
	}
	if a.Preload {
		a.work.Go(func() { a.content.mappings.Watch(ctx) })
	}
	a.work.Go(func() { a.door.keys.Run(ctx) })
	a.work.Go(func() { a.door.quota.Run(ctx) })
	if a.usage.trials != nil {
		a.work.Go(func() { a.usage.trials.Run(ctx) })
	}
	if a.usage.events != nil {
		a.work.Go(func() { a.usage.events.Run(ctx) })
	}
	if a.Config.Demo {
		a.work.Go(func() { demoData{&a.Options, &a.parts}.retry(ctx) })
	}
	return a.server.Serve(ctx, listener)
}

// Close stops the model and closes the engines. Call it after Run has returned.
func (a *App) Close() error {
	defer closeTracing(a.tracing, a.Logger)
	if a.searching.answers != nil {
		a.searching.answers.Close()
	}
	if a.content.jobs != nil {
		a.content.jobs.Close()
	}
	a.models.close()
	var errs []error
	if a.content.parsers != nil {
		errs = append(errs, a.content.parsers.Close())
	}
	errs = append(errs, a.edits.close(), a.door.close())
	if a.usage.events != nil {
		errs = append(errs, a.usage.events.Close())
	}
	return errors.Join(append(errs, a.storage.close())...)
}

// FlushTraces sends what has been collected so far.
func (a *App) FlushTraces(ctx context.Context) error { return a.tracing.ForceFlush(ctx) }
