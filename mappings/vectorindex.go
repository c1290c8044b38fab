package mappings

import (
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// VectorNone keeps vectors unindexed: exact search only, the cheapest to write.
const VectorNone = "none"

// vectorDefault is the vector index of a knowledge base that names none.
const vectorDefault = "int8_hnsw"

// vectorIndexes are the accepted values of KnowledgeBase.VectorIndex, each with those
// that an index can change to while it is in use (only what is written or merged
// afterwards is indexed the new way).
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/dense-vector.html#dense-vector-index-options
var vectorIndexes = map[string][]string{
	"flat":      {"int8_flat", "int4_hnsw", "int8_hnsw", "hnsw", "bbq_hnsw"},
	"int8_flat": {"int4_hnsw", "int8_hnsw", "hnsw", "bbq_hnsw"},
	"hnsw":      {"int8_hnsw", "int4_hnsw", "bbq_hnsw"},
	"int8_hnsw": {"int4_hnsw", "bbq_hnsw"},
	"int4_hnsw": {"bbq_hnsw"},
	"bbq_hnsw":  nil,
	VectorNone:  nil,
}

// VectorIndexes lists the ways in which vectors may be indexed.
func VectorIndexes() []string {
	return []string{"int8_hnsw", "hnsw", "int4_hnsw", "bbq_hnsw", "flat", "int8_flat", VectorNone}
}

// minBBQ is the least dimensions that binary quantisation takes.
const minBBQ = 64

func checkVectorIndex(kb *engine.KnowledgeBase) error {
	if kb.VectorIndex == "" {
		return nil
	}
	if !slices.Contains(VectorIndexes(), kb.VectorIndex) {
		return fault.Invalid("vector_index", kb.VectorIndex, oneOf(VectorIndexes()))
	}
	switch {
	case kb.Dimensions == 0:
		return nil
	case kb.VectorIndex == "bbq_hnsw" && kb.Dimensions < minBBQ:
		return fault.Invalid("vector_index", kb.VectorIndex, "another one: bbq_hnsw takes vectors of 64 dimensions and more")
	case kb.VectorIndex == "int4_hnsw" && kb.Dimensions%2 != 0:
		return fault.Invalid("vector_index", kb.VectorIndex, "another one: int4_hnsw takes even numbers of dimensions")
	}
	return nil
}

// vectorProperty is the field of a knowledge base's vectors.
func vectorProperty(kb *engine.KnowledgeBase) Property {
	if kb.VectorIndex == VectorNone {
		return Property{Type: "dense_vector", Dims: kb.Dimensions, Index: new(false)}
	}
	kind := kb.VectorIndex
	if kind == "" {
		kind = vectorDefault
	}
	return Property{
		Type: "dense_vector", Dims: kb.Dimensions, Similarity: Cosine, Index: new(true),
		Options: &VectorOptions{Type: kind},
	}
}
