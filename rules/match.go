package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/fault"
)

// node is a word within phrases, and the phrases that end there.
type node struct {
	next  map[string]*node
	rules []int
}

// separator is between the words of a joined phrase; no token has it.
const separator = "\x00"

// add compiles the phrases of a rule. One of which no word is left would match nothing, or
// everything: it is refused.
func (s *Set) add(rule int, a Analyzer) error {
	r := &s.rules[rule]
	for i, query := range r.When.Queries {
		parsed := a.ParsePlain(query)
		words := parsed.Sequence()
		if len(words) == 0 {
			return fault.Invalid(fmt.Sprintf("rules[%d].when.queries[%d]", rule, i), query, "a phrase with letters or digits")
		}
		if !r.enabled() {
			continue
		}
		switch r.When.Match {
		case Exact:
			key := strings.Join(words, separator)
			s.exact[key] = append(s.exact[key], rule)
		case Contains:
			s.contains.add(words, rule)
		case Expanded:
			s.expanded.add(words, rule)
		}
	}
	return nil
}

func (n *node) add(words []string, rule int) {
	for _, word := range words {
		if n.next == nil {
			n.next = map[string]*node{}
		}
		if n.next[word] == nil {
			n.next[word] = &node{}
		}
		n = n.next[word]
	}
	n.rules = append(n.rules, rule)
}

// Match gives the enabled rules that a question of these words matches, in the order of the
// set, at most MaxMatched. synonyms are the knowledge base's synonyms and may be nil.
func (s *Set) Match(words []string, synonyms analysis.Expander) []*Rule {
	if s == nil || len(words) == 0 {
		return nil
	}
	p := pathOf(words)
	p.found = make([]bool, len(s.rules))
	p.find(s.exact[strings.Join(words, separator)])
	p.phrases(&s.contains)
	if s.expanded.next != nil {
		if synonyms != nil {
			p.addSynonyms(synonyms.Expand(words))
		}
		p.phrases(&s.expanded)
	}
	var matched []*Rule
	for rule, found := range p.found {
		if found && len(matched) < MaxMatched {
			matched = append(matched, &s.rules[rule])
		}
	}
	return matched
}

// path is a question as a sequence of places: its words, and beside them their synonyms,
// whose words have places of their own between those of the question.
type path struct {
	places [][]step
	steps  int
	found  []bool // by rule
}

type step struct {
	word string
	to   int
}

func pathOf(words []string) *path {
	p := &path{places: make([][]step, len(words)+1)}
	for i, word := range words {
		p.places[i] = []step{{word, i + 1}}
	}
	return p
}

func (p *path) addSynonyms(synonyms analysis.Expansions) {
	for _, e := range synonyms.All {
		at := e.Start
		for i, word := range e.Terms {
			to := e.End
			if i < len(e.Terms)-1 {
				to = len(p.places)
				p.places = append(p.places, nil)
			}
			if next := (step{word, to}); !slices.Contains(p.places[at], next) {
				p.places[at] = append(p.places[at], next)
			}
			at = to
		}
	}
}

// phrases finds the rules of the phrases that stand anywhere on the path.
func (p *path) phrases(of *node) {
	p.steps = 0
	for at := range p.places {
		p.from(at, of)
	}
}

// from follows phrases from a place on, until a hostile question has cost enough: any of use
// is far from that.
func (p *path) from(at int, n *node) {
	p.find(n.rules)
	if len(n.next) == 0 {
		return
	}
	for _, s := range p.places[at] {
		if p.steps++; p.steps > maxSteps {
			return
		}
		if next := n.next[s.word]; next != nil {
			p.from(s.to, next)
		}
	}
}

func (p *path) find(rules []int) {
	p.steps += len(rules)
	for _, rule := range rules {
		p.found[rule] = true
	}
}
