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

	"github.com/prometheus/client_golang/prometheus"

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

// Options of a Server: those of its folders, and the dependencies of its own resources. Searcher, Catalog and
// Ingester are required.
type Options struct {
	endpoint.Options // without OpenAPI; Registry may be nil
	versioned.Stores
	quality.Services

	Searcher searches.Searcher
	Answers  searches.Answerer // nil: no model answers
	Catalog  Catalog
	Ingester chunks.Ingester
	// Embedder is the default model, and Embedders further ones by the name of their setting; nil: there is none.
	Embedder  openai.Embedder
	Embedders map[string]openai.Embedder

	Mappings Mappings // nil: they are not managed
	Jobs     Jobs     // nil: there are none
	Demo     Demo     // nil: there is no sample data
	Recall   Recall   // nil: it is not measured

	// AuditLog reads what Audit records; nil: it is not stored where it can be read.
	AuditLog AuditLog
	// Settings are those in force, in the order in which they are shown.
	Settings []Setting
	Version  string
	// UI holds the files of the web application. There is none if it is nil or has no
	// index.html.
	UI fs.FS
	// Guide reads the user guide, when it is first asked for; nil: there is none.
	Guide func() (*guide.Guide, error)
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
	options.OpenAPI = newOpenAPI(options.Version)
	api := endpoint.New(options.Options)
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
	edited := versioned.Register(api, o.Catalog, s, &o.Stores)
	(&knowledgeBaseService{api, o.Catalog, o.Quota, edited}).register()
	registerDemo(api, o.Demo)
	registerRecall(api, o.Recall)
	chunks.Register(api, o.Ingester, o.Jobs, o.Registry)
	registerMappings(api, o.Mappings)
	(&jobService{api, o.Jobs, o.Mappings}).register()
	quality.Register(api, &o.Services)
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
