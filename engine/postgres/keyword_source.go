package postgres

import (
	"context"
	"errors"
	"hash/fnv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/parallel"
)

// backend adapts the engine for the cache of keyword indexes. It uses at most half of the
// pool's connections, so that vector searches continue while it is blocked.
type backend struct{ engine *Engine }

// acquire waits for one of the connections reserved for keyword indexes.
func (k *backend) acquire(ctx context.Context) (release func(), err error) {
	select {
	case k.engine.keywordWork <- struct{}{}:
		return func() { <-k.engine.keywordWork }, nil
	case <-ctx.Done():
		return nil, faultOf(ctx.Err(), "waiting for a connection to PostgreSQL")
	}
}

var (
	_ tiered.Source = (*backend)(nil)
	_ tiered.Store  = (*backend)(nil)
	_ tiered.Locker = (*backend)(nil)
)

// portion is the number of chunks tokenised and handed over at a time.
const portion = 4096

// snapshotOnly begins a transaction that sees the database at one moment.
var snapshotOnly = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// Changes implements tiered.Source.
func (k *backend) Changes(
	ctx context.Context, index tiered.Index, after int64, visit func(tiered.Changes) error,
) (generation int64, err error) {
	release, err := k.acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	for again := true; ; again = false {
		err = pgx.BeginTxFunc(ctx, k.engine.pool, snapshotOnly, func(tx pgx.Tx) error {
			f := &follower{engine: k.engine, tx: tx, index: index, visit: visit}
			generation, err = f.run(ctx, after)
			return err
		})
		if !again || !isCode(err, undefinedTable) { // the table was just replaced before any visit
			break
		}
	}
	if errors.Is(err, tiered.ErrLogTrimmed) {
		return generation, err
	}
	return generation, faultOf(err, "reading what changed in knowledge base %s", index.Name)
}

// follower reads one snapshot's changes.
type follower struct {
	engine *Engine
	tx     pgx.Tx
	base   *base
	index  tiered.Index
	visit  func(tiered.Changes) error
}

func (f *follower) run(ctx context.Context, after int64) (generation int64, err error) {
	var logFrom int64
	var definition []byte
	err = f.tx.QueryRow(ctx, "SELECT generation, log_from, definition FROM knowledge_bases WHERE number = $1",
		f.index.KnowledgeBase).Scan(&generation, &logFrom, &definition)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, fault.New(fault.NotFound, "knowledge base %s does not exist", f.index.Name)
	}
	if err != nil || generation <= after {
		return generation, err
	}
	if after > 0 && after < logFrom {
		return generation, tiered.ErrLogTrimmed
	}
	if f.base, err = decodeBase(f.index.KnowledgeBase, definition); err != nil {
		return 0, err
	}
	if _, err := f.tx.Exec(ctx, "LOCK TABLE "+f.base.table.name+" IN ACCESS SHARE MODE"); err != nil {
		return 0, err
	}
	if after > 0 {
		if err := f.deleted(ctx, after); err != nil {
			return 0, err
		}
	}
	return generation, f.added(ctx, after)
}

func (f *follower) deleted(ctx context.Context, after int64) error {
	rows, err := f.tx.Query(ctx, "SELECT row FROM deleted_chunks WHERE kb_id = $1 AND generation > $2",
		f.index.KnowledgeBase, after)
	if err != nil {
		return err
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(keys) == 0 {
		return err
	}
	c := tiered.Changes{Deleted: make([]uint32, len(keys))}
	for i, key := range keys {
		c.Deleted[i] = uint32(key) //nolint:gosec // a row number, bounded where it is given out
	}
	return f.visit(c)
}

// numbered is the text of a row.
type numbered struct {
	row  uint32
	text string
}

func (f *follower) added(ctx context.Context, after int64) error {
	rows, err := f.tx.Query(ctx, "SELECT row, body FROM "+f.base.table.name+
		" WHERE generation > $1 ORDER BY generation, row", after)
	if err != nil {
		return err
	}
	defer rows.Close()
	var texts []numbered
	for rows.Next() {
		var row int64
		var body pgtype.DriverBytes
		if err := rows.Scan(&row, &body); err != nil {
			return err
		}
		chunk, err := f.base.kb.DecodeStored(body)
		if err != nil {
			return err
		}
		//nolint:gosec // a row number, bounded where it is given out
		texts = append(texts, numbered{uint32(row), chunk.FieldText(f.index.Field)})
		if len(texts) < portion {
			continue
		}
		if err := f.tokenise(texts); err != nil {
			return err
		}
		texts = texts[:0]
	}
	if err := rows.Err(); err != nil || len(texts) == 0 {
		return err
	}
	return f.tokenise(texts)
}

func (f *follower) tokenise(texts []numbered) error {
	docs := make([]bm25.Doc, len(texts))
	parallel.Each(len(texts), func(i int) {
		docs[i] = bm25.Doc{Key: texts[i].row, Tokens: f.engine.options.Tokenizer.Terms(texts[i].text)}
	})
	return f.visit(tiered.Changes{Added: docs})
}

// Lock implements tiered.Locker by an advisory lock on a connection of its own: a
// process that dies loses the connection, and with it the lock.
func (k *backend) Lock(ctx context.Context, index tiered.Index) (unlock func(), err error) {
	conn, err := connect(ctx, &k.engine.options)
	if err != nil {
		return nil, faultOf(err, "connecting to PostgreSQL")
	}
	end := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = conn.Close(ctx) // the lock goes with the connection
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", lockNumber(k.engine.options.Schema, index)); err != nil {
		end()
		return nil, faultOf(err, "waiting for another gateway to build a keyword index")
	}
	return end, nil
}

func lockNumber(schema string, index tiered.Index) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(schema + "\x00" + index.Field + "\x00"))
	return int64(h.Sum64()) + index.KnowledgeBase //nolint:gosec // any number will do
}

// keyword is the keyword index of a text field for one search.
type keyword struct {
	snapshot *bm25.Snapshot
	err      error // why it is unavailable
}

// keywordIndexes returns the indexes of text fields at the generation of a state, as far as
// they are ready before ctx ends; moved says that one of them is already newer.
func (e *Engine) keywordIndexes(
	ctx context.Context, b *base, s *state, fields []string,
) (all map[string]keyword, moved bool) {
	all = make(map[string]keyword, len(fields))
	for _, field := range fields {
		snapshot, err := e.keywords.At(ctx, b.index(e, field, s.epoch), s.generation)
		var newer *tiered.MovedError
		moved = moved || errors.As(err, &newer)
		all[field] = keyword{snapshot, b.keywordFault(err)}
	}
	return all, moved
}

// keywordFault explains to the caller why a keyword index is unavailable; nil for nil.
func (b *base) keywordFault(err error) error {
	var moved *tiered.MovedError
	if errors.As(err, &moved) { // continuous writes until the caller's deadline
		return fault.Wrap(fault.Unavailable, err, "the keyword index of knowledge base %q", b.kb.ID)
	}
	return faultOf(err, "the keyword index of knowledge base %q", b.kb.ID)
}

// keywordOnlyWait is the wait for a keyword index without alternative: keyword search, a
// filter with phrases, a write with Refresh.
const keywordOnlyWait = 10 * time.Second

// keywordWait is the longest wait of a search for keyword indexes.
func (e *Engine) keywordWait(alone bool) time.Duration {
	if alone {
		return max(keywordOnlyWait, e.options.KeywordWait)
	}
	return e.options.KeywordWait
}

// refresh updates the keyword indexes after a write, so that the next search does not wait.
// It never fails: the write is committed, and that search tries again.
func (e *Engine) refresh(ctx context.Context, b *base) {
	ctx, stop := context.WithTimeout(ctx, keywordOnlyWait)
	defer stop()
	for again := true; again && ctx.Err() == nil; {
		s, err := b.state(ctx, e.pool)
		if err != nil {
			return
		}
		_, again = e.keywordIndexes(ctx, b, s, b.texts)
	}
}
