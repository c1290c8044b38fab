package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// shape describes the changeable parts of a chunk table.
type shape struct {
	Table   string            `json:"table"`
	Columns map[string]string `json:"columns"` // of vectors: their types
	Indexes map[string]string `json:"indexes"` // without the table's name in front: the method, or invalid
}

// desiredShape is the required shape for that number of chunks.
func (e *Engine) desiredShape(b *base, chunks int64) shape {
	s := shape{b.table.name, b.columns(), map[string]string{
		"generation": "btree", "document": "btree", "metadata": "gin",
	}}
	for _, v := range b.table.vectors {
		s.Indexes[v+"_lot"] = "btree"
		if b.wantsIndex() && chunks > int64(e.options.ExactLimit) {
			s.Indexes[v+"_hnsw"] = indexHNSW
		}
	}
	return s
}

// columns lists the vector columns with their types.
func (b *base) columns() map[string]string {
	columns := make(map[string]string, len(b.table.vectors))
	for _, v := range b.table.vectors {
		columns[v] = b.table.columnType()
	}
	return columns
}

// wantsIndex reports whether the vectors are indexed once there are many.
func (b *base) wantsIndex() bool { return b.table.indexable() && b.kb.VectorIndex != indexNone }

// liveShape reads the catalogue of the database.
func (e *Engine) liveShape(ctx context.Context, b *base) (shape, error) {
	s := shape{b.table.name, map[string]string{}, map[string]string{}}
	var name, kind string
	read := func(into map[string]string, sql string) error {
		rows, err := e.pool.Query(ctx, sql, b.table.name)
		if err != nil {
			return err
		}
		_, err = pgx.ForEachRow(rows, []any{&name, &kind}, func() error {
			into[strings.TrimPrefix(name, b.table.name+"_")] = kind
			return nil
		})
		return err
	}
	if err := read(s.Columns, `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
		JOIN pg_type ON pg_type.oid = atttypid WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
		AND typname IN ('vector', 'halfvec')`); err != nil {
		return s, faultOf(err, "reading the columns of %s", b.table.name)
	}
	err := read(s.Indexes, `SELECT relname, CASE WHEN indisvalid THEN amname::TEXT ELSE 'invalid' END
		FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
		WHERE indrelid = to_regclass($1) AND NOT indisunique`)
	return s, faultOf(err, "reading the indexes of %s", b.table.name)
}

// DesiredMapping implements engine.Migrator.
func (e *Engine) DesiredMapping(ctx context.Context, kb engine.KnowledgeBase) (json.RawMessage, error) {
	var s shape
	err := e.withBase(ctx, kb.Ref, func(b *base) error {
		now, err := b.state(ctx, e.pool)
		if err == nil {
			s = e.desiredShape(b, now.chunks)
		}
		return wrapUnlessReplaced(err, "describing knowledge base %q", kb.ID)
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// LiveMapping implements engine.Migrator.
func (e *Engine) LiveMapping(ctx context.Context, kb engine.KnowledgeBase) (json.RawMessage, error) {
	var s shape
	err := e.withBase(ctx, kb.Ref, func(b *base) (err error) {
		s, err = e.liveShape(ctx, b)
		return err
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// DiffMapping implements engine.Migrator.
func (e *Engine) DiffMapping(ctx context.Context, kb, wanted engine.KnowledgeBase) (*engine.MappingDiff, error) {
	if err := e.checkDefinition(&wanted); err != nil {
		return nil, err
	}
	var diff *engine.MappingDiff
	e.forgetAny(kb.Ref)
	err := e.withBase(ctx, kb.Ref, func(b *base) (err error) {
		if b.kb.Generation != kb.Generation || b.kb.VectorIndex != kb.VectorIndex {
			return fault.New(fault.Conflict, "knowledge base %q has changed a moment ago; ask again", kb.ID)
		}
		diff, err = e.diff(ctx, b, &wanted)
		return wrapUnlessReplaced(err, "comparing the table of knowledge base %q", kb.ID)
	})
	return diff, err
}

func (e *Engine) diff(ctx context.Context, b *base, wanted *engine.KnowledgeBase) (*engine.MappingDiff, error) {
	now, err := b.state(ctx, e.pool)
	if err != nil {
		return nil, err
	}
	live, err := e.liveShape(ctx, b)
	if err != nil {
		return nil, err
	}
	target := newBase(now.number, *wanted)
	d := &engine.MappingDiff{
		KnowledgeBase: b.kb.ID, Index: b.table.name, Class: engine.ChangeNone, Changes: []engine.MappingChange{},
	}
	d.CompareColumns(live.Columns, target.columns())
	d.CompareEmbedding(&b.kb, wanted)
	d.CompareBoosts(&b.kb, wanted, engine.ChangeInPlace) // terms are read from the bodies
	desired := e.desiredShape(target, now.chunks)
	if d.Class == engine.ChangeNone { // a new table gets its own indexes
		compareIndexes(d, &live, &desired, target.wantsIndex())
		if b.kb.VectorIndex != wanted.VectorIndex {
			d.Add(engine.MappingChange{
				Path: "vector_index", Live: engine.Quoted(b.kb.VectorIndex), Desired: engine.Quoted(wanted.VectorIndex),
				Class: engine.ChangeInPlace, Code: "schema", Reason: "only the schema says so",
			})
		}
	}
	if wanted.Dimensions > maxIndexedHalf && !slices.Contains([]string{"", indexNone}, wanted.VectorIndex) {
		d.Add(engine.MappingChange{
			Path: "vector_index", Live: engine.Quoted(b.kb.VectorIndex), Desired: engine.Quoted(wanted.VectorIndex),
			Class: engine.ChangeConflict, Code: "dimension",
			Reason: fmt.Sprintf("HNSW takes at most %d dimensions; choose none", maxIndexedHalf),
		})
	}
	// Indexes are excluded from the digest: the engine builds them by itself.
	if err := d.Seal(&b.kb, live.Table, live.Columns); err != nil {
		return nil, err
	}
	d.Estimate.Documents = int(now.chunks)
	d.SettleCopy(&b.kb, wanted, copyRates)
	return d, e.pool.QueryRow(ctx, "SELECT COALESCE(pg_total_relation_size(to_regclass($1)), 0)", b.table.name).
		Scan(&d.Estimate.Bytes)
}

// Chunks per second by copy method, including the index, measured on two cores with 384
// dimensions: enough to tell minutes from hours.
var copyRates = map[string]float64{engine.CopyRebuild: 700, engine.CopyEmbed: 15}

func compareIndexes(d *engine.MappingDiff, live, desired *shape, wanted bool) {
	for _, name := range slices.Sorted(maps.Keys(desired.Indexes)) {
		if has := live.Indexes[name]; has != desired.Indexes[name] {
			d.Add(engine.MappingChange{
				Path: "indexes." + name, Live: engine.Quoted(has), Desired: engine.Quoted(desired.Indexes[name]),
				Class: engine.ChangeInPlace, Code: "index",
				Reason: "the index is built beside the writers; until then searches are slower and find the same",
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(live.Indexes)) {
		if strings.HasSuffix(name, "_hnsw") && !wanted {
			d.Add(engine.MappingChange{
				Path: "indexes." + name, Live: engine.Quoted(live.Indexes[name]),
				Class: engine.ChangeInPlace, Code: "index", Reason: "the schema wants none",
			})
		}
	}
}

// withShape is withBase for requests that depend on the shape. A request of a later
// generation than known here makes it look again; while a migration compares both shapes,
// the new one is addressed by its generation.
func (e *Engine) withShape(ctx context.Context, kb *engine.KnowledgeBase, do func(*base) error) error {
	if found, ok := e.shadows.Load(kb.Ref); ok {
		if b, ok := found.(*base); ok && b.kb.Generation == kb.Generation {
			return do(b)
		}
	}
	if b, err := e.base(ctx, kb.Ref); err == nil && b.kb.Generation < kb.Generation {
		e.forget(b)
	}
	return e.withBase(ctx, kb.Ref, do)
}

// current returns a knowledge base in its current shape.
func (e *Engine) current(ctx context.Context, b *base) (*base, error) {
	var same bool
	err := e.pool.QueryRow(ctx, `SELECT number = $3 AND COALESCE((definition ->> 'generation')::BIGINT, 0) = $4
		AND COALESCE(definition ->> 'vector_index', '') = $5 FROM knowledge_bases WHERE tenant = $1 AND id = $2`,
		b.kb.Tenant, b.kb.ID, b.table.number, b.kb.Generation, b.kb.VectorIndex).Scan(&same)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, faultOf(err, "looking at knowledge base %q", b.kb.ID)
	}
	if !same {
		e.forget(b)
	}
	return e.base(ctx, b.kb.Ref)
}
