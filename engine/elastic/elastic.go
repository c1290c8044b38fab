// Package elastic is the engine that searches and stores in Elasticsearch 8.
//
//	elastic.go    the engine: options, ping
//	statistics.go document frequencies, which a search needs first
//	cosines.go    moments of the cosines to a sample
//	words.go      the vocabulary, for suggestions
//	search.go     a search: by legs, or by their sum
//	render.go     the requests it would send
//	sum.go        one ranking by the weighted sum of all legs: one _search
//	legs.go       one ranking per leg: one _msearch
//	complete.go   the raw scores that legs did not return: one more _search
//	candidates.go the hits of all legs together
//	ranking.go    responses of a thousand hits
//	prefetch.go   the chunks that are shown, with the same _msearch
//	chunks.go     chunks by id, with their scores
//	select.go     ids of chunks by conditions
//	target.go     an index, and what all searches of it share
//	plan.go       a request → which legs run, exactly or by kNN
//	memory.go vocabulary.go       what searches remember
//	filter.go text.go vector.go   a request as Elasticsearch clauses
//
// Package storage keeps the knowledge bases, package migrate changes their shape, and
// package rest talks to Elasticsearch for all three.
//
// Elasticsearch computes scores as float32: raw scores agree with the formulas
// to about 1e-6. The document frequencies in its scores count hidden chunks, deleted
// ones until their segment is merged and, in a shared index, the chunks of the other
// knowledge bases.
package elastic

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/migrate"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// Name is the engine's name.
const Name = "elasticsearch"

// Settings are the user's settings of the engine; package config reads them by their tags.
type Settings struct {
	IndexPrefix string        `yaml:"index_prefix" default:"hybridge" accept:"lower-case letters, digits, _ and -, beginning with a letter" doc:"Prefix of the names of the indices that the gateway creates."`
	Timeout     time.Duration `yaml:"timeout" default:"10s" doc:"Limit for all requests of one search together; a write may take ten times as long."`
	ExactLimit  int           `yaml:"exact_limit" default:"50000" accept:"a whole number >= 1" doc:"If at most this many chunks pass the filter, vectors are compared one by one, otherwise searched by kNN; four times as many if a leg asks for 1,024 candidates."`
}

// Options of the engine. Only URLs and Tokenizer have no default.
type Options struct {
	Settings // zero values mean the default

	URLs      []string // of the nodes
	APIKey    string   // base64, as Elasticsearch issues it; or Username and Password
	Username  string
	Password  string
	TLS       rest.TLS
	Tokenizer engine.Tokenizer
	// Grace is how long an index replaced by a migration is kept for gateways not yet aware
	// of it, and for running searches; 0: 15 s, negative: not at all.
	Grace time.Duration
	// JSON replaces SMILE, its binary form, in requests and responses.
	JSON   bool
	Logger *slog.Logger
	// Embed embeds texts for knowledge bases that change their model;
	// fault.Unsupported for a model that is not configured. Nil: none is.
	Embed engine.Embed
	// Transport replaces the engine's own transport.
	Transport http.RoundTripper
	Writes    engine.WriteObserver // may be nil
}

const (
	defaultPrefix     = "hybridge"
	defaultTimeout    = 10 * time.Second
	defaultExactLimit = 50_000
	defaultGrace      = 15 * time.Second // a catalogue is read again after 5 s, and a search takes 10 s
	answerShare       = 5                // a fifth of the time is left for the response to arrive
)

// Engine implements engine.Engine. It is safe for concurrent use.
type Engine struct {
	*storage.Store
	*migrate.Steps
	client     *rest.Client
	timeout    time.Duration
	exactLimit int
	memory     *memory
	tokenizer  engine.Tokenizer
	watched    *engine.Writes
}

var (
	_ engine.Engine         = (*Engine)(nil)
	_ engine.DeferredScorer = (*Engine)(nil)
	_ engine.Generations    = (*Engine)(nil)
	_ engine.Lexicon        = (*Engine)(nil)
	_ engine.Scanner        = (*Engine)(nil)
	_ engine.Verifier       = (*Engine)(nil)
	_ engine.Migrator       = (*Engine)(nil)
	_ engine.Troubled       = (*Engine)(nil)
	_ engine.RecordKeeper   = (*Engine)(nil)
)

// New makes the engine. It does not connect: Elasticsearch may come later.
func New(o Options) (*Engine, error) {
	o = withDefaults(o)
	if err := o.check(); err != nil {
		return nil, err
	}
	client, err := rest.New(&rest.Options{
		URLs: o.URLs, APIKey: o.APIKey, Username: o.Username, Password: o.Password,
		TLS: o.TLS, Timeout: o.Timeout, JSON: o.JSON, Logger: o.Logger, Transport: o.Transport,
	})
	if err != nil {
		return nil, err
	}
	watched := &engine.Writes{Observer: o.Writes}
	store, err := storage.New(storage.Options{
		Client: client, Tokenizer: o.Tokenizer, Prefix: o.IndexPrefix, Embed: o.Embed, Writes: watched,
	})
	if err != nil {
		return nil, err
	}
	return &Engine{
		Store: store, Steps: migrate.New(store, client, o.Timeout, o.Grace),
		client: client, timeout: o.Timeout, exactLimit: o.ExactLimit, memory: newMemory(), watched: watched,
		tokenizer: o.Tokenizer,
	}, nil
}

func withDefaults(o Options) Options {
	if o.IndexPrefix == "" {
		o.IndexPrefix = defaultPrefix
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.ExactLimit == 0 {
		o.ExactLimit = defaultExactLimit
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o *Options) check() error {
	switch {
	case len(o.URLs) == 0:
		return fault.Invalid("elasticsearch.url", "", "the URL of a node, such as http://127.0.0.1:9200")
	case o.Tokenizer == nil:
		return fault.New(fault.Internal, "the elasticsearch engine needs a tokenizer")
	default:
		return nil
	}
}

// Name implements engine.Engine.
func (e *Engine) Name() string { return Name }

// Troubles implements engine.Troubled.
func (e *Engine) Troubles() []engine.Trouble { return e.watched.Troubles(Name) }

// Capabilities implements engine.Engine.
func (e *Engine) Capabilities() engine.Capabilities {
	return engine.Capabilities{
		Analyzers: mappings.Analyzers(), SearchAnalyzers: mappings.SearchAnalyzers(),
		Layouts: mappings.Layouts(),
		Shared:  true,
		MaxDims: mappings.MaxDims,

		VectorIndexes: mappings.VectorIndexes(),
	}
}

// Ping implements engine.Engine.
func (e *Engine) Ping(ctx context.Context) error {
	return e.client.Read(ctx, rest.Get("/"), nil)
}

// Close implements engine.Engine.
func (e *Engine) Close() error { return e.client.Close() }
