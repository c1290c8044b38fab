// Package mappings knows what an Elasticsearch index of the gateway looks like:
// the settings, analyzers and fields of a knowledge base's own index, how
// metadata is encoded in it, and how an index that somebody else made is read.
// It does no I/O.
package mappings

import (
	"encoding/json"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// Version of the index layout that this package builds.
const Version = 1

// refreshInterval is that of a new index; somebody may choose another.
const refreshInterval = "1s"

// MaxDims is the most dimensions that a dense_vector may have.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/dense-vector.html#dense-vector-params
const MaxDims = 4096

// Index is the body that creates an index, and that describes a live one:
//
//	{"settings": {"index": {"number_of_shards": 1, …}}, "mappings": {"dynamic": "strict", "properties": {…}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/indices-create-index.html
type Index struct {
	Settings Settings         `json:"settings"`
	Mappings Mappings         `json:"mappings"`
	Aliases  map[string]Alias `json:"aliases,omitempty"`
}

// Alias is a further name of an index.
type Alias struct {
	// Write makes this the index that writes to the alias go to.
	Write bool `json:"is_write_index"`
}

// Settings of an index.
type Settings struct {
	Index IndexSettings `json:"index"`
}

// IndexSettings are the settings that the gateway chooses.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/index-modules.html
type IndexSettings struct {
	Shards          int       `json:"number_of_shards"`
	Replicas        string    `json:"auto_expand_replicas"` // "0-1": a replica as soon as there is a second node
	RefreshInterval string    `json:"refresh_interval"`
	Analysis        *Analysis `json:"analysis,omitempty"`
}

// Mappings are the fields of an index.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/mapping.html
type Mappings struct {
	Dynamic    string              `json:"dynamic,omitempty"` // "strict": no document adds a field
	Meta       *Meta               `json:"_meta,omitempty"`
	Routing    *Routing            `json:"_routing,omitempty"`
	Properties map[string]Property `json:"properties"`
}

// Routing makes the routing value of each request mandatory.
type Routing struct {
	Required bool `json:"required"`
}

// Property is one field.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/mapping-types.html
type Property struct {
	Type       string              `json:"type,omitempty"`
	Analyzer   string              `json:"analyzer,omitempty"`
	Search     string              `json:"search_analyzer,omitempty"` // of questions
	Dims       int                 `json:"dims,omitempty"`
	Element    string              `json:"element_type,omitempty"`
	Similarity string              `json:"similarity,omitempty"`
	Index      *bool               `json:"index,omitempty"`
	DocValues  *bool               `json:"doc_values,omitempty"`
	Enabled    *bool               `json:"enabled,omitempty"`
	Options    *VectorOptions      `json:"index_options,omitempty"`
	Properties map[string]Property `json:"properties,omitempty"`
	Fields     map[string]Property `json:"fields,omitempty"`
}

// VectorOptions choose the graph of a dense_vector.
type VectorOptions struct {
	Type string `json:"type"`
}

// Meta is what the index says of itself in _meta.
type Meta struct {
	Version        int                  `json:"hybridge_version,omitempty"`
	Kind           engine.KnowledgeKind `json:"kind,omitempty"`
	Analyzer       string               `json:"analyzer,omitempty"`
	Dimensions     int                  `json:"dimensions"`
	EmbeddingModel string               `json:"embedding_model,omitempty"`
	Shared         bool                 `json:"shared,omitempty"`
	// VectorFields are what the vector fields beside vector embed, by name.
	VectorFields map[string]string `json:"vector_fields,omitempty"`
	// Tokenizer is the fingerprint of the gateway's tokenizer that made the
	// tokens. With another one, searches find less until the chunks are written
	// again.
	Tokenizer string `json:"tokenizer,omitempty"`
	// Moments: every document has the moments of its times, see KeyMoments.
	Moments bool `json:"moments,omitempty"`

	// Of the catalogue: the version of all that is stored.
	Schema    int `json:"schema,omitempty"`
	MinReader int `json:"min_reader,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler. The index_options of other types of
// fields are strings, which do not matter here.
func (o *VectorOptions) UnmarshalJSON(data []byte) error {
	type plain VectorOptions
	var found plain
	if json.Unmarshal(data, &found) == nil {
		*o = VectorOptions(found)
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler. The _meta of somebody else's index may
// be anything, and is ignored.
func (m *Meta) UnmarshalJSON(data []byte) error {
	type plain Meta
	var found plain
	if json.Unmarshal(data, &found) == nil {
		*m = Meta(found)
	}
	return nil
}

// Desired gives the index of a knowledge base. tokenizer is the fingerprint of
// the gateway's tokenizer.
func Desired(kb *engine.KnowledgeBase, tokenizer string) (Index, error) {
	if err := check(kb); err != nil {
		return Index{}, err
	}
	index := Index{
		Settings: Settings{IndexSettings{
			Shards: 1, Replicas: "0-1", RefreshInterval: refreshInterval, Analysis: analysisOf(kb),
		}},
		Mappings: Mappings{Dynamic: "strict", Meta: meta(kb, tokenizer), Properties: properties(kb)},
	}
	if kb.Shared {
		index.Mappings.Routing = &Routing{Required: true}
	}
	return index, nil
}

func check(kb *engine.KnowledgeBase) error {
	if !slices.Contains(Analyzers(), kb.Analyzer) {
		return fault.Invalid("analyzer", kb.Analyzer, oneOf(Analyzers()))
	}
	if kb.Dimensions < 0 || kb.Dimensions > MaxDims {
		return fault.Invalid("dimensions", kb.Dimensions, "from 0 (keyword search only) to 4096")
	}
	if kb.Kind != engine.KindChunks && kb.Kind != engine.KindQA {
		return fault.Invalid("kind", string(kb.Kind), oneOf([]string{string(engine.KindChunks), string(engine.KindQA)}))
	}
	if err := kb.CheckVectorFields(); err != nil {
		return err
	}
	if err := kb.CheckSearchAnalyzer(SearchAnalyzers()); err != nil {
		return err
	}
	return checkVectorIndex(kb)
}

func meta(kb *engine.KnowledgeBase, tokenizer string) *Meta {
	m := &Meta{
		Version: Version, Kind: kb.Kind, Analyzer: kb.Analyzer, Dimensions: kb.Dimensions,
		EmbeddingModel: kb.EmbeddingModel, Shared: kb.Shared, Tokenizer: tokenizer, Moments: true,
	}
	if kb.Shared {
		m.EmbeddingModel = "" // each knowledge base in it has its own
		return m
	}
	for _, v := range kb.VectorFields {
		if m.VectorFields == nil {
			m.VectorFields = map[string]string{}
		}
		m.VectorFields[v.Name] = v.Source
	}
	return m
}

func properties(kb *engine.KnowledgeBase) map[string]Property {
	keyword := Property{Type: "keyword"}
	all := map[string]Property{
		FieldID: keyword, FieldTenant: keyword, FieldKB: keyword,
		FieldDocumentID: keyword, FieldDocumentName: keyword, FieldOwner: keyword,
		FieldAvailable: {Type: "boolean"},
		FieldOrdinal:   {Type: "integer"},
		FieldMetadata:  {Type: "flattened"},
		FieldChunk:     {Type: "object", Enabled: new(false)},
	}
	for _, column := range Columns(kb.Kind) {
		all[column] = keyword
	}
	for _, f := range kb.StoredFields() {
		if f.Kind == scoring.Vector {
			all[f.Name] = vectorProperty(kb)
			continue
		}
		text := OwnText(kb, f.Name)
		property := Property{Type: "text", Analyzer: indexAnalyzer(kb.Analyzer)}
		if kb.SearchAnalyzer != "" {
			property.Search = analyzerSearch
		}
		all[text.Name] = property
		all[text.Length] = Property{Type: "integer", Index: new(false)}
	}
	return all
}
