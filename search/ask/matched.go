package ask

import (
	"github.com/hybridge-search/hybridge/rules"
)

// MatchedRules are the effects of a knowledge base's rules that match the question.
type MatchedRules struct {
	All       []*rules.Rule
	Pins      []Pin
	Chunks    map[string]string // hidden: the first rule that hides it
	Documents map[string]string
}

// maxPins bounds the pins of a knowledge base for one question: each that no leg found
// may cost its engine a request.
const maxPins = 100

// Pin is a chunk or a document, and the rule that pins it.
type Pin struct {
	rules.Target
	Rule  string
	Shown string // id of the chunk that is shown; empty: none is
}

// Match finds the query rules that a question matches. Without any rules the question is not even
// analyzed.
func (s Asker) Match(r *Asked) {
	if s.Rules == nil || r.Request.Rules != nil && !*r.Request.Rules {
		return
	}
	for i := range r.Subjects {
		kb := &r.Subjects[i].KB
		set := s.Rules.For(kb.Ref)
		if set.Len() == 0 {
			continue
		}
		matched := set.Match(r.Question.Parsed.Sequence(), s.Expander(kb))
		if len(matched) == 0 {
			continue
		}
		if r.Rules == nil {
			r.Rules = make([]*MatchedRules, len(r.Subjects))
		}
		r.Rules[i] = matchedRules(matched)
	}
}

func matchedRules(matched []*rules.Rule) *MatchedRules {
	r := &MatchedRules{All: matched, Chunks: map[string]string{}, Documents: map[string]string{}}
	pinned := map[rules.Target]bool{}
	for _, rule := range matched {
		for _, t := range rule.Pin {
			if !pinned[t] && len(r.Pins) < maxPins { // the first rule has it
				pinned[t] = true
				r.Pins = append(r.Pins, Pin{Target: t, Rule: rule.Name})
			}
		}
		for _, t := range rule.Hide {
			of, id := r.Chunks, t.ChunkID
			if id == "" {
				of, id = r.Documents, t.DocumentID
			}
			if of[id] == "" {
				of[id] = rule.Name
			}
		}
	}
	return r
}

// HiddenBy is the rule that hides a chunk of a knowledge base, empty if none does.
func (r *MatchedRules) HiddenBy(chunkID, documentID string) string {
	if r == nil {
		return ""
	}
	if rule := r.Chunks[chunkID]; rule != "" {
		return rule
	}
	return r.Documents[documentID]
}
