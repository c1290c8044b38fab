// Package rules says which results people want for certain questions: chunks and documents that
// are pinned before all others, or hidden. A set belongs to a knowledge base and is compiled
// once; matching a question walks its words, not the rules.
//
//	rules.go   rules, in their JSON form
//	check.go   limits and validity of a set
//	match.go   which rules match a question
package rules

import (
	"encoding/json"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/fault"
)

// Limits of a set, and of its effects on a question.
const (
	MaxRules      = 1_000
	MaxQueries    = 50    // of a rule
	MaxQueryBytes = 1_000 // of one of them
	MaxPins       = 10    // of a rule
	MaxHides      = 100   // of a rule
	MaxNameBytes  = 256   // of a rule's name, and of an id
	MaxNoteBytes  = 1_000
	MaxMatched    = 100     // rules that apply to a question, the first ones
	maxSteps      = 1 << 20 // words compared
)

// Match is how the words of a question are compared with those of a rule.
type Match string

// The ways to match.
const (
	Exact    Match = "exact"    // the question has these words and no others
	Contains Match = "contains" // these words stand in the question, one after the other
	Expanded Match = "expanded" // as contains; a synonym of a word counts as the word
)

// Rule pins and hides results for some questions.
type Rule struct {
	Name    string   `json:"name" doc:"Of its own within the set; hits and explanations show it. At most 256 bytes."`
	Enabled *bool    `json:"enabled,omitempty" doc:"false keeps the rule without using it; the default is true."`
	When    When     `json:"when"`
	Pin     []Target `json:"pin,omitempty" doc:"What comes first, in this order; at most 10."`
	Hide    []Target `json:"hide,omitempty" doc:"What is left out, pinned or not; at most 100."`
	Note    string   `json:"note,omitempty" doc:"For people; at most 1000 bytes."`
}

// When says for which questions.
type When struct {
	Match   Match    `json:"match" enum:"exact,contains,expanded" doc:"exact: the question has these words and no others. contains: they stand in it, one after the other. expanded: as contains, and a synonym of a word counts as the word. Words are compared as searches compare them: stemmed, without regard to case, width, punctuation and traditional characters."`
	Queries []string `json:"queries" doc:"1 to 50 phrases, one of which must match, each of at most 1000 bytes."`
}

// Target is a chunk, or a document: pinned it shows its best chunk, hidden it has none.
type Target struct {
	ChunkID    string `json:"chunk_id,omitempty"`
	DocumentID string `json:"document_id,omitempty"`
}

// enabled reports whether the rule is used.
func (r *Rule) enabled() bool {
	return r.Enabled == nil || *r.Enabled
}

// Analyzer makes the words of a phrase; it must be the one that searches have.
type Analyzer interface {
	ParsePlain(query string) analysis.Query
}

// Set is a compiled set of rules. It never changes; a nil Set has none.
type Set struct {
	rules    []Rule
	exact    map[string][]int // rules by the words of a phrase, joined
	contains node
	expanded node
}

// Len is the number of rules.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.rules)
}

// Text is how a set is stored; Parse reads it.
func Text(all []Rule) (string, error) {
	if all == nil {
		all = []Rule{}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "writing the rules")
	}
	return string(text), nil
}

// Read reads a stored set without compiling it; an empty text is an empty set.
func Read(text string) ([]Rule, error) {
	all := []Rule{}
	if text == "" {
		return all, nil
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "reading the rules")
	}
	return all, nil
}

// Parse compiles a stored set. What is wrong with a rule is an InvalidArgument that names its
// place, as rules[3].pin[0].
func Parse(text string, a Analyzer) (*Set, error) {
	all, err := Read(text)
	if err != nil {
		return nil, err
	}
	if err := check(all); err != nil {
		return nil, err
	}
	s := &Set{rules: all, exact: map[string][]int{}}
	for i := range all {
		if err := s.add(i, a); err != nil {
			return nil, err
		}
	}
	return s, nil
}
