package plan

import (
	"cmp"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/fault"
)

// TextQuery changes how a question becomes a text query; nil leaves the preset's value.
type TextQuery struct {
	PhraseBoost *float64 `json:"phrase_boost,omitempty" minimum:"0" maximum:"100" yaml:"phrase_boost" accept:"0 to 100" doc:"What neighbouring words of the question count that are neighbours in a chunk too, times the heaviest of them; 0: nothing."`
	PhraseSlop  *int     `json:"phrase_slop,omitempty" minimum:"0" maximum:"20" yaml:"phrase_slop" accept:"0 to 20" doc:"By how many places neighbours may be apart."`
	PartWeight  *float64 `json:"part_weight,omitempty" exclusiveMinimum:"0" maximum:"1" yaml:"part_weight" accept:"more than 0, at most 1" doc:"What a word counts that the dictionary finds within a longer word of the question, beside that."`
}

// Over lays it over another, field by field.
func (t TextQuery) Over(base TextQuery) TextQuery {
	return TextQuery{
		PhraseBoost: cmp.Or(t.PhraseBoost, base.PhraseBoost),
		PhraseSlop:  cmp.Or(t.PhraseSlop, base.PhraseSlop),
		PartWeight:  cmp.Or(t.PartWeight, base.PartWeight),
	}
}

// Rules applies the changes to the rules of a preset.
func (t TextQuery) Rules(r analysis.Rules) analysis.Rules {
	if t.PhraseBoost != nil {
		r.Phrases, r.PhraseBoost = *t.PhraseBoost > 0, *t.PhraseBoost
	}
	if t.PhraseSlop != nil {
		r.PhraseSlop = *t.PhraseSlop
	}
	if t.PartWeight != nil {
		r.PartWeight = *t.PartWeight
	}
	return r
}

func (t *TextQuery) validate() error {
	if b := t.PhraseBoost; b != nil && !(*b >= 0 && *b <= 100) {
		return fault.Invalid("text_query.phrase_boost", *b, "0 to 100")
	}
	if s := t.PhraseSlop; s != nil && (*s < 0 || *s > 20) {
		return fault.Invalid("text_query.phrase_slop", *s, "0 to 20")
	}
	if w := t.PartWeight; w != nil && !(*w > 0 && *w <= 1) {
		return fault.Invalid("text_query.part_weight", *w, "more than 0, at most 1")
	}
	return nil
}
