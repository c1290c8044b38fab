// Package gateway serves searches over HTTP: decode, search, encode. It has no rules of its
// own about searching; it authorises, limits and reports.
//
// A resource is a value that is made of its dependencies in the packages below and registers its
// routes, with their inputs and answers, itself. Package endpoint is the HTTP machine that they
// are registered with.
//
//	server.go   Server: options, and the list of resources
//	searches/   resources that ask
//	chunks/     resources that write and read chunks
//	versioned/  resources that are edited and keep their versions
//	quality/    resources that measure
//	protocols/  APIs of other programs
//	openapi.go  parts of the OpenAPI document beside the routes
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
	"github.com/hybridge-search/hybridge/gateway/chunks"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/cohere"
	"github.com/hybridge-search/hybridge/gateway/protocols/dify"
	"github.com/hybridge-search/hybridge/gateway/protocols/mcp"
	"github.com/hybridge-search/hybridge/gateway/protocols/meilisearch"
	"github.com/hybridge-search/hybridge/gateway/protocols/openai"
	"github.com/hybridge-search/hybridge/gateway/protocols/ragflow"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/gateway/searches"
	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/guide"
)

// Options of a Server. Searcher, Catalog and Ingester are required.
type Options struct {
	Searcher searches.Searcher
	Catalog  Catalog
	Ingester chunks.Ingester

	// Keys are the accepted API keys. Without any, everyone is tenant "default", and only a
	// loopback listener is safe.
	Keys []endpoint.Key
	// StoredKeys are further keys, which change while the server runs; nil: there are none. Once
	// there was one, callers need a key.
	StoredKeys *keys.Keeper
	// Quota bounds what tenants store; nil: no bound. Its creator runs it.
	Quota *quota.Meter
	// KeysNeeded lets nobody in without a key, also while there is none.
	KeysNeeded bool
	// Audit records who did what; nil: nothing does.
	Audit *slog.Logger
	// AuditLog reads it; nil: it is not stored where it can be read.
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

	// Embedder is the default model, and Embedders further ones by the name of their setting; nil: there is none.
	Embedder  openai.Embedder
	Embedders map[string]openai.Embedder

	Synonyms versioned.Synonyms     // nil: they cannot be edited
	Drafts   versioned.Drafts       // of synonyms; nil: nothing is searched by them
	Rules    versioned.Sets         // query rules; nil: there are none
	Presets  versioned.SavedPresets // nil: there are none but the searcher's
	Mappings Mappings               // nil: they are not managed
	Jobs     Jobs                   // nil: there are none
	Demo     Demo                   // nil: there is no sample data
	Recall   Recall                 // nil: it is not measured
	Answers  searches.Answerer      // nil: no model answers

	Library     quality.Library     // query sets and judgments; nil: there are none
	Evaluations quality.Evaluations // nil: there are none
	Tunings     quality.Tunings     // nil: there are none
	Gradings    quality.Gradings    // nil: there are none
	Experiments quality.Experiments // nil: there are none

	Events quality.Events // of users; nil: there is no log of them
	Clicks quality.Clicks // judgments of it; nil: there are none

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
	// Troubles lists problems that do not stop the gateway; nil: there are none.
	Troubles func() []engine.Trouble
}

// Server is the HTTP server of the gateway. Call Serve once.
type Server struct {
	*endpoint.API
}

// New returns a server with all routes.
func New(options Options) *Server {
	if options.Registry == nil {
		options.Registry = prometheus.NewRegistry()
	}
	if options.Readiness == nil {
		options.Readiness = func(context.Context) map[string]error { return nil }
	}
	api := endpoint.New(endpoint.Options{
		Keys: options.Keys, StoredKeys: options.StoredKeys, KeysNeeded: options.KeysNeeded, Quota: options.Quota,
		AllowedHosts: options.AllowedHosts, AllowedOrigins: options.AllowedOrigins,
		TrustedProxies: options.TrustedProxies, Limits: options.Limits, Now: options.Now,
		Logger: options.Logger, LogQueries: options.LogQueries, Audit: options.Audit, Tracing: options.Tracing,
		Registry: options.Registry, OpenAPI: newOpenAPI(options.Version),
	})
	describeTypes(api.Document.Components.Schemas)
	register(api, &options)
	return &Server{api}
}

// register adds all resources.
func register(api *endpoint.API, o *Options) {
	registerUI(api, o.UI)
	registerGuide(api, o.Guide)
	s := searches.Register(api, searches.Sources{
		Searcher: o.Searcher, Saved: o.Presets, Answers: o.Answers, Registry: o.Registry, LogQueries: o.LogQueries,
	})
	edited := versioned.Register(api, o.Catalog, s, &versioned.Stores{
		Synonyms: o.Synonyms, Drafts: o.Drafts, Rules: o.Rules, Presets: o.Presets,
	})
	(&knowledgeBaseService{api, o.Catalog, o.Quota, edited}).register()
	registerDemo(api, o.Demo)
	registerRecall(api, o.Recall)
	chunks.Register(api, o.Ingester, o.Jobs, o.Registry)
	registerMappings(api, o.Mappings)
	(&jobService{api, o.Jobs, o.Mappings}).register()
	quality.Register(api, &quality.Services{
		Library: o.Library, Gradings: o.Gradings, Evaluations: o.Evaluations, Tunings: o.Tunings,
		Experiments: o.Experiments, Events: o.Events, Clicks: o.Clicks,
	})
	(&keyService{api, o.Keys, o.StoredKeys}).register()

	dify.Register(api, s)
	ragflow.Register(api, s, o.Catalog, o.Ingester)
	openai.Register(api, s, o.Catalog, o.Ingester)
	openai.RegisterEmbeddings(api, openai.Embedders{Usual: o.Embedder, Named: o.Embedders})
	mcp.Register(api, o.Version, s, o.Catalog, o.Ingester)
	cohere.Register(api, s)
	meilisearch.Register(api, s)

	(&auditService{api, o.AuditLog}).register()
	(&settingService{api, o.Settings, o.Version}).register()
	(&healthService{api: api, version: o.Version, ask: o.Readiness, troubles: o.Troubles}).register()
	registerMetrics(api, o.Registry)
	api.Describe(endpoint.Details{Examples: bodyExamples, Values: valueBounds, Signed: signed})
	registerIndex(api, o.Version, &Index{UI: hasUI(o.UI), Events: o.Events != nil, Answers: o.Answers != nil})
}
