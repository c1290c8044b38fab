// Package postgres is the engine on PostgreSQL with pgvector: chunks and vectors
// in a table per knowledge base, searched by HNSW or exactly, and the gateway's
// own BM25 index for keywords, which a cache of three tiers keeps beside it.
//
//	engine.go, connect.go, migrations   Open, the pool, the schema
//	faults.go, trace.go      errors of the database as faults; spans of its requests
//	catalog.go, table.go     knowledge bases, a table for each
//
// Searches, in the order of their steps:
//
//	search.go                the transaction, the legs
//	where.go                 filters as SQL with parameters
//	rank.go, sum.go          a ranking per leg, or one by the sum of all legs
//	hits.go                  hits with the raw scores of all legs
//	statistics.go            document frequencies, moments of the cosines; the SQL shown
//	words.go                 the vocabulary, for suggestions
//	read.go                  documents and chunks, and whether they are intact
//
// Writes:
//
//	write.go                 chunks, prepared and sent by COPY in one transaction
//	edit.go                  changes decided in the transaction that makes them
//	hnsw.go                  vector indexes, built when writers pause
//	keyword_source.go, keyword_store.go   BM25 indexes, and what their cache needs
//	recordkeeper.go          records beside the knowledge bases
//	apikeys.go               API keys, and how much tenants write
//	migration.go, migration_*.go   another type or dimension of the vectors
//
// Every chunk written gets a new row number that is never used again, and every
// transaction that changes chunks raises the knowledge base's generation. A search
// reads generation and vectors from one snapshot of the database and takes the
// keyword index of that generation: it sees a write whole or not at all.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Name is the engine's name in knowledge bases and settings.
const Name = "postgres"

// MaxDims is the largest dimension of a vector; above 4000 there is no index.
const MaxDims = 16000

// Settings are the user's settings of the engine; package config reads them by their tags.
type Settings struct {
	Schema      string        `yaml:"schema" default:"hybridge" accept:"a-z, 0-9 and _, the first no digit" doc:"Schema of all tables; created if missing."`
	PoolSize    int           `yaml:"pool_size" default:"10" accept:"2 to 1000" doc:"Most connections at a time."`
	ExactLimit  int           `yaml:"exact_limit" default:"2000" accept:"a whole number >= 1" doc:"If at most this many chunks pass the filter, vectors are compared one by one, otherwise searched by HNSW."`
	Timeout     time.Duration `yaml:"timeout" default:"15s" doc:"Limit for all requests of one search together, beside keyword_wait."`
	KeywordWait time.Duration `yaml:"keyword_wait" default:"300ms" doc:"How long a search waits while a keyword index is built or loaded; then vectors answer alone, degraded says so, and the work goes on for later searches. Words alone wait up to 10 s."`
}

// Options say where the database is and how text is tokenised.
type Options struct {
	Settings // zero values mean the default

	URL       string           // postgres://user:password@host:port/database
	Tokenizer engine.Tokenizer // of every knowledge base
	Logger    *slog.Logger     // nil: discarded
	// Redis is the second tier of the keyword indexes' cache; nil: none. KeywordBytes
	// bounds its first tier, which is memory; 0: 1 GiB.
	Redis        *tiered.Redis
	KeywordBytes int64
	// Embed embeds texts for migrations to another model; nil: unsupported.
	Embed engine.Embed

	Writes engine.WriteObserver // may be nil
}

func (o *Options) setDefaults() {
	o.Schema = cmp.Or(o.Schema, "hybridge")
	o.PoolSize = cmp.Or(o.PoolSize, 10)
	o.ExactLimit = cmp.Or(o.ExactLimit, 2000)
	o.Timeout = cmp.Or(o.Timeout, 15*time.Second)
	o.KeywordWait = cmp.Or(o.KeywordWait, 300*time.Millisecond)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
}

// Engine implements engine.Engine. Several engines may use one database.
type Engine struct {
	watched  engine.Writes
	options  Options
	log      *slog.Logger
	pool     *pgxpool.Pool
	keywords *tiered.Cache
	samples  sampleCache
	passing  passingCache
	// keywordWork is a semaphore of the connections used for keyword indexes.
	keywordWork chan struct{}

	// exact bounds searches without an index: a number of chunks, or of chunks per
	// requested hit.
	exact  struct{ limit, factor int }
	writes written
	// shadows holds the new shapes searched by relevance gates: engine.Ref to *base.
	shadows sync.Map

	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup // background work

	prepared struct {
		sync.Mutex
		done bool
	}

	mu     sync.Mutex
	closed bool
	bases  map[engine.Ref]*base
}

var (
	_ engine.Engine       = (*Engine)(nil)
	_ engine.Generations  = (*Engine)(nil)
	_ engine.Lexicon      = (*Engine)(nil)
	_ engine.Scanner      = (*Engine)(nil)
	_ engine.Invalidator  = (*Engine)(nil)
	_ engine.Verifier     = (*Engine)(nil)
	_ engine.Troubled     = (*Engine)(nil)
	_ engine.RecordKeeper = (*Engine)(nil)
)

// Open connects and brings the schema up to date. An unavailable database is no error:
// calls are Unavailable until it can be reached.
func Open(ctx context.Context, options Options) (*Engine, error) {
	if options.Tokenizer == nil {
		return nil, fault.New(fault.InvalidArgument, "the postgres engine needs a tokenizer")
	}
	options.setDefaults()
	pool, err := newPool(ctx, &options)
	if err != nil {
		return nil, err
	}
	e := &Engine{options: options, log: options.Logger, pool: pool, bases: map[engine.Ref]*base{}}
	e.watched.Observer = options.Writes
	e.exact.limit, e.exact.factor = options.ExactLimit, exactFactor
	e.life, e.end = context.WithCancel(context.WithoutCancel(ctx))
	e.keywordWork = make(chan struct{}, max(1, options.PoolSize/2))
	own := &backend{e}
	e.keywords = tiered.New(tiered.Options{
		Source: own, Store: own, Locker: own, Redis: options.Redis,
		MemoryBytes: options.KeywordBytes, Wait: e.keywordWait(true), Log: options.Logger,
	})
	err = e.ready(ctx)
	if err != nil && (ctx.Err() != nil || !isTemporary(err)) {
		return nil, errors.Join(err, e.Close())
	}
	if err != nil {
		e.log.Warn("PostgreSQL cannot be reached yet; its knowledge bases are unavailable", "error", err)
	}
	e.work.Go(e.keepIndexes)
	return e, nil
}

// ready prepares the database once.
func (e *Engine) ready(ctx context.Context) error {
	e.prepared.Lock()
	defer e.prepared.Unlock()
	if e.prepared.done {
		return nil
	}
	if err := prepare(ctx, &e.options); err != nil {
		return err
	}
	e.prepared.done = true
	return nil
}

// Name implements engine.Engine.
func (e *Engine) Name() string { return Name }

// Troubles implements engine.Troubled.
func (e *Engine) Troubles() []engine.Trouble { return e.watched.Troubles(Name) }

// Capabilities implements engine.Engine.
func (e *Engine) Capabilities() engine.Capabilities {
	return engine.Capabilities{
		Analyzers: []string{engine.AnalyzerJieba}, MaxDims: MaxDims, BM25: []string{engine.BM25Lucene, engine.BM25Okapi},
		VectorIndexes: []string{indexHNSW, indexHalf, indexNone},
	}
}

// Ping implements engine.Engine.
func (e *Engine) Ping(ctx context.Context) error {
	if err := e.ready(ctx); err != nil {
		return err
	}
	return faultOf(e.pool.Ping(ctx), "asking PostgreSQL")
}

// Close waits for background work and closes the connections.
func (e *Engine) Close() error {
	e.mu.Lock()
	closed := e.closed
	e.closed = true
	e.mu.Unlock()
	if closed {
		return nil
	}
	e.end()
	e.work.Wait()
	e.keywords.Close()
	e.pool.Close()
	return nil
}

// Keywords returns the cache of keyword indexes, for metrics.
func (e *Engine) Keywords() *tiered.Cache { return e.keywords }
