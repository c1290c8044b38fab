// Package gateway serves searches over HTTP: decode, search, encode. It holds
// no rule of its own about searching; it authorises, bounds and reports.
//
// A resource of the API is one file: what it needs of the packages below, its routes,
// their inputs and answers. Every route is registered once with these types, from
// which the OpenAPI document is generated, and every answer that is not a success is
// a problem document made from the one table in errors.go.
//
//	server.go                Server: what it is made of, Serve
//	endpoint.go, openapi.go  a route: registered, bound, documented
//	auth.go, hosts.go        who asks, and from where
//	decode.go, body.go, spool.go, bulk.go  JSON, bodies that are read as they come
//	live.go                  answers that are written while the work goes on
//	observe.go, metrics.go, errors.go      around every request
//
// What a resource needs keeps to the scope that it is given and is safe for
// concurrent use.
//
// A client that goes away is noticed only when its answer is written (but see live.go):
// fasthttp reads nothing while a handler runs. Every handler's context therefore has a
// deadline, and ends with the server.
package gateway

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/lib/quietconn"
)

// Options of a Server. Searcher, Catalog and Ingester are required.
type Options struct {
	Searcher Searcher
	Catalog  Catalog
	Ingester Ingester

	// Keys are the accepted API keys; without any, everybody is tenant
	// "default" and only a loopback listener is safe.
	Keys   []Key
	Limits Limits

	Synonyms Synonyms // nil: none are edited
	Mappings Mappings // nil: no mappings are managed
	Jobs     Jobs     // nil: there are none

	Logger *slog.Logger // nil: nothing is logged
	// LogQueries adds the text of searches to the access log.
	LogQueries bool
	Version    string
	// Registry collects the metrics that /metrics shows; nil: one of its own.
	Registry *prometheus.Registry
	// UI holds the files of the web application; without an index.html, or nil,
	// there is none.
	UI fs.FS
	// Readiness asks every back end; the key is its name, nil means ready.
	Readiness func(ctx context.Context) map[string]error
}

// Limits bound what one request may take. Zero values take the default.
type Limits struct {
	JSONBytes     int           // of a JSON body; 1 MiB
	Request       time.Duration // for a request with a JSON answer; 30 s
	Ingest        time.Duration // for a stream of chunks; 2 h
	Idle          time.Duration // between two reads of a body, or two requests; 60 s
	ShutdownGrace time.Duration // for requests in flight at the end; 15 s
	SpoolBytes    int           // of results, or of an upload, kept in memory, more go to a file; 1 MiB
	FileBytes     int           // of an uploaded file; ingest.DefaultMaxFile
}

func (l Limits) withDefaults() Limits {
	orDefault(&l.JSONBytes, 1<<20)
	orDefault(&l.Request, 30*time.Second)
	orDefault(&l.Ingest, 2*time.Hour)
	orDefault(&l.Idle, time.Minute)
	orDefault(&l.ShutdownGrace, 15*time.Second)
	orDefault(&l.SpoolBytes, 1<<20)
	orDefault(&l.FileBytes, ingest.DefaultMaxFile)
	return l
}

func orDefault[T int | time.Duration](value *T, fallback T) {
	if *value <= 0 {
		*value = fallback
	}
}

// Server is the HTTP face of the gateway. Serve it once.
type Server struct {
	options Options
	limits  Limits
	log     *slog.Logger
	app     *fiber.App
	metrics *metrics

	openapi  *huma.OpenAPI
	requests map[*huma.Schema]bool // those that a request has

	base     context.Context // parent of every request's
	abort    context.CancelFunc
	draining atomic.Bool
	// loopback makes requests for other host names fail, see hosts.go.
	loopback atomic.Bool
}

// New builds a server with all its routes.
func New(options Options) *Server {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Registry == nil {
		options.Registry = prometheus.NewRegistry()
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

		requests: map[*huma.Schema]bool{},
	}
	s.base, s.abort = context.WithCancel(context.Background())
	s.app = fiber.New(s.fiberConfig())
	s.refuseUnknownMethods()
	s.app.Use(s.observe, s.guardHost)
	s.routes()
	return s
}

// writeTimeout is how long a client may take to read an answer, or a line of one that
// comes in lines.
const writeTimeout = 2 * time.Minute

// fiberConfig: Immutable, because fiber reuses a request's buffers and strings
// of it outlive their handler in caches; StreamRequestBody, because a body must
// not be read before its size is judged.
func (s *Server) fiberConfig() fiber.Config {
	return fiber.Config{
		Immutable:                    true,
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		BodyLimit:                    s.limits.JSONBytes,
		ReadBufferSize:               16 << 10, // also the limit of the headers
		WriteBufferSize:              64 << 10, // an answer of ten hits and all their documents leaves in one piece
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
	s.searchRoutes()
	s.compareRoutes()
	s.contextRoutes()
	s.explainRoutes()
	s.analyzeRoutes()
	s.knowledgeBaseRoutes()
	s.documentRoutes()
	s.fileRoutes()
	s.chunkRoutes()
	s.synonymRoutes()
	s.mappingRoutes()
	s.jobRoutes()
	s.healthRoutes()
	s.metricsRoutes()
	s.openAPIRoutes()
	s.indexRoutes()
}

// Serve answers requests on the listener until ctx ends, then waits for those
// in flight: after Limits.ShutdownGrace their contexts end too.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	defer s.abort()
	s.loopback.Store(len(s.options.Keys) == 0 && isLoopbackAddr(listener.Addr()))
	s.app.Server().CloseOnShutdown = true
	served := make(chan error, 1)
	go func() { served <- s.app.Listener(quietconn.Listener(listener)) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	// Handlers see the end of their context at the end of the grace, and have a
	// moment more to say so.
	timer := time.AfterFunc(s.limits.ShutdownGrace, s.abort)
	defer timer.Stop()
	last, cancel := context.WithTimeout(context.Background(), s.limits.ShutdownGrace+2*time.Second)
	defer cancel()
	err := s.app.ShutdownWithContext(last)
	// Also ends a server that had not begun to accept when ctx ended.
	if closing := listener.Close(); closing != nil && !errors.Is(closing, net.ErrClosed) {
		err = errors.Join(err, closing)
	}
	return errors.Join(err, <-served)
}
