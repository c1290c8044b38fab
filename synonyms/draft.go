package synonyms

import (
	"errors"
	"strings"

	"github.com/hybridge-search/hybridge/analysis"
)

// MaxProblems is how many bad lines of a text Check names.
const MaxProblems = 100

// Problem is a line of a text that cannot be used.
type Problem struct {
	Line   int    `json:"line" minimum:"1" doc:"From 1."`
	Detail string `json:"detail" locale:"text" doc:"What is wrong with it, as the end of a sentence that begins with the line."`
}

// errEnough ends the reading of a text that has more problems than are named.
var errEnough = errors.New("enough problems")

// Check finds what Save would refuse of a text: every bad line, of which the first MaxProblems are named, and how many
// rules there are among the lines that were read.
func (s *Store) Check(text string) (rules int, problems []Problem, err error) {
	set := newSet()
	problems = []Problem{}
	err = eachRule("draft", strings.NewReader(text), func(rl rule, bad *lineError) error {
		if bad == nil {
			bad = set.add("draft", rl, s.tokenizer)
		}
		if bad != nil {
			problems = append(problems, Problem{Line: bad.number, Detail: bad.reason})
		}
		if len(problems) == MaxProblems {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return set.rules, problems, err
}

// Draft is a text of a tenant's set that is not saved. It never changes.
type Draft struct {
	store        *Store
	tenant, name string
	set          *Set
}

// Draft compiles a text of a set without saving it. A bad line is an InvalidArgument.
func (s *Store) Draft(tenant, name, text string) (*Draft, error) {
	set, err := Parse("draft", strings.NewReader(text), s.tokenizer)
	if err != nil {
		return nil, err
	}
	return &Draft{store: s, tenant: tenant, name: name, set: set}, nil
}

// For returns what Store.For would if the text had been saved.
func (d *Draft) For(tenant, knowledgeBase string) analysis.Expander {
	inUse := func(name string) *Set {
		if tenant == d.tenant && name == d.name {
			return d.set
		}
		return d.store.InUse(tenant, name)
	}
	return both{own: inUse(knowledgeBase), global: inUse(Global)}.expander()
}
