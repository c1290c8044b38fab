package answer

import (
	"errors"

	"github.com/hybridge-search/hybridge/fault"
)

// Degraded is a leg that took no part, and why; or another step that failed for a
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
	StepCatalog = "catalog" // the knowledge base cannot be found at present
	StepContent = "content" // its chunks cannot be read: its hits are missing
	StepFacets  = "facets"  // the counts of FacetDisjunctive
	StepRerank  = "rerank"
	StepRewrite = "rewrite" // the question is asked as it was
	StepRules   = "rules"   // what they pin cannot be read
	// The order follows the scores.
	StepDiversity = "diversity"
	// The sentences nearest to the question, of all or of some hits: see Highlight.Nearest.
	StepHighlight = "highlight"
	// How relevant the hits are is not known, at present or although a threshold asks.
	StepRelevance = "relevance"
)

// NewDegraded says what took no part because of an error.
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
