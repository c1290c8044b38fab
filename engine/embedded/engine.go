// Package embedded is the engine without a server: a SQLite file holds the
// truth, and per knowledge base the memory holds a BM25 index per text field,
// the vectors, and what filters need. Vector search is exact.
//
// The engine and its knowledge bases:
//
//	engine.go        Open, Close, the knowledge bases in memory
//	catalog.go       creates, describes and deletes knowledge bases
//	base.go          one knowledge base
//	migration.go, migration_*.go   another shape of a knowledge base
//
// Searches, in the order of their steps:
//
//	search.go        the request, a ranking per leg, hits with the raw scores of all legs
//	filter.go        the rows that may be returned
//	sum.go           one ranking by the sum of all legs and signals
//	top.go           keeps the best rows and skips those that cannot be among them
//	statistics.go    document frequencies, moments of the cosines, the vocabulary
//	read.go          documents and chunks from the file
//
// Writes:
//
//	record.go        rows by number; prepares chunks for storage
//	write.go         plans changes, commits and publishes them together
//	edit.go          changes that depend on the stored chunks
//	load.go, rows.go file → memory; the stored BM25 indexes
//	mark.go          detects that the newest writes are lost
//	damage.go        rows that fail their checksum
//	recordkeeper.go  records beside the knowledge bases
//
// Both use:
//
//	snapshot.go           the immutable state that one search sees
//	vectors.go            vectors by row number
//	segment.go, column.go rows by id and by value
//	scores.go             numbers of all live rows, computed on all processors
//	sqlite.go, table.go   the file, its tables, checksums of rows
//
// Every chunk written gets a new row number, which is never used again, so
// everything in memory is addressed by row and only ever grows at its end. A
// search works on one immutable snapshot: it sees a write whole or not at all.
package embedded

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// MaxDims is the largest dimension of a vector.
const MaxDims = 4096

// Options say where the data is and how text is tokenised.
type Options struct {
	Path      string           // the data directory; made when absent
	Tokenizer engine.Tokenizer // of every knowledge base
	Logger    *slog.Logger     // nil: discarded
	// Preload loads all knowledge bases in the background after the start
	// instead of each at its first use.
	Preload bool
	// AcceptLoss opens a data file that has lost its newest changes with its write-ahead
	// log, which otherwise is a fault.Corrupt.
	AcceptLoss bool
	Writes     engine.WriteObserver // may be nil
	// Embed embeds texts for migrations to another model; nil: unsupported.
	Embed engine.Embed
}

// Engine implements engine.Engine.
type Engine struct {
	options Options
	watched engine.Writes
	log     *slog.Logger
	files   *files
	process string // identifies this opening of the data
	indexes indexFiles

	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup // loads and saves in the background
	due  chan *base     // knowledge bases whose BM25 indexes are worth saving

	repairs atomic.Int64 // since the start

	mu     sync.Mutex
	closed bool
	bases  map[engine.Ref]*base
	others map[engine.Ref]*base // inactive shapes kept by migrations

	shadows sync.Map // new shapes searched by relevance gates: engine.Ref to *base
}

var (
	_ engine.Engine       = (*Engine)(nil)
	_ engine.Generations  = (*Engine)(nil)
	_ engine.Lexicon      = (*Engine)(nil)
	_ engine.Scanner      = (*Engine)(nil)
	_ engine.Verifier     = (*Engine)(nil)
	_ engine.Troubled     = (*Engine)(nil)
	_ engine.RecordKeeper = (*Engine)(nil)
)

// Open opens the data directory, which one process at a time may use:
// fault.Conflict when another does.
func Open(ctx context.Context, options Options) (*Engine, error) {
	if options.Path == "" {
		return nil, fault.Invalid("path", options.Path, "a directory")
	}
	if options.Tokenizer == nil {
		return nil, fault.New(fault.InvalidArgument, "the embedded engine needs a tokenizer")
	}
	if err := os.MkdirAll(options.Path, 0o700); err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "making the data directory %s", options.Path)
	}
	indexes, err := openIndexFiles(options.Path)
	if err != nil {
		return nil, err
	}
	log := cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	opened, err := openFiles(ctx, &options, log)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		watched: engine.Writes{Observer: options.Writes},
		options: options,
		log:     log,
		files:   opened,
		indexes: indexes,
		process: rand.Text(),
		due:     make(chan *base, 16),
		bases:   map[engine.Ref]*base{},
		others:  map[engine.Ref]*base{},
	}
	e.life, e.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := e.openBases(ctx); err != nil {
		e.end()
		return nil, cmp.Or(err, opened.close())
	}
	e.work.Go(e.saveDue)
	if options.Preload {
		e.work.Go(e.preload)
	}
	return e, nil
}

// openBases reads which knowledge bases there are; their chunks are loaded later.
func (e *Engine) openBases(ctx context.Context) error {
	all, err := e.files.knowledgeBases(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	if err := e.files.addChecksums(ctx); err != nil {
		return err
	}
	for _, stored := range all {
		e.bases[stored.kb.Ref] = newBase(e, stored)
		known[strconv.FormatInt(stored.number, 10)] = true
	}
	migrations, err := e.Migrations(ctx) // each keeps a table beside the one in use
	if err != nil {
		return err
	}
	for i := range migrations {
		for _, table := range []string{migrations[i].FromIndex, migrations[i].ToIndex} {
			known[strings.TrimPrefix(table, tablePrefix)] = true
		}
	}
	if err := e.indexes.sweep(known); err != nil {
		e.log.Warn("orphaned BM25 indexes not removed", "error", err)
	}
	return nil
}

func (e *Engine) preload() {
	for _, b := range e.sortedBases() {
		if _, err := b.ready(e.life); err != nil {
			if e.life.Err() != nil {
				return
			}
			e.log.Error("knowledge base not loaded", "tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "error", err)
		}
	}
}

// Name implements engine.Engine.
func (e *Engine) Name() string { return "embedded" }

// Capabilities implements engine.Engine.
func (e *Engine) Capabilities() engine.Capabilities {
	return engine.Capabilities{
		Analyzers: []string{engine.AnalyzerJieba}, MaxDims: MaxDims, BM25: []string{engine.BM25Lucene, engine.BM25Okapi},
	}
}

// Ping implements engine.Engine.
func (e *Engine) Ping(ctx context.Context) error {
	var n int
	err := e.files.readers.QueryRowContext(ctx, "SELECT COUNT(*) FROM knowledge_bases").Scan(&n)
	return sqlite.Fault(err, "reading the data file")
}

// Repairs is the number of unusable stored BM25 indexes rebuilt from the chunks since the
// engine was opened.
func (e *Engine) Repairs() int { return int(e.repairs.Load()) }

// Close saves the BM25 indexes that changed and closes the file.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.end()
	e.mu.Unlock()
	e.work.Wait()
	for _, b := range e.sortedBases() {
		b.saveLogged(context.Background())
	}
	return e.files.close()
}

// base gives the knowledge base of a reference, fault.NotFound when absent.
func (e *Engine) base(ref engine.Ref) (*base, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fault.New(fault.Unavailable, "the embedded engine is closed")
	}
	b := e.bases[ref]
	if b == nil {
		return nil, fault.New(fault.NotFound, "knowledge base %q does not exist", ref.ID)
	}
	return b, nil
}

// snapshot returns the snapshot for a search over the knowledge base. While a migration compares both shapes,
// the new one is addressed by its generation.
func (e *Engine) snapshot(ctx context.Context, kb *engine.KnowledgeBase) (*base, *snapshot, error) {
	var b *base
	s, err := reading(e, kb.Ref, func(inUse *base) (*snapshot, error) {
		b = inUse
		if shadow, ok := e.shadows.Load(kb.Ref); ok && shadow.(*base).kb.Generation == kb.Generation {
			b = shadow.(*base)
		}
		return b.ready(ctx)
	})
	return b, s, err
}

// reading reads from the knowledge base, and retries if its shape has just been switched.
func reading[T any](e *Engine, ref engine.Ref, read func(*base) (T, error)) (T, error) {
	for {
		b, err := e.base(ref)
		if err != nil {
			var nothing T
			return nothing, err
		}
		found, err := read(b)
		if err == nil || !b.moved.Load() {
			return found, err
		}
	}
}

// background runs f unless the engine is closing; false then.
func (e *Engine) background(f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.work.Go(f)
	return true
}
