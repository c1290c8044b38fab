package mappings

import (
	"maps"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// The fields of an index that the gateway made. Text fields are named by
// OwnText, vector fields as in package engine.
const (
	FieldID           = "id"
	FieldTenant       = "tenant"
	FieldKB           = "kb"
	FieldDocumentID   = "document_id"
	FieldDocumentName = "document_name"
	FieldOwner        = "owner"
	FieldAvailable    = "available"
	FieldOrdinal      = "ordinal"
	FieldMetadata     = "meta"  // flattened: key → encoded values
	FieldChunk        = "chunk" // the chunk as it was written, not indexed
)

// Cosine is the similarity of the gateway's own vector fields.
const Cosine = "cosine"

// Columns are the fields of a chunk, besides its metadata, that a filter or a
// facet may name.
func Columns(kind engine.KnowledgeKind) []string {
	columns := []string{FieldDocumentID, FieldDocumentName, FieldOwner}
	if kind == engine.KindQA {
		columns = append(columns, "category", "date", "title", "url", "group")
	}
	return columns
}

// Names says where an index keeps what a search needs; an empty name means
// that the index has no such field.
type Names struct {
	Text    map[string]TextField   // by the engine's field
	Vectors map[string]VectorField // by the engine's field
	// ID holds the chunk's id, by which ties are ordered; without it the id is
	// the document's _id and ties are ordered within one answer only.
	ID           string
	Tenant       string
	KB           string
	DocumentID   string
	DocumentName string
	Owner        string
	Ordinal      string
	Available    Available
	// Metadata is the flattened field; without it a filter names the index's
	// own fields, which Live describes.
	Metadata string
	Live     map[string]Property
	Source   Source
}

// SameFields reports whether two indices can be searched as one.
func (n *Names) SameFields(other *Names) bool {
	return maps.EqualFunc(n.Text, other.Text, TextField.equal) && maps.Equal(n.Vectors, other.Vectors)
}

// TextField is a text field of an index.
type TextField struct {
	Name string
	// Tokens: it holds the gateway's own tokens and is only split at white
	// space, so terms are looked up as they are.
	Tokens bool
	Length string // a numeric field with the number of tokens, may be empty
	// Beside are fields of an attached index that are searched with it: a word scores as in the
	// field where it scores most.
	Beside []BesideField
	// Within are fields with parts of the text, which add to the frequencies and the length of it.
	Within []BesideField
}

// BesideField is searched with a text field.
type BesideField struct {
	Name    string
	Boost   float64 // beside the text field, which has 1
	Keyword bool    // it holds values as they are, not tokens
}

func (f TextField) equal(other TextField) bool {
	return f.Name == other.Name && f.Tokens == other.Tokens && f.Length == other.Length &&
		slices.Equal(f.Beside, other.Beside) && slices.Equal(f.Within, other.Within)
}

// VectorField is a dense_vector field of an index.
type VectorField struct {
	Name string
	Dims int
	// Approximate: it is indexed with a similarity whose score converts back
	// to a cosine.
	Approximate bool
}

// Available says how an index marks chunks that are not to be found.
type Available struct {
	Field string // boolean; empty: all are available
	// Below: the field is a number and chunks under 1 are hidden; those
	// without it are not.
	Below bool
}

// Source names the members of _source that make up a chunk.
type Source struct {
	Chunk     string // all of it, as the gateway writes it; else the following
	Title     string
	Content   string
	Positions string
	Metadata  []string
}

// OwnText gives the text field of an index that the gateway made: tokens under
// *_ltks, plain text under *_text.
func OwnText(kb *engine.KnowledgeBase, field string) TextField {
	name := field + "_text"
	if Pretokenised(kb.Analyzer) {
		name = field + "_ltks"
	}
	return TextField{Name: name, Tokens: Pretokenised(kb.Analyzer), Length: field + "_length"}
}

// Own gives the names in the index of a knowledge base that is not attached.
func Own(kb *engine.KnowledgeBase) *Names {
	names := &Names{
		Text: map[string]TextField{}, Vectors: map[string]VectorField{},
		ID: FieldID, Tenant: FieldTenant, KB: FieldKB, DocumentID: FieldDocumentID, DocumentName: FieldDocumentName,
		Owner: FieldOwner, Ordinal: FieldOrdinal, Available: Available{Field: FieldAvailable},
		Metadata: FieldMetadata, Source: Source{Chunk: FieldChunk},
	}
	for _, f := range kb.StoredFields() {
		if f.Kind == scoring.Vector {
			names.Vectors[f.Name] = VectorField{Name: f.Name, Dims: kb.Dimensions, Approximate: kb.VectorIndex != VectorNone}
		} else {
			names.Text[f.Name] = OwnText(kb, f.Name)
		}
	}
	return names
}

func oneOf(accepted []string) string { return "one of " + strings.Join(accepted, ", ") }
