package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// stored is a knowledge base with the number that names its table.
type stored struct {
	number int64
	made   bool // it has a table
	kb     engine.KnowledgeBase
}

func (f *files) knowledgeBases(ctx context.Context) ([]stored, error) {
	rows, err := f.readers.QueryContext(ctx, `SELECT number, definition,
		'chunks_' || number IN (SELECT name FROM sqlite_master WHERE type = 'table')
		FROM knowledge_bases ORDER BY tenant, id`)
	if err != nil {
		return nil, sqlite.Fault(err, "reading the knowledge bases")
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []stored
	for rows.Next() {
		var s stored
		var definition []byte
		if err := rows.Scan(&s.number, &definition, &s.made); err != nil {
			return nil, sqlite.Fault(err, "reading the knowledge bases")
		}
		if err := json.Unmarshal(definition, &s.kb); err != nil {
			return nil, fault.Wrap(fault.Corrupt, err, "the definition of knowledge base number %d", s.number)
		}
		all = append(all, s)
	}
	return all, sqlite.Fault(rows.Err(), "reading the knowledge bases")
}

// CreateKnowledgeBase implements engine.Store.
func (e *Engine) CreateKnowledgeBase(ctx context.Context, kb engine.KnowledgeBase) error {
	if err := kb.CheckOwned("embedded", e.Capabilities()); err != nil {
		return err
	}
	definition, err := engine.EncodeStored(kb)
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "the definition of knowledge base %q", kb.ID)
	}
	var s stored
	err = e.files.write(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `INSERT INTO knowledge_bases (tenant, id, definition) VALUES (?, ?, ?)
			ON CONFLICT DO NOTHING RETURNING number`, kb.Tenant, kb.ID, definition).Scan(&s.number)
		if errors.Is(err, sql.ErrNoRows) {
			return fault.New(fault.Conflict, "knowledge base %q exists already", kb.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	s.kb = kb
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bases[kb.Ref] = newBase(e, s)
	return nil
}

// KnowledgeBase implements engine.Finder.
func (e *Engine) KnowledgeBase(_ context.Context, ref engine.Ref) (engine.KnowledgeBase, error) {
	b, err := e.base(ref)
	if err != nil {
		return engine.KnowledgeBase{}, err
	}
	return b.kb, nil
}

// CountChunks implements engine.ChunkCounter.
func (e *Engine) CountChunks(ctx context.Context, tenant string) (int64, error) {
	sum := int64(0)
	for _, b := range e.sortedBases() {
		if b.kb.Tenant != tenant {
			continue
		}
		n, err := b.count(ctx)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// KnowledgeBases implements engine.Store.
func (e *Engine) KnowledgeBases(context.Context) ([]engine.KnowledgeBase, error) {
	var all []engine.KnowledgeBase
	for _, b := range e.sortedBases() {
		all = append(all, b.kb)
	}
	return all, nil
}

func (e *Engine) sortedBases() []*base {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.SortedFunc(maps.Values(e.bases), func(a, b *base) int {
		return cmp.Or(cmp.Compare(a.kb.Tenant, b.kb.Tenant), cmp.Compare(a.kb.ID, b.kb.ID))
	})
}

// DeleteKnowledgeBase implements engine.Store. It also deletes the other shape of a migration.
func (e *Engine) DeleteKnowledgeBase(ctx context.Context, ref engine.Ref) error {
	for {
		b, err := e.base(ref)
		if err != nil {
			return err
		}
		if err := e.deleteBase(ctx, b); !errors.Is(err, errMoved) {
			return err
		}
	}
}

func (e *Engine) deleteBase(ctx context.Context, b *base) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.gone:
		return b.notFound()
	case b.moved.Load():
		return errMoved
	}
	all := []*base{b}
	other, err := e.otherShape(ctx, b)
	if err != nil {
		return err
	}
	if other != nil {
		other.mu.Lock()
		defer other.mu.Unlock()
		all = append(all, other)
	}
	err = e.files.write(ctx, func(tx *sql.Tx) error {
		ctx := context.WithoutCancel(ctx)
		for _, each := range all {
			if err := each.table.drop(ctx, tx); err != nil {
				return err
			}
		}
		if err := forgetMigrations(ctx, tx, b.kb.Ref); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM knowledge_bases WHERE number = ?", b.table.number)
		return err
	})
	if err != nil {
		return err
	}
	for _, each := range all {
		e.forgetBase(each)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.bases, b.kb.Ref)
	delete(e.others, b.kb.Ref)
	return nil
}

// Describe implements engine.Store.
func (e *Engine) Describe(ctx context.Context, kb engine.KnowledgeBase) (*engine.Description, error) {
	b, s, err := e.snapshot(ctx, &kb)
	if err != nil {
		return nil, err
	}
	d := &engine.Description{Chunks: int(s.live.GetCardinality()), Bytes: s.bytes}
	err = e.files.readers.QueryRowContext(ctx, "SELECT COUNT(DISTINCT document_id) FROM "+b.table.source()).
		Scan(&d.Documents)
	if err != nil {
		return nil, sqlite.Fault(err, "counting the documents of knowledge base %q", kb.ID)
	}
	for _, v := range s.vectors {
		d.Vectors = max(d.Vectors, int(v.present.AndCardinality(s.live)))
	}
	d.Details = map[string]any{
		"table": b.table.name, "generation": s.generation, "segments": len(s.segments),
		"memory_bytes": s.memory(), "repairs": int(b.repairs.Load()),
		"damaged": b.damage.count(),
	}
	return d, nil
}

// Generation implements engine.Generations: the number of the snapshot that a search would
// get, raised by the transaction of each change. It is only valid within this process,
// which owns the data.
func (e *Engine) Generation(ctx context.Context, kb *engine.KnowledgeBase) (string, error) {
	b, s, err := e.snapshot(ctx, kb)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s-%d-%d", e.process, b.table.number, s.generation), nil
}
