package answer

import (
	"errors"

	"github.com/hybridge-search/hybridge/fault"
)

// Degraded is a leg that failed, and why; or another step that failed for a
// knowledge base, under the step's name.
type Degraded struct {
	Leg           string `json:"leg"`
	KnowledgeBase string `json:"knowledge_base,omitempty"`
	// Code is the error code of the reason, stable.
	Code   fault.Kind `json:"code"`
	Reason string     `json:"reason" locale:"text"`
}

// Steps beside the legs that can fail without failing the answer.
const (
	StepCatalog = "catalog" // the knowledge base is unavailable
	StepContent = "content" // its chunks cannot be read: its hits are missing
	StepFacets  = "facets"  // the counts of FacetDisjunctive
	StepRerank  = "rerank"
	StepRewrite = "rewrite" // the question is searched without phrasings
	StepRules   = "rules"   // the pinned chunks cannot be read
	// The order follows the scores.
	StepDiversity = "diversity"
	// The sentences nearest to the question, of all or of some hits: see Highlight.Nearest.
	StepHighlight = "highlight"
	// The relevance of the hits is unknown, at present or although a threshold asks for it.
	StepRelevance = "relevance"
)

// NewDegraded describes a part that failed with an error.
func NewDegraded(leg, kb string, err error) Degraded {
	return Degraded{Leg: leg, KnowledgeBase: kb, Code: fault.KindOf(err), Reason: Reason(err)}
}

// Reason is the text of an error for callers: its detail, never its cause.
func Reason(err error) string {
	var e *fault.Error
	if errors.As(err, &e) {
		return e.Detail
	}
	return "internal error"
}
