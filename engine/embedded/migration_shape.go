package embedded

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// shape describes the changeable parts of a knowledge base's storage.
type shape struct {
	Table   string            `json:"table,omitempty"`
	Columns map[string]string `json:"columns"` // of vectors: their types
	Indexes []string          `json:"indexes"` // text fields and parts with a keyword index
}

func shapeOf(kb *engine.KnowledgeBase, table string) shape {
	s := shape{Table: table, Columns: map[string]string{}, Indexes: kb.StoredTexts()}
	for _, v := range tableOf(0, kb).vectors {
		s.Columns[v] = fmt.Sprintf("float32[%d]", kb.Dimensions)
	}
	return s
}

// DesiredMapping implements engine.Migrator.
func (e *Engine) DesiredMapping(_ context.Context, kb engine.KnowledgeBase) (json.RawMessage, error) {
	return json.Marshal(shapeOf(&kb, ""))
}

// LiveMapping implements engine.Migrator.
func (e *Engine) LiveMapping(_ context.Context, kb engine.KnowledgeBase) (json.RawMessage, error) {
	b, err := e.base(kb.Ref)
	if err != nil {
		return nil, err
	}
	return json.Marshal(shapeOf(&b.kb, b.table.name))
}

// copyRates holds chunks per second by copy method, measured on two cores with 384
// dimensions: enough to tell minutes from hours.
var copyRates = map[string]float64{engine.CopyRebuild: 3000, engine.CopyEmbed: 15}

// DiffMapping implements engine.Migrator. The table always matches the schema, so schemas are compared.
func (e *Engine) DiffMapping(ctx context.Context, kb, wanted engine.KnowledgeBase) (*engine.MappingDiff, error) {
	if wanted.VectorIndex != "" {
		return nil, fault.Invalid("vector_index", wanted.VectorIndex, "left out: the embedded engine compares all vectors")
	}
	if err := wanted.CheckOwned(e.Name(), e.Capabilities()); err != nil {
		return nil, err
	}
	b, s, err := e.snapshot(ctx, &engine.KnowledgeBase{Ref: kb.Ref})
	if err != nil {
		return nil, err
	}
	if b.kb.Generation != kb.Generation {
		return nil, fault.New(fault.Conflict, "knowledge base %q has changed a moment ago; ask again", kb.ID)
	}
	d := &engine.MappingDiff{
		KnowledgeBase: kb.ID, Index: b.table.name, Class: engine.ChangeNone, Changes: []engine.MappingChange{},
		Estimate: engine.MappingEstimate{Documents: int(s.live.GetCardinality()), Bytes: s.bytes},
	}
	d.CompareColumns(shapeOf(&b.kb, "").Columns, shapeOf(&wanted, "").Columns)
	d.CompareEmbedding(&b.kb, &wanted)
	d.CompareBoosts(&b.kb, &wanted, engine.ChangeReindex)
	d.SettleCopy(&b.kb, &wanted, copyRates)
	return d, d.Seal(&b.kb, b.table.name)
}
