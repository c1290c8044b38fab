// Package migration changes the shape of a knowledge base while it is searched
// and written to. It makes plans, runs the steps that the engine offers as a job,
// checks the relevance gate, and resumes migrations of gateways that have ended.
// What a step does is up to the engine.
//
//	plan ─ apply ─► running ─► switched ─ cleanup ─► done
//	                  │  ▲        └────── rollback ─► rolled_back
//	            failed ─ resume
//	                  └─ cancel ─► cancelled
package migration

import (
	"strings"
	"unicode"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Change lists a plan's changes of a knowledge base's schema; omitted fields stay.
type Change struct {
	Analyzer       *string `json:"analyzer,omitempty" doc:"How texts become tokens."`
	SearchAnalyzer *string `json:"search_analyzer,omitempty" doc:"How questions become tokens, ik_smart or ik_max_word; empty: as texts do."`
	Dimensions     *int    `json:"dimensions,omitempty" minimum:"0" maximum:"65536" doc:"Of the vectors; the default is the model's. 0 drops them."`
	EmbeddingModel *string `json:"embedding_model,omitempty" doc:"One that this gateway is configured with; every text is embedded again."`
	VectorIndex    *string `json:"vector_index,omitempty" doc:"int8_hnsw, hnsw, int4_hnsw, bbq_hnsw, flat, int8_flat or none (exact search only); on PostgreSQL hnsw, half_hnsw or none."`

	Fields       *map[string]float64   `json:"fields,omitempty" doc:"What parts of the text count from now on, 1 or from 2 to 100, by title, content, important_keywords and questions; those named are indexed by themselves. Empty: none is."`
	VectorFields *[]engine.VectorField `json:"vector_fields,omitempty" doc:"All vector fields that there are to be beside vector; an empty list removes them."`
}

// Request asks for a plan.
type Request struct {
	Changes Change                `json:"changes,omitzero" doc:"Empty: only repair what has drifted from the schema."`
	Options engine.MappingOptions `json:"options,omitzero"`
}

const maxGateQueries = 1000

func (c *Change) apply(kb engine.KnowledgeBase) (engine.KnowledgeBase, error) {
	if c.Analyzer != nil {
		kb.Analyzer = *c.Analyzer
	}
	if c.SearchAnalyzer != nil {
		kb.SearchAnalyzer = *c.SearchAnalyzer
	}
	if c.VectorIndex != nil {
		kb.VectorIndex = *c.VectorIndex
	}
	if c.Dimensions != nil {
		kb.Dimensions, kb.KeywordOnly = *c.Dimensions, *c.Dimensions == 0
	}
	if c.EmbeddingModel != nil {
		kb.EmbeddingModel, kb.KeywordOnly = *c.EmbeddingModel, false
	}
	if c.VectorFields != nil {
		kb.VectorFields = *c.VectorFields
	}
	if c.Fields != nil {
		kb.Boosts = *c.Fields
	}
	if kb.Dimensions == 0 && (c.EmbeddingModel == nil || c.Dimensions != nil) { // else it gets those of its model
		kb.EmbeddingModel = ""
		if c.VectorFields == nil {
			kb.VectorFields = nil // they go with vector
		}
	}
	if len(kb.EmbeddingModel) > 256 || strings.ContainsFunc(kb.EmbeddingModel, unicode.IsControl) {
		return kb, fault.Invalid("changes.embedding_model", kb.EmbeddingModel, "at most 256 bytes of printable UTF-8")
	}
	return kb, nil
}

func checkOptions(o *engine.MappingOptions) error {
	gate := &o.Gate
	switch {
	case o.Slices < 0 || o.Slices > 64:
		return fault.Invalid("options.slices", o.Slices, "from 0 (one per shard) to 64")
	case !(o.Throttle >= 0 && o.Throttle <= 1e9):
		return fault.Invalid("options.requests_per_second", o.Throttle, "from 0 (no limit) to 1e9")
	case o.Sample < 0 || o.Sample > 10_000:
		return fault.Invalid("options.sample", o.Sample, "from 0 (the default, 200) to 10000")
	case len(gate.Queries) > maxGateQueries:
		return fault.Invalid("options.gate.queries", fault.Length(len(gate.Queries)), "a list of at most 1000 queries")
	case gate.K < 0 || gate.K > 100:
		return fault.Invalid("options.gate.k", gate.K, "from 0 (the default, 10) to 100")
	case !(gate.MinOverlap >= 0 && gate.MinOverlap <= 1):
		return fault.Invalid("options.gate.min_overlap", gate.MinOverlap, "from 0 to 1")
	case !(gate.MaxLoss >= 0 && gate.MaxLoss <= 1):
		return fault.Invalid("options.gate.max_ndcg_loss", gate.MaxLoss, "from 0 to 1")
	}
	for _, q := range gate.Queries {
		if strings.TrimSpace(q.Query) == "" || len(q.Query) > 8192 {
			return fault.Invalid("options.gate.queries", q.Query, "queries of 1 to 8192 bytes")
		}
	}
	return nil
}
