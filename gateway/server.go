// Package gateway serves searches over HTTP: decode, search, encode. It has no rules of its
// own about searching; it authorises, limits and reports.
//
// Each resource of the API is one file: what it needs of the packages below, its routes, and
// their inputs and answers. Package endpoint is the HTTP machine that they are registered with.
//
//	server.go             Server: options, and the list of resources
//	openapi.go            what the OpenAPI document says beside the routes
//	bulk.go               chunks that are streamed, and their results
//	metrics.go, degraded.go  what searches are counted and logged by
//
// The interfaces that a resource needs must respect the scope that they are given, and be
// safe for concurrent use.
package gateway

import (
	"context"
	"io/fs"
	"log/slog"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/guide"
)

// Options of a Server. Searcher, Catalog and Ingester are required.
type Options struct {
	Searcher Searcher
	Catalog  Catalog
	Ingester Ingester

	// Keys are the accepted API keys. Without any, everyone is tenant "default", and only a
	// loopback listener is safe.
	Keys []endpoint.Key
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
	Limits         endpoint.Limits
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

// Server is the HTTP server of the gateway. Call Serve once.
type Server struct {
	*endpoint.API

	options Options
	metrics *metrics

	warnings  warnings // of degraded answers
	ready     lookedAt
	answering chan struct{} // an item for each answer that a model writes
}

// New returns a server with all routes.
func New(options Options) *Server {
	if options.Registry == nil {
		options.Registry = prometheus.NewRegistry()
	}
	if options.Readiness == nil {
		options.Readiness = func(context.Context) map[string]error { return nil }
	}
	s := &Server{
		API: endpoint.New(endpoint.Options{
			Keys: options.Keys, StoredKeys: options.StoredKeys, KeysNeeded: options.KeysNeeded, Quota: options.Quota,
			AllowedHosts: options.AllowedHosts, AllowedOrigins: options.AllowedOrigins,
			TrustedProxies: options.TrustedProxies, Limits: options.Limits, Now: options.Now,
			Logger: options.Logger, LogQueries: options.LogQueries, Audit: options.Audit, Tracing: options.Tracing,
			Registry: options.Registry, OpenAPI: newOpenAPI(options.Version),
		}),
		options: options,
		metrics: newMetrics(options.Registry),
	}
	s.answering = make(chan struct{}, s.Limits.Answers)
	describeTypes(s.Document.Components.Schemas)
	s.routes()
	return s
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
	s.Describe(endpoint.Details{Examples: bodyExamples, Values: valueBounds, Signed: signed})
	s.indexRoutes()
}
