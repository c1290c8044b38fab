package app

import (
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/hybridge-search/hybridge/access/audit"
	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/docs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/openai"
	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/guide"
	answers "github.com/hybridge-search/hybridge/rag/answer"
	"github.com/hybridge-search/hybridge/web"
)

// parts are the components of a gateway.
type parts struct {
	metrics   *prometheus.Registry
	tracing   *trace.TracerProvider // nil: there are no traces
	analyzer  *tokens.Analyzer
	storage   storage
	models    models
	edits     customization
	door      door
	content   content
	searching searching
	usage     usage
}

// openGateway makes the server from the parts, and the parts that only it needs.
func (p *parts) openGateway(o *Options) (*gateway.Server, error) {
	configured, err := gatewayKeys(o.Config.Keys)
	if err != nil {
		return nil, err
	}
	p.content.openCatalog(o, &p.storage, &p.models)
	p.searching.options = searchOptions(o, p.analyzer, &p.content, &p.models, &p.edits)
	p.content.openMigration(o, &p.storage, &p.models, p.searching.options)
	if err := p.content.openPipeline(o, &p.models); err != nil {
		return nil, err
	}
	p.storage.measure(p.metrics)
	if err := p.searching.open(o, p.analyzer.Fingerprint(), &p.edits, p.storage.redis, p.metrics); err != nil {
		return nil, err
	}
	options, err := p.gatewayOptions(o)
	if err != nil {
		return nil, err
	}
	options.Keys = configured
	p.addEvaluations(o, options)
	p.usage.addExperiments(o, p, options)
	return gateway.New(*options), nil
}

// gatewayOptions builds the options from the configuration and the open parts.
func (p *parts) gatewayOptions(o *Options) (*gateway.Options, error) {
	ui, err := web.Files()
	if err != nil {
		return nil, err
	}
	proxies, err := o.Config.ProxyNetworks()
	if err != nil {
		return nil, err
	}
	settings, err := settingsInForce(o)
	if err != nil {
		return nil, err
	}
	options := &gateway.Options{
		Options: endpoint.Options{
			TrustedProxies: proxies, AllowedHosts: o.Config.AllowedHosts, AllowedOrigins: o.Config.CORS.AllowedOrigins,
			StoredKeys: p.door.keys, KeysNeeded: o.Config.NeedsStoredKeys(), Quota: p.door.quota,
			Audit: p.door.audit, Logger: o.Logger, LogQueries: o.Config.Log.Queries, Registry: p.metrics,
			Limits: gatewayLimits(&o.Config.Limits),
		},
		Stores: versioned.Stores{
			Synonyms: p.edits.edited, Drafts: drafts{p}, Rules: p.edits.rules, Presets: p.edits.presets,
		},
		UI: ui, Settings: settings, Searcher: p.searching.searcher, Catalog: p.content.catalog,
		Ingester: p.content.pipeline, Mappings: p.content.mappings, Jobs: p.content.jobs, Demo: demoData{o, p},
		Recall: p.searching.recall, Version: o.Version, Readiness: p.readiness, Troubles: p.storage.troubles,
	}
	options.Embedders = map[string]openai.Embedder{}
	for name, m := range p.models.further {
		options.Embedders[name] = m
	}
	if c := &o.Config.Answer; c.URL != "" {
		options.Limits.Answers = c.Concurrent
		options.Answers = answers.New(answers.Options{
			URL: c.URL, Model: c.Model, APIKey: c.APIKey.Reveal(), Timeout: c.Timeout,
		})
	}
	if path := o.Config.Audit.Path; path != "" {
		options.AuditLog = &audit.File{Path: path, Nobody: endpoint.DefaultTenant}
	}
	options.Guide = p.guide
	if p.models.standard != nil {
		options.Embedder = p.models.standard
	}
	if p.tracing != nil { // a nil pointer in an interface is not nil
		options.Tracing = p.tracing
	}
	return options, nil
}

// guide reads the user guide.
func (p *parts) guide() (*guide.Guide, error) {
	defer debug.FreeOSMemory() // reading leaves 20 MB of garbage
	return guide.Read(docs.Files(), p.analyzer)
}

func gatewayLimits(l *config.Limits) endpoint.Limits {
	return endpoint.Limits{
		JSONBytes: int(l.BodyBytes), Request: l.RequestTimeout, Ingest: l.IngestTimeout,
		Idle: l.IdleTimeout, ShutdownGrace: l.ShutdownGrace,
		AnswerBytes: int(l.AnswerBytes), SendingBytes: int(l.SendingBytes),
		Rate: l.Rate, KeyRate: l.KeyRate,
		Concurrent: l.Concurrent, KeyConcurrent: l.KeyConcurrent, WrongKeys: l.WrongKeys,
	}
}

func gatewayKeys(configured []config.Key) ([]endpoint.Key, error) {
	keys := make([]endpoint.Key, len(configured))
	for i, k := range configured {
		hash, err := k.Hash()
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "the key %s cannot be read", k.Name)
		}
		filter, err := k.Conditions()
		if err != nil {
			return nil, err
		}
		keys[i] = endpoint.Key{
			Filter: filter,
			Name:   k.Name, Tenant: k.Tenant, KnowledgeBases: k.KnowledgeBases,
			ReadOnly: k.ReadOnly, Attach: k.Attach, Hash: hash,
		}
	}
	return keys, nil
}

// settingsInForce are the settings as the gateway shows them.
func settingsInForce(o *Options) ([]gateway.Setting, error) {
	all, err := o.Config.InForce(o.Origins)
	if err != nil {
		return nil, err
	}
	told := make([]gateway.Setting, len(all))
	for i := range all {
		s := &all[i]
		told[i] = gateway.Setting{
			Key: s.Key, Value: s.Value, Default: s.Default, Source: s.Source, Accept: s.Accept, About: s.Doc,
			Variable: s.Env(), Flag: s.Flag,
		}
	}
	return told, nil
}
