package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// base is the immutable definition of a knowledge base.
type base struct {
	kb    engine.KnowledgeBase
	table table
	texts []string // text fields

	indexes struct {
		sync.Mutex
		usable []bool // by vector field: its vector index
		seen   time.Time
	}
}

func newBase(number int64, kb engine.KnowledgeBase) *base {
	return &base{kb: kb, table: tableOf(number, &kb), texts: kb.StoredTexts()}
}

// state is the changing part of a knowledge base.
type state struct {
	number     int64
	generation int64
	chunks     int64
	hidden     int64
	vectors    []int64
	epoch      int64
}

// stateQuery reads a state by tenant and id.
const stateQuery = `SELECT number, generation, chunks, hidden, vectors, epoch
	FROM knowledge_bases WHERE tenant = $1 AND id = $2`

func (b *base) state(ctx context.Context, from querier) (*state, error) {
	return b.readState(from.QueryRow(ctx, stateQuery, b.kb.Tenant, b.kb.ID))
}

func (b *base) readState(row pgx.Row) (*state, error) {
	s := &state{}
	err := row.Scan(&s.number, &s.generation, &s.chunks, &s.hidden, &s.vectors, &s.epoch)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !s.isOf(b) {
		return nil, errReplaced
	}
	return s, err
}

// isOf reports whether the state belongs to this definition: the knowledge base may have
// been recreated, or its vector fields changed, since the definition was read.
func (s *state) isOf(b *base) bool {
	return s.number == b.table.number && len(s.vectors) == len(b.table.vectors)
}

// errReplaced says that the definition is outdated: the knowledge base was deleted,
// recreated or changed its shape.
var errReplaced = errors.New("the knowledge base is not the one it was")

// querier is a pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// index names the keyword index of a text field.
func (b *base) index(e *Engine, field string, epoch int64) tiered.Index {
	variant := bm25.Lucene
	if b.kb.BM25 == engine.BM25Okapi {
		variant = bm25.Okapi
	}
	return tiered.Index{
		KnowledgeBase: b.table.number,
		Field:         field,
		Name:          b.kb.Tenant + "/" + b.kb.ID,
		Options: bm25.Options{
			Variant: variant, LiveStatistics: true,
			Fingerprint: fmt.Sprintf("%s#%d", e.options.Tokenizer.Fingerprint(), epoch),
		},
	}
}

// base gives the knowledge base of a reference, fault.NotFound when absent.
func (e *Engine) base(ctx context.Context, ref engine.Ref) (*base, error) {
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
	e.mu.Lock()
	b, closed := e.bases[ref], e.closed
	e.mu.Unlock()
	switch {
	case closed:
		return nil, fault.New(fault.Unavailable, "the postgres engine is closed")
	case b != nil:
		return b, nil
	}
	b, err := e.readBase(ctx, ref)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bases[ref] = b
	return b, nil
}

func notFound(ref engine.Ref) error {
	return fault.New(fault.NotFound, "knowledge base %q does not exist", ref.ID)
}

func decodeBase(number int64, definition []byte) (*base, error) {
	var kb engine.KnowledgeBase
	if err := json.Unmarshal(definition, &kb); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "the definition of knowledge base number %d", number)
	}
	return newBase(number, kb), nil
}

// forget makes the next use of a knowledge base read its definition again.
func (e *Engine) forget(b *base) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.bases[b.kb.Ref] == b {
		delete(e.bases, b.kb.Ref)
	}
}

// maxLookups bounds the retries with an outdated definition: during a migration and its rollback each lookup may be
// outdated again, also one shared with another request.
const maxLookups = 6

// withBase runs do with the knowledge base, and retries if the definition turns out to be outdated.
func (e *Engine) withBase(ctx context.Context, ref engine.Ref, do func(*base) error) error {
	for look := 1; ; look++ {
		b, err := e.base(ctx, ref)
		if err != nil {
			return err
		}
		err = do(b)
		if !errors.Is(err, errReplaced) && !isCode(err, undefinedTable) {
			return err
		}
		e.forget(b)
		if look == maxLookups {
			return notFound(ref)
		}
	}
}

// readBase reads the definition of a knowledge base.
func (e *Engine) readBase(ctx context.Context, ref engine.Ref) (*base, error) {
	var number int64
	var definition []byte
	err := e.reading(ctx, func(ctx context.Context) error {
		return e.pool.QueryRow(ctx, "SELECT number, definition FROM knowledge_bases WHERE tenant = $1 AND id = $2",
			ref.Tenant, ref.ID).Scan(&number, &definition)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, notFound(ref)
	}
	if err != nil {
		return nil, faultOf(err, "reading knowledge base %q", ref.ID)
	}
	return decodeBase(number, definition)
}

// KnowledgeBase implements engine.Finder.
func (e *Engine) KnowledgeBase(ctx context.Context, ref engine.Ref) (engine.KnowledgeBase, error) {
	if err := e.ready(ctx); err != nil {
		return engine.KnowledgeBase{}, err
	}
	b, err := e.readBase(ctx, ref)
	if err != nil {
		return engine.KnowledgeBase{}, err
	}
	return b.kb, nil
}

// CountChunks implements engine.ChunkCounter, by what each change of chunks counts.
func (e *Engine) CountChunks(ctx context.Context, tenant string) (n int64, err error) {
	if err := e.ready(ctx); err != nil {
		return 0, err
	}
	err = e.pool.QueryRow(ctx, "SELECT COALESCE(SUM(chunks), 0)::bigint FROM knowledge_bases WHERE tenant = $1", tenant).
		Scan(&n)
	return n, faultOf(err, "counting the chunks of tenant %q", tenant)
}

// CreateKnowledgeBase implements engine.Store.
func (e *Engine) CreateKnowledgeBase(ctx context.Context, kb engine.KnowledgeBase) error {
	if err := e.checkDefinition(&kb); err != nil {
		return err
	}
	if err := e.ready(ctx); err != nil {
		return err
	}
	definition, err := json.Marshal(kb)
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "the definition of knowledge base %q", kb.ID)
	}
	err = pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		var number int64
		zeros := make([]int64, len(kb.FieldsOf(scoring.Vector)))
		err := tx.QueryRow(ctx, `INSERT INTO knowledge_bases (tenant, id, definition, vectors) VALUES ($1, $2, $3, $4)
			ON CONFLICT (tenant, id) DO NOTHING RETURNING number`, kb.Tenant, kb.ID, definition, zeros).Scan(&number)
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.New(fault.Conflict, "knowledge base %q exists already", kb.ID)
		}
		if err != nil {
			return err
		}
		t := tableOf(number, &kb)
		return t.create(ctx, tx)
	})
	return faultOf(err, "making knowledge base %q", kb.ID)
}

func (e *Engine) checkDefinition(kb *engine.KnowledgeBase) error {
	if !storable(kb.ID) || !storable(kb.Tenant) {
		return fault.Invalid("id", kb.ID, "UTF-8 without the character U+0000")
	}
	if accepted := e.Capabilities().VectorIndexes; kb.VectorIndex != "" && !slices.Contains(accepted, kb.VectorIndex) {
		return fault.Invalid("vector_index", kb.VectorIndex, strings.Join(accepted, ", "))
	}
	return kb.CheckOwned(Name, e.Capabilities())
}

// Vector indexes that a knowledge base may choose.
const (
	indexHNSW = "hnsw"
	indexHalf = "half_hnsw" // the vectors are stored in half precision
	indexNone = "none"      // every search is exact
)

// KnowledgeBases implements engine.Store.
func (e *Engine) KnowledgeBases(ctx context.Context) ([]engine.KnowledgeBase, error) {
	all, err := e.allBases(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]engine.KnowledgeBase, len(all))
	for i, b := range all {
		list[i] = b.kb
	}
	return list, nil
}

func (e *Engine) allBases(ctx context.Context) ([]*base, error) {
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
	var all []*base
	err := e.reading(ctx, func(ctx context.Context) error {
		rows, err := e.pool.Query(ctx, "SELECT number, definition FROM knowledge_bases ORDER BY tenant, id")
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*base, error) {
			var number int64
			var definition []byte
			if err := row.Scan(&number, &definition); err != nil {
				return nil, err
			}
			return decodeBase(number, definition)
		})
		return err
	})
	return all, faultOf(err, "reading the knowledge bases")
}

// DeleteKnowledgeBase implements engine.Store.
func (e *Engine) DeleteKnowledgeBase(ctx context.Context, ref engine.Ref) error {
	return e.withBase(ctx, ref, func(b *base) error {
		err := pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, "DELETE FROM knowledge_bases WHERE number = $1", b.table.number)
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				return errReplaced
			}
			return b.table.drop(ctx, tx)
		})
		if err != nil {
			return wrapUnlessReplaced(err, "deleting knowledge base %q", ref.ID)
		}
		e.forget(b)
		e.keywords.Forget(ctx, b.table.number)
		return nil
	})
}

// Describe implements engine.Store.
func (e *Engine) Describe(ctx context.Context, kb engine.KnowledgeBase) (*engine.Description, error) {
	d := &engine.Description{}
	err := e.withBase(ctx, kb.Ref, func(b *base) error {
		s, err := b.state(ctx, e.pool)
		if err != nil {
			return wrapUnlessReplaced(err, "describing knowledge base %q", kb.ID)
		}
		err = e.pool.QueryRow(ctx, "SELECT (SELECT COUNT(*) FROM (SELECT DISTINCT document_id FROM "+b.table.name+
			") AS documents), pg_total_relation_size($1::regclass)", b.table.name).Scan(&d.Documents, &d.Bytes)
		if err != nil {
			return wrapUnlessReplaced(err, "describing knowledge base %q", kb.ID)
		}
		d.Chunks = int(s.chunks)
		for _, n := range s.vectors {
			d.Vectors = max(d.Vectors, int(n))
		}
		usable, err := b.usableIndexes(ctx, e.pool, 0)
		if err != nil {
			return wrapUnlessReplaced(err, "describing knowledge base %q", kb.ID)
		}
		d.Details = map[string]any{
			"table": b.table.name, "generation": s.generation, "vector_index": b.indexState(usable),
			"keyword_index": e.keywordState(b),
		}
		return nil
	})
	return d, err
}

// keywordState describes the cache of keyword indexes, by field.
func (e *Engine) keywordState(b *base) map[string]any {
	states := map[string]any{}
	for _, s := range e.keywords.State(b.table.number) {
		states[s.Index.Field] = map[string]any{
			"loaded": s.Loaded, "generation": s.Generation, "chunks": s.Docs, "bytes": s.Bytes,
			"age_seconds": s.Age.Seconds(), "unsaved": s.Unsaved,
			"from_memory": s.Counters.Memory, "from_redis": s.Counters.Redis, "from_database": s.Counters.Store,
			"builds": s.Counters.Builds, "updates": s.Counters.CatchUps, "repairs": s.Counters.Repairs,
		}
	}
	return states
}

// indexState says for each vector field how it is searched.
func (b *base) indexState(usable []bool) map[string]string {
	states := map[string]string{}
	for i, field := range b.table.vectors {
		states[field] = "none"
		if usable[i] {
			states[field] = "hnsw"
		}
	}
	return states
}

// Invalidate implements engine.Invalidator: it drops every stored keyword index of
// a knowledge base, for every gateway, so that the next search builds them anew.
func (e *Engine) Invalidate(ctx context.Context, ref engine.Ref) error {
	return e.withBase(ctx, ref, func(b *base) error {
		var epoch int64
		err := e.pool.QueryRow(ctx, "UPDATE knowledge_bases SET epoch = epoch + 1 WHERE number = $1 RETURNING epoch",
			b.table.number).Scan(&epoch)
		if errors.Is(err, pgx.ErrNoRows) {
			return errReplaced
		}
		if err != nil {
			return wrapUnlessReplaced(err, "invalidating the keyword indexes of knowledge base %q", ref.ID)
		}
		indexes := make([]tiered.Index, len(b.texts))
		for i, field := range b.texts {
			indexes[i] = b.index(e, field, epoch-1)
		}
		return e.keywords.Invalidate(ctx, indexes...)
	})
}

// Generation implements engine.Generations: the number that the transaction of
// each change raises. The start of the server stands beside it, for a database
// that was restored counts on from an earlier number.
func (e *Engine) Generation(ctx context.Context, kb *engine.KnowledgeBase) (string, error) {
	if err := e.ready(ctx); err != nil {
		return "", err
	}
	var number, generation int64
	var started time.Time
	err := e.reading(ctx, func(ctx context.Context) error {
		return e.pool.QueryRow(ctx,
			"SELECT number, generation, pg_postmaster_start_time() FROM knowledge_bases WHERE tenant = $1 AND id = $2",
			kb.Tenant, kb.ID).Scan(&number, &generation, &started)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", notFound(kb.Ref)
	}
	if err != nil {
		return "", faultOf(err, "reading the generation of knowledge base %q", kb.ID)
	}
	return fmt.Sprintf("%d-%d-%d", number, generation, started.UnixMicro()), nil
}
