package engine

import (
	"maps"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// The parts of a passage that a knowledge base may index separately, so that they can weigh more than the
// rest of its text.
const (
	PartTitle     = SourceTitle
	PartContent   = SourceContent
	PartKeywords  = "important_keywords"
	PartQuestions = "questions"
)

// Parts lists them.
func Parts() []string { return []string{PartTitle, PartContent, PartKeywords, PartQuestions} }

// Boost weights a part of the text in a text leg: it counts By times as much as the rest.
type Boost struct {
	Part string
	By   float64 // at least 2
}

const (
	leastBoost = 2 // except 1: Elasticsearch's combined_fields adds By - 1, which must be at least 1
	mostBoost  = 100
)

// CheckBoosts refuses boosts that no engine supports, naming the field.
func CheckBoosts(field string, boosts map[string]float64) error {
	for _, part := range slices.Sorted(maps.Keys(boosts)) {
		by := boosts[part]
		switch {
		case !slices.Contains(Parts(), part):
			return fault.Invalid(field, part, OneOf("a part of the text", Parts()))
		case math.IsNaN(by) || by != 1 && (by < leastBoost || by > mostBoost):
			return fault.Invalid(field+"."+part, by, "1, or a number from 2 to 100")
		}
	}
	return nil
}

// checkBoosts refuses boosts on a knowledge base that cannot have them.
func (kb *KnowledgeBase) checkBoosts() error {
	switch {
	case len(kb.Boosts) == 0:
		return nil
	case kb.Kind != KindChunks:
		return fault.Invalid("fields", len(kb.Boosts), "left out: they are for kind chunks")
	case kb.Attach != nil:
		return fault.Invalid("fields", len(kb.Boosts), "left out with attach: the index has the fields that it has")
	case kb.Shared:
		return fault.Invalid("fields", len(kb.Boosts), "left out with shared: the index is one for all")
	}
	return CheckBoosts("fields", kb.Boosts)
}

// Parts lists the parts that the knowledge base indexes separately.
func (kb *KnowledgeBase) Parts() []string {
	return slices.DeleteFunc(Parts(), func(part string) bool { _, has := kb.Boosts[part]; return !has })
}

// StoredFields returns Fields and the parts, which are text fields that no leg searches directly.
func (kb *KnowledgeBase) StoredFields() []Field {
	fields := kb.Fields()
	for _, part := range kb.Parts() {
		fields = append(fields, Field{Name: part, Kind: scoring.Text})
	}
	return fields
}

// StoredTexts lists the names of the stored text fields.
func (kb *KnowledgeBase) StoredTexts() []string {
	return append(kb.FieldsOf(scoring.Text), kb.Parts()...)
}

// CheckBoosts refuses boosts of a leg that the knowledge base has no index for.
func (l *Leg) CheckBoosts(kb *KnowledgeBase) error {
	for _, boost := range l.Boosts {
		if parts := kb.Parts(); l.Field != FieldText || !slices.Contains(parts, boost.Part) {
			return fault.Invalid(l.Name+".boosts", boost.Part, OneOf("a part that is indexed by itself", parts))
		}
	}
	return nil
}
