package plan

import (
	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/fault"
)

// Rewrite asks a language model for further phrasings of the question.
type Rewrite struct {
	Phrasings          int    `json:"phrasings,omitempty" minimum:"0" maximum:"8" yaml:"phrasings" accept:"0 to 8" doc:"Wordings of the question in its own language."`
	TranslateTo        string `json:"translate_to,omitempty" yaml:"translate_to" accept:"an ISO 639-1 code such as en or zh" doc:"Language to translate it into."`
	HypotheticalAnswer bool   `json:"hypothetical_answer,omitempty" yaml:"hypothetical_answer" doc:"A text as it might stand in a document that answers it."`
}

// Texts is how many are wanted.
func (w *Rewrite) Texts() int {
	n := w.Phrasings
	if w.TranslateTo != "" {
		n++
	}
	if w.HypotheticalAnswer {
		n++
	}
	return n
}

func (w *Rewrite) validate() error {
	switch {
	case w == nil:
		return nil
	case w.Phrasings < 0 || w.Phrasings > MaxPhrasings:
		return fault.Invalid("rewrite.phrasings", w.Phrasings, "0 to 8")
	case w.TranslateTo != "" && language.Code(w.TranslateTo) == "":
		return fault.Invalid("rewrite.translate_to", w.TranslateTo, "an ISO 639-1 code such as en or zh, or left out")
	}
	return nil
}
