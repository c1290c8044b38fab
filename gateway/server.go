// Package gateway serves searches over HTTP: decode, search, encode. It has no rules of its
// own about searching; it authorises, limits and reports.
//
// Each resource of the API is one file: what it needs of the packages below, its routes, and
// their inputs and answers. A route is registered once with these types, from which the
// OpenAPI document is generated. Every answer that is not a success is a problem document,
// made by the table in errors.go.
//
//	server.go                Server: options, Serve
//	endpoint.go, openapi.go  how a route is registered, bound and documented
//	auth.go, hosts.go        who may call, and from where
//	decode.go, body.go, spool.go, bulk.go  JSON bodies, and bodies that are streamed
//	live.go                  answers that are written while the work goes on
//	dialect.go               protocols of other programs, each a file: dify.go, ragflow.go
//	gone.go                  clients that leave
//	limit.go                 how much each key may ask for
//	send.go                  large answers, until they are read
//	observe.go, metrics.go, errors.go, degraded.go  around every request
//
// The interfaces that a resource needs must respect the scope that they are given, and be
// safe for concurrent use.
//
// The context of every handler has a deadline, and ends with the server, or soon after the
// client has gone away (gone.go).
package gateway

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/guide"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/lib/quietconn"
)

// Options of a Server. Searcher, Catalog and Ingester are required.
type Options struct {
	Searcher Searcher
	Catalog  Catalog
	Ingester Ingester

	// Keys are the accepted API keys. Without any, everyone is tenant "default", and only a
	// loopback listener is safe.
	Keys []Key
	// StoredKeys are further keys, which change while the server runs; nil: there are none. Once
	// there was one, callers need a key.
	StoredKeys *keys.Keeper
	// Quota bounds what tenants store; nil: nothing does. Whoever made it runs it.
	Quota *quota.Meter
	// KeysNeeded lets nobody in without a key, also while there is none.
	KeysNeeded bool
	// Audit takes who did what; nil: nothing does.
	Audit *slog.Logger
	// AuditLog reads it; nil: it is not kept where it can be read.
	AuditLog AuditLog
	// Settings are those in force, in the order in which they are shown.
	Settings []Setting
	// AllowedHosts are the host names, beside those of the loopback, for which requests are
	// served without keys.
	AllowedHosts []string
	// AllowedOrigins are those, such as https://app.example, whose pages may use the API.
	AllowedOrigins []string
	Limits         Limits
	// TrustedProxies are the networks of proxies whose X-Forwarded-For says where requests
	// come from.
	TrustedProxies []netip.Prefix

	// Embedder is the usual model, and Embedders further ones by the name of their setting; nil: there is none.
	Embedder  Embedder
	Embedders map[string]Embedder

	Synonyms Synonyms     // nil: they cannot be edited
	Drafts   Drafts       // of synonyms; nil: nothing is searched by them
	Rules    Sets         // query rules; nil: there are none
	Presets  SavedPresets // nil: there are none but the searcher's
	Mappings Mappings     // nil: they are not managed
	Jobs     Jobs         // nil: there are none
	Demo     Demo         // nil: there is no sample data
	Recall   Recall       // nil: it is not measured
	Answers  Answerer     // nil: no model answers

	Library     Library     // query sets and judgments; nil: there are none
	Evaluations Evaluations // nil: there are none
	Tunings     Tunings     // nil: there are none
	Gradings    Gradings    // nil: there are none
	Experiments Experiments // nil: there are none

	Events Events // of users; nil: there is no log of them
	Clicks Clicks // judgments of it; nil: there are none

	// Now is the clock of the limits of requests; nil: time.Now.
	Now func() time.Time

	Logger *slog.Logger // nil: nothing is logged
	// LogQueries adds the text of searches to the access log.
	LogQueries bool
	Version    string
	// Registry holds the metrics that /metrics shows; nil: a new one.
	Registry *prometheus.Registry
	// UI holds the files of the web application. There is none if it is nil or has no
	// index.html.
	UI fs.FS
	// Guide reads the user guide, when it is first asked for; nil: there is none.
	Guide func() (*guide.Guide, error)
	// Tracing takes a span of each request; nil: there are no traces.
	Tracing trace.TracerProvider
	// Readiness checks every back end, by name; nil means ready. What keyword search serves
	// without is a Spare.
	Readiness func(ctx context.Context) map[string]error
	// Troubles says what is wrong although the gateway goes on; nil: nothing ever is.
	Troubles func() []engine.Trouble
}

// Limits bound the size and the time of requests. A zero value means the default.
type Limits struct {
	JSONBytes     int           // of a JSON body; 1 MiB
	Request       time.Duration // for a request with a JSON answer; 30 s
	Ingest        time.Duration // for a stream of chunks; 2 h
	Idle          time.Duration // between two reads of a body, or two requests; 60 s
	ShutdownGrace time.Duration // for requests in flight at the end; 15 s
	SpoolBytes    int           // of results or an upload in memory, the rest goes to a file; 1 MiB
	FileBytes     int           // of an uploaded file; ingest.DefaultMaxFile
	AnswerBytes   int           // of a JSON answer; 16 MiB
	Rate          int           // requests a second; 50,000
	KeyRate       int           // of a key; 10,000
	Concurrent    int           // requests at a time; 4,000
	KeyConcurrent int           // of a key; 1,000
	Answers       int           // by a model at a time; 16
	WrongKeys     int           // of an address at once, and one more each second; 10
	SendingBytes  int           // of all large answers until their clients have read them; 256 MiB
}

func (l Limits) withDefaults() Limits {
	orDefault(&l.JSONBytes, 1<<20)
	orDefault(&l.Request, 30*time.Second)
	orDefault(&l.Ingest, 2*time.Hour)
	orDefault(&l.Idle, time.Minute)
	orDefault(&l.ShutdownGrace, 15*time.Second)
	orDefault(&l.SpoolBytes, 1<<20)
	orDefault(&l.FileBytes, ingest.DefaultMaxFile)
	orDefault(&l.AnswerBytes, 16<<20)
	orDefault(&l.SendingBytes, 256<<20)
	orDefault(&l.Rate, 50_000)
	orDefault(&l.WrongKeys, 10)
	orDefault(&l.KeyRate, 10_000)
	orDefault(&l.Concurrent, 4_000)
	orDefault(&l.KeyConcurrent, 1_000)
	orDefault(&l.Answers, 16)
	return l
}

func orDefault[T int | time.Duration](value *T, fallback T) {
	if *value <= 0 {
		*value = fallback
	}
}

// Server is the HTTP server of the gateway. Call Serve once.
type Server struct {
	options Options
	limits  Limits
	log     *slog.Logger
	app     *fiber.App
	metrics *metrics

	warnings  warnings // of degraded answers
	sending   sending
	callers   *callers
	watched   watched
	ready     lookedAt
	answering chan struct{} // an item for each answer that a model writes

	changing map[string]bool // by method and path of each route

	openapi  *huma.OpenAPI
	requests map[*huma.Schema]bool // the schemas that requests have

	base     context.Context // parent of every request's context
	abort    context.CancelFunc
	draining atomic.Bool

	allowedHosts []string // in lower case
}

// New returns a server with all routes.
func New(options Options) *Server {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Registry == nil {
		options.Registry = prometheus.NewRegistry()
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Readiness == nil {
		options.Readiness = func(context.Context) map[string]error { return nil }
	}
	s := &Server{
		options: options,
		limits:  options.Limits.withDefaults(),
		log:     options.Logger,
		metrics: newMetrics(options.Registry),
		openapi: newOpenAPI(options.Version),

		changing: map[string]bool{},
		requests: map[*huma.Schema]bool{},
	}
	s.sending = sending{limit: s.limits.SendingBytes, by: map[*byte]int{}}
	s.callers = newCallers(&s.limits, options.Now)
	s.answering = make(chan struct{}, s.limits.Answers)
	for _, host := range options.AllowedHosts {
		s.allowedHosts = append(s.allowedHosts, hostName(host))
	}
	s.base, s.abort = context.WithCancel(context.Background())
	s.app = fiber.New(s.fiberConfig())
	s.refuseUnknownMethods()
	s.app.Use(s.observe, guardFraming, s.guardHost)
	if len(options.AllowedOrigins) > 0 {
		s.app.Use(s.corsAnswers())
	}
	s.app.Use(s.guardOrigin)
	s.routes()
	return s
}

// writeTimeout is how long a client may take to read an answer, or a line of one that
// comes in lines.
const writeTimeout = 2 * time.Minute

// fiberConfig sets Immutable because fiber reuses the buffers of a request and some strings
// outlive the handler in caches, and StreamRequestBody because the size of a body must be
// checked before it is read.
func (s *Server) fiberConfig() fiber.Config {
	return fiber.Config{
		Immutable:                    true,
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		BodyLimit:                    s.limits.JSONBytes,
		ReadBufferSize:               16 << 10, // also the limit of the headers
		WriteBufferSize:              64 << 10, // enough to send ten hits with all their documents at once
		ReadTimeout:                  s.limits.Request,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  s.limits.Idle,
		CaseSensitive:                true,
		StrictRouting:                true,
		DisableStartupMessage:        true,
		ErrorHandler:                 s.refused,
	}
}

func (s *Server) routes() {
	s.uiRoutes()
	s.guideRoutes()
	s.searchRoutes()
	s.batchRoutes()
	s.suggestRoutes()
	s.compareRoutes()
	s.presetRoutes()
	s.contextRoutes()
	s.answerRoutes()
	s.explainRoutes()
	s.analyzeRoutes()
	s.knowledgeBaseRoutes()
	s.demoRoutes()
	s.recallRoutes()
	s.documentRoutes()
	s.reembedRoutes()
	s.fileRoutes()
	s.chunkRoutes()
	s.exportRoutes()
	s.synonymRoutes()
	s.ruleRoutes()
	s.mappingRoutes()
	s.jobRoutes()
	s.querySetRoutes()
	s.judgmentRoutes()
	s.importRoutes()
	s.gradingRoutes()
	s.evaluationRoutes()
	s.tuningRoutes()
	s.experimentRoutes()
	s.eventRoutes()
	s.keyRoutes()
	s.difyRoutes()
	s.ragflowRoutes()
	s.openAIRoutes()
	s.embeddingsRoutes()
	s.mcpRoutes()
	s.rerankRoutes()
	s.meilisearchRoutes()
	s.auditRoutes()
	s.settingRoutes()
	s.healthRoutes()
	s.metricsRoutes()
	s.openAPIRoutes()
	s.indexRoutes()
}

// Serve answers requests on the listener until ctx ends. Then it waits for those in flight,
// whose contexts end after Limits.ShutdownGrace.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	defer s.abort()
	s.app.Server().CloseOnShutdown = true
	looking, stopLooking := context.WithCancel(context.WithoutCancel(ctx))
	var looker sync.WaitGroup
	looker.Go(func() { s.watched.run(looking) })
	defer looker.Wait()
	defer stopLooking()
	served := make(chan error, 1)
	go func() { served <- s.app.Listener(quietconn.Listener(listener)) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	// At the end of the grace period the contexts of handlers end; then these have a moment
	// to answer.
	timer := time.AfterFunc(s.limits.ShutdownGrace, s.abort)
	defer timer.Stop()
	last, cancel := context.WithTimeout(context.Background(), s.limits.ShutdownGrace+2*time.Second)
	defer cancel()
	err := s.app.ShutdownWithContext(last)
	// This also ends a server that had not yet begun to accept when ctx ended.
	if closing := listener.Close(); closing != nil && !errors.Is(closing, net.ErrClosed) {
		err = errors.Join(err, closing)
	}
	return errors.Join(err, <-served)
}
