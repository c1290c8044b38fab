package typing

import (
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Limits on suggestions.
const (
	MaxSuggestBytes    = 256 // of the typed text
	MaxSuggestions     = 50
	defaultSuggestions = 8
)

// SuggestRequest asks for completions of the typed text.
type SuggestRequest struct {
	Query          string            `json:"query" doc:"What was typed so far; its last word counts as begun. At most 256 bytes."`
	KnowledgeBases []string          `json:"knowledge_bases" doc:"Ids of the knowledge bases, 1 to 64."`
	Engine         string            `json:"engine,omitempty" doc:"Engine to ask, when a knowledge base has several."`
	Limit          *int              `json:"limit,omitempty" minimum:"1" maximum:"50" doc:"Suggestions at most, 1 to 50; 8 when left out."`
	User           *string           `json:"user,omitempty" doc:"Only of chunks of this owner."`
	Filter         filter.Expression `json:"filter,omitempty" doc:"As of a search."`
}

// SuggestionKind is the source of a suggestion.
type SuggestionKind string

// The kinds of suggestion.
const (
	SuggestTitle    SuggestionKind = "title"
	SuggestQuestion SuggestionKind = "question"
	SuggestTerm     SuggestionKind = "term"
)

// Suggestion is a text that completes the typed one.
type Suggestion struct {
	Text          string         `json:"text" doc:"Replaces what was typed."`
	Kind          SuggestionKind `json:"kind" enum:"title,question,term" doc:"title: of a chunk. question: of a pair. term: what was typed with its last word completed."`
	KnowledgeBase string         `json:"knowledge_base" doc:"That has it, of several the one with most."`
	Count         int            `json:"count" doc:"term: chunks with the word, and with those typed before it. title, question: how many of the chunks that were looked at have it. Only chunks that the caller may see count."`
}

// Suggestions is the answer.
type Suggestions struct {
	Suggestions []Suggestion      `json:"suggestions"`
	Degraded    []answer.Degraded `json:"degraded"`
}

// stepSuggest is the name of this step in Degraded.
const stepSuggest = "suggest"

// Validate refuses invalid requests.
func (r *SuggestRequest) Validate() error {
	if len(r.Query) > MaxSuggestBytes {
		return fault.Invalid("query", r.Query, "at most 256 bytes")
	}
	if n := r.Limit; n != nil && (*n < 1 || *n > MaxSuggestions) {
		return fault.Invalid("limit", *n, "1 to 50")
	}
	return (&plan.Request{Query: r.Query, KnowledgeBases: r.KnowledgeBases, Engine: r.Engine, User: r.User}).Validate()
}
