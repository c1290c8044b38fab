package engine

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// VectorField is a vector field of a knowledge base of kind chunks beside
// FieldVector, of the same model and dimension.
type VectorField struct {
	Name   string `json:"name" doc:"As title_vector: lower-case words joined by _, the last of them vector; at most 32 bytes."`
	Source string `json:"source,omitempty" enum:"title,content" doc:"The part of a chunk that its vectors embed; left out: whoever writes chunks brings them."`
}

// SourceTitle and SourceContent are the parts of a chunk that a VectorField may
// embed alone.
const (
	SourceTitle   = "title"
	SourceContent = "content"
)

// MaxVectorFields is the largest number of vector fields besides FieldVector.
const MaxVectorFields = 4

// maxVectorName leaves room for the rest of PostgreSQL's index names, of at most 63 bytes.
const maxVectorName = 32

var vectorName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*_vector$`)

// CheckVectorFields refuses vector fields that no engine can store, naming the field.
func (kb *KnowledgeBase) CheckVectorFields() error {
	if err := kb.checkBoosts(); err != nil {
		return err
	}
	given := fmt.Sprintf("a list of %d", len(kb.VectorFields))
	switch {
	case len(kb.VectorFields) == 0:
		return nil
	case kb.Kind != KindChunks:
		return fault.Invalid("vector_fields", given, "left out: kind qa has question_vector and answer_vector")
	case kb.Attach != nil:
		return fault.Invalid("vector_fields", given, "left out with attach: one vector field of the index is searched")
	case kb.Dimensions == 0:
		return fault.Invalid("vector_fields", given, "left out: the knowledge base has no vectors (its dimensions are 0)")
	case len(kb.VectorFields) > MaxVectorFields:
		return fault.Invalid("vector_fields", given, fmt.Sprintf("at most %d vector fields beside vector", MaxVectorFields))
	}
	for i := range kb.VectorFields {
		if err := kb.checkVectorField(i); err != nil {
			return err
		}
	}
	return nil
}

func (kb *KnowledgeBase) checkVectorField(i int) error {
	v := kb.VectorFields[i]
	name, source := fmt.Sprintf("vector_fields[%d].name", i), fmt.Sprintf("vector_fields[%d].source", i)
	switch {
	case !vectorName.MatchString(v.Name) || len(v.Name) > maxVectorName:
		return fault.Invalid(name, v.Name, fmt.Sprintf(
			"at most %d bytes of lower-case words joined by _, the last of them vector, as title_vector", maxVectorName))
	case v.Name == FieldQuestionVector || v.Name == FieldAnswerVector:
		return fault.Invalid(name, v.Name, "another name: this one is a field of knowledge bases of kind qa")
	case slices.ContainsFunc(kb.VectorFields[:i], func(other VectorField) bool { return other.Name == v.Name }):
		return fault.Invalid(name, v.Name, "a name that no other vector field has")
	case v.Source != "" && v.Source != SourceTitle && v.Source != SourceContent:
		return fault.Invalid(source, v.Source, "title, content, or left out for vectors that are brought")
	}
	return nil
}

// Refit says how the vectors of a chunk are carried from one shape of a knowledge base to
// another, by field.
type Refit struct {
	Kept    []string // unchanged
	Made    []Field  // embedded again from their source
	Dropped []string // the other shape has no such field
	// Lost fields are in both shapes, but their vectors are of another model or dimension
	// and have no source to embed.
	Lost []string
}

// NewRefit compares two shapes of a knowledge base.
func NewRefit(from, to *KnowledgeBase) *Refit {
	r := &Refit{}
	before := map[string]Field{}
	for _, f := range from.vectorFields() {
		before[f.Name] = f
	}
	sameModel := from.EmbeddingModel == to.EmbeddingModel && from.Dimensions == to.Dimensions
	for _, f := range to.vectorFields() {
		old, there := before[f.Name]
		delete(before, f.Name)
		switch {
		case there && sameModel && (f.Source == "" || f.Source == old.Source):
			r.Kept = append(r.Kept, f.Name)
		case f.Source != "":
			r.Made = append(r.Made, f)
		case there:
			r.Lost = append(r.Lost, f.Name)
		}
	}
	for _, f := range from.vectorFields() {
		if _, gone := before[f.Name]; gone {
			r.Dropped = append(r.Dropped, f.Name)
		}
	}
	return r
}

// Same reports whether chunks fit the other shape as they are.
func (r *Refit) Same() bool { return len(r.Made)+len(r.Dropped)+len(r.Lost) == 0 }

// Keep returns a new map of the vectors that are kept.
func (r *Refit) Keep(vectors map[string][]float32) map[string][]float32 {
	kept := make(map[string][]float32, len(r.Kept)+len(r.Made))
	for _, name := range r.Kept {
		if v, ok := vectors[name]; ok {
			kept[name] = v
		}
	}
	return kept
}

func (kb *KnowledgeBase) vectorFields() []Field {
	return slices.DeleteFunc(kb.Fields(), func(f Field) bool { return f.Kind != scoring.Vector })
}
