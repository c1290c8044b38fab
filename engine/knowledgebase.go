package engine

import (
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/scoring"
)

// KnowledgeKind is the shape of a knowledge base's chunks.
type KnowledgeKind string

// KindChunks holds passages with a title and a content; KindQA holds questions
// with their answers.
const (
	KindChunks KnowledgeKind = "chunks"
	KindQA     KnowledgeKind = "qa"
)

// Names of the fields that legs run over. A chunks knowledge base has FieldText
// and FieldVector (and those of KnowledgeBase.VectorFields), a qa one the four others.
const (
	FieldText           = "text"
	FieldVector         = "vector"
	FieldQuestion       = "question"
	FieldAnswer         = "answer"
	FieldQuestionVector = "question_vector"
	FieldAnswerVector   = "answer_vector"
)

// AnalyzerJieba is the gateway's own analyzer and every engine's default.
const AnalyzerJieba = "jieba"

// KnowledgeBase is a schema: which fields its chunks have, how text is
// analysed, which embedding model made its vectors.
type KnowledgeBase struct {
	Ref
	Name           string        `json:"name"`
	Engine         string        `json:"engine"`
	Engines        []string      `json:"engines,omitempty"` // that hold it, the reference first; empty: one engine
	Kind           KnowledgeKind `json:"kind"`
	Dimensions     int           `json:"dimensions"` // 0: keyword search only
	EmbeddingModel string        `json:"embedding_model,omitempty"`
	KeywordOnly    bool          `json:"keyword_only,omitempty" doc:"It was made to have no vectors, by dimensions 0."`
	Analyzer       string        `json:"analyzer"`
	SearchAnalyzer string        `json:"search_analyzer,omitempty" doc:"How questions become tokens, where that is not as texts do."`
	Shared         bool          `json:"shared,omitempty"` // shares one index with other small ones
	Attach         *Attachment   `json:"attach,omitempty"`
	CreatedAt      time.Time     `json:"created_at"`
	// BM25 is the formula of the text legs: BM25Lucene (also when empty) or BM25Okapi.
	BM25 string `json:"bm25,omitempty" doc:"lucene or okapi."`
	// VectorIndex is how the engine indexes vectors; empty: the engine's default.
	VectorIndex string `json:"vector_index,omitempty" doc:"int8_hnsw, hnsw, int4_hnsw, bbq_hnsw, flat, int8_flat or none; on PostgreSQL hnsw, half_hnsw or none."`
	// Boosts weights parts of a chunk's text in text legs, by part name (see Parts): 1, or at least 2. These
	// parts are indexed separately beside the whole text.
	Boosts map[string]float64 `json:"fields,omitempty" doc:"What parts of the text count in text legs, by title, content, important_keywords and questions."`
	// VectorFields lists the vector fields besides FieldVector.
	VectorFields []VectorField `json:"vector_fields,omitempty" doc:"Vector fields beside vector, of the same model and dimension."`
	// Generation of the storage: raised when it is rebuilt in another shape. 0 means the
	// current one.
	Generation int `json:"generation,omitempty" doc:"How often the storage was rebuilt; the engine's to decide."`
}

// Attachment names an existing index that the gateway reads but never writes to.
type Attachment struct {
	Index  string `json:"index"`
	Layout string `json:"layout,omitempty"` // a built-in set of field names: "ragflow"
	// Fields maps our field names (text, vector, content, title, id,
	// document_id, document_name, positions, knowledge_base) to the index's;
	// it overrides the layout's.
	Fields map[string]string `json:"fields,omitempty"`
	// Filter keeps chunks with this knowledge base value only, where the
	// layout has such a field.
	Value string `json:"value,omitempty"`
}

// Field is one searchable field of a knowledge base.
type Field struct {
	Name string
	Kind scoring.Kind
	// Source is, for a vector field, the text that is embedded, as for Chunk.FieldText;
	// empty: vectors are supplied by the caller.
	Source string
}

// Fields lists the searchable fields in a fixed order.
func (kb *KnowledgeBase) Fields() []Field {
	texts, vectors, further := passageTexts, passageVectors, kb.VectorFields
	if kb.Kind == KindQA {
		texts, vectors, further = qaTexts, qaVectors, nil
	}
	if kb.Dimensions <= 0 {
		vectors, further = nil, nil
	}
	fields := make([]Field, 0, len(texts)+len(vectors)+len(further))
	fields = append(append(fields, texts...), vectors...)
	for _, v := range further {
		fields = append(fields, Field{Name: v.Name, Kind: scoring.Vector, Source: v.Source})
	}
	return fields
}

// The fields that every knowledge base of a kind has.
var (
	passageTexts   = []Field{{Name: FieldText, Kind: scoring.Text}}
	passageVectors = []Field{{Name: FieldVector, Kind: scoring.Vector, Source: FieldText}}

	qaTexts   = []Field{{Name: FieldQuestion, Kind: scoring.Text}, {Name: FieldAnswer, Kind: scoring.Text}}
	qaVectors = []Field{
		{Name: FieldQuestionVector, Kind: scoring.Vector, Source: FieldQuestion},
		{Name: FieldAnswerVector, Kind: scoring.Vector, Source: FieldAnswer},
	}
)

// FieldsOf lists the names of the fields of one kind.
func (kb *KnowledgeBase) FieldsOf(kind scoring.Kind) []string {
	var names []string
	for _, f := range kb.Fields() {
		if f.Kind == kind {
			names = append(names, f.Name)
		}
	}
	return names
}

// Chunk is the unit of retrieval. Vectors are by vector field, [dim]float32 each; a chunk
// may lack any of them. Positions locate the text: five numbers [page, x0, x1, y0, y1] on a
// page, or two [first line, last line], from 1, in a file that was split.
type Chunk struct {
	ID           string `json:"id"`
	DocumentID   string `json:"document_id"`
	DocumentName string `json:"document_name,omitempty"`
	Ordinal      int    `json:"ordinal"` // its place within the document, from 0
	Title        string `json:"title,omitempty"`
	Content      string `json:"content,omitempty"`
	// Keywords and questions that the chunk answers are searched with the text, not embedded.
	ImportantKeywords []string             `json:"important_keywords,omitempty"`
	Questions         []string             `json:"questions,omitempty"`
	Positions         [][]float64          `json:"positions,omitempty"`
	Metadata          map[string]any       `json:"metadata,omitempty"` // values: string, float64, bool, or lists of these
	Owner             string               `json:"owner,omitempty"`
	WrittenAt         string               `json:"written_at,omitempty" doc:"When it was last written, in UTC to the second (RFC 3339); absent where that was before times were kept."`
	Available         bool                 `json:"available"`
	Vectors           map[string][]float32 `json:"-"`
	*QA
}

// QA holds the fields of a chunk of a qa knowledge base.
type QA struct {
	Question   string `json:"question,omitempty"`
	Answer     string `json:"answer,omitempty"`
	FullAnswer string `json:"full_answer,omitempty"`
	Summary    string `json:"summary,omitempty"`
	URL        string `json:"url,omitempty"`
	Category   string `json:"category,omitempty"`
	Date       string `json:"date,omitempty"`
	Group      string `json:"group,omitempty"`
}

// FieldText returns the text that a text field indexes: for a passage title, content,
// keywords and questions, or one of them; for a question-answer pair category and title
// before the question or the answer.
func (c *Chunk) FieldText(field string) string {
	switch {
	case field == PartTitle:
		return join(c.Title)
	case field == PartContent:
		return join(c.Content)
	case field == PartKeywords:
		return join(c.ImportantKeywords...)
	case field == PartQuestions:
		return join(c.Questions...)
	case c.QA == nil && len(c.ImportantKeywords)+len(c.Questions) > 0:
		return join(c.Title, c.Content, join(c.ImportantKeywords...), join(c.Questions...))
	case c.QA == nil:
		return join(c.Title, c.Content)
	case field == FieldAnswer:
		return join(c.Category, c.Title, c.Answer)
	default:
		return join(c.Category, c.Title, c.Question)
	}
}

// EmbeddedText returns the text embedded for a vector field of this source: as FieldText, without keywords
// and questions.
func (c *Chunk) EmbeddedText(source string) string {
	if c.QA == nil && source == FieldText {
		return join(c.Title, c.Content)
	}
	return c.FieldText(source)
}

func join(parts ...string) string { return strings.TrimSpace(strings.Join(parts, " ")) }

// Document sums up the chunks that share a document id.
type Document struct {
	ID     string `json:"document_id"`
	Name   string `json:"document_name,omitempty"`
	Chunks int    `json:"chunks"`
	// WithoutVectors counts chunks that lack a vector although the knowledge base has vectors: only text legs
	// find them.
	WithoutVectors int `json:"without_vectors,omitempty" doc:"Chunks without any vector, where the knowledge base has vectors; absent: none, or the key is bound to a filter."`
	// WrittenAt is the latest Chunk.WrittenAt of its chunks; empty if none has one.
	WrittenAt string `json:"written_at,omitempty" doc:"When a chunk of it was last written, in UTC (RFC 3339); absent where that was before times were kept."`
	// Bytes is the stored size of its chunks, without vectors; 0 if unknown: in an attached index, and on
	// Elasticsearch if a chunk was written before sizes were stored.
	Bytes int64 `json:"bytes,omitempty" doc:"Stored bytes of its chunks, without vectors; absent where they are not known, as in an attached index."`
}

// Description is the state of a knowledge base at one moment.
type Description struct {
	Documents int   `json:"documents"`
	Chunks    int   `json:"chunks"`
	Vectors   int   `json:"vectors"`
	Bytes     int64 `json:"bytes"` // on disk, as far as the engine knows
	// Details are the engine's own: index name, segments, generation, repairs.
	Details map[string]any `json:"details,omitempty" locale:"text"`
}
