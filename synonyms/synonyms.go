// Package synonyms expands words by weighted synonyms in Solr's format. There is one set
// for all knowledge bases and one for each; they are reloaded when their files change.
//
//	# comment
//	car, automobile, auto^0.5       each is a synonym of the others
//	ml => machine learning, ai^0.7  the left has the right as synonyms
//
// A weight in (0, 1] applies to the synonym before it; a backslash makes the next sign
// literal. Words are compared as analysed tokens, so Cars, ｃａｒ and car are the same. The
// word itself is always searched too. Synonyms of synonyms are not followed, so there are
// no loops.
package synonyms

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/analysis"
)

// Limits on what the synonyms of one question may take. What is over them is left out and
// counted; questions and rules of any use stay far below.
const (
	MaxTargets    = 64      // synonyms of a source by one rule, the heaviest
	MaxExpansions = 2_048   // synonyms of a question by one set
	maxWords      = 8 << 10 // of these, as a synonym may be a phrase of any length
	maxSteps      = 1 << 20 // words compared to find sources
	maxLabel      = 200     // bytes of a rule's text that its synonyms repeat
)

// Tokenizer is the part of tokens.Analyzer that synonyms need.
type Tokenizer interface {
	Tokens(text string) []analysis.Token
}

// Set is a compiled synonym file. It implements analysis.Expander and never changes. A nil
// Set has no synonyms.
type Set struct {
	bySource map[string][]source // by the source's terms, joined
	lengths  map[string][]int    // of the sources that begin with a term, in terms
	rules    int
	sources  int
	sum      [sha256.Size]byte // of the file
}

// source is the left side of a rule, one of its entries.
type source struct {
	order int // among all sources
	terms []string
	rule  *compiledRule
}

// compiledRule is the right side of a rule.
type compiledRule struct {
	label   string // file:line: text, clipped
	targets []target
	dropped int // wide rules lose their lightest targets
}

type target struct {
	terms  []string
	weight float64
	tokens []string // with the parts of a word, to compare with a source
}

// Parse reads and compiles a synonym file. Errors and the rules of expansions contain the
// name. A bad line, or an entry without tokens, is an InvalidArgument with the number of
// the line.
func Parse(name string, r io.Reader, t Tokenizer) (*Set, error) {
	read := sha256.New()
	s := newSet()
	err := eachRule(name, io.TeeReader(r, read), func(rl rule, bad *lineError) error {
		if bad == nil {
			bad = s.add(name, rl, t)
		}
		if bad != nil {
			return bad.in(name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.sum = [sha256.Size]byte(read.Sum(nil))
	return s, nil
}

func newSet() *Set { return &Set{bySource: map[string][]source{}, lengths: map[string][]int{}} }

// add adds a rule, or returns why it cannot be used.
func (s *Set) add(name string, rl rule, t Tokenizer) *lineError {
	c := &compiledRule{label: fmt.Sprintf("%s:%d: %s", name, rl.line, clip(rl.text))}
	without := func(e entry) *lineError {
		return &lineError{number: rl.line, text: rl.text, reason: fmt.Sprintf("has %q, of which no token is left", e.text)}
	}
	for _, e := range rl.targets {
		tokens := t.Tokens(e.text)
		all := terms(tokens)
		if len(all) == 0 {
			return without(e)
		}
		tg := target{terms: all, weight: e.weight, tokens: all}
		if whole, ok := analysis.SingleWord(tokens); ok {
			tg.terms = []string{whole}
		}
		c.targets = append(c.targets, tg)
	}
	for _, e := range rl.sources {
		all := terms(t.Tokens(e.text))
		if len(all) == 0 {
			return without(e)
		}
		s.addSource(source{order: s.sources, terms: all, rule: c})
	}
	c.bound()
	s.rules++
	return nil
}

func (s *Set) addSource(src source) {
	s.sources++
	key, first, n := strings.Join(src.terms, separator), src.terms[0], len(src.terms)
	s.bySource[key] = append(s.bySource[key], src)
	if at, known := slices.BinarySearch(s.lengths[first], n); !known {
		s.lengths[first] = slices.Insert(s.lengths[first], at, n)
	}
}

// separator is between the terms of a joined source; no token has it.
const separator = "\x00"

// clip shortens the text of a rule, which every synonym that it makes repeats.
func clip(text string) string {
	if len(text) <= maxLabel {
		return text
	}
	return strings.ToValidUTF8(text[:maxLabel], "") + "…"
}

// bound keeps the heaviest targets of a wide rule; one more than a source may have, as
// a source may be a target itself.
func (c *compiledRule) bound() {
	if len(c.targets) <= MaxTargets+1 {
		return
	}
	slices.SortStableFunc(c.targets, func(a, b target) int { return cmp.Compare(b.weight, a.weight) })
	c.dropped = len(c.targets) - MaxTargets - 1
	c.targets = slices.Clone(c.targets[:MaxTargets+1])
}

func terms(tokens []analysis.Token) []string {
	all := make([]string, len(tokens))
	for i, t := range tokens {
		all[i] = t.Text
	}
	return all
}

// Len is the number of rules.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return s.rules
}

// Expand implements analysis.Expander. It returns each synonym of every source among the
// terms, in order; a source that the terms repeat is expanded once.
func (s *Set) Expand(terms []string) analysis.Expansions {
	if s == nil {
		return analysis.Expansions{}
	}
	e := expansion{set: s, terms: terms, joined: strings.Join(terms, separator), seen: map[string]bool{}}
	for i := range terms {
		e.at(i)
		e.start += len(terms[i]) + len(separator)
	}
	return e.out
}

// expansion collects the synonyms for a question.
type expansion struct {
	set    *Set
	terms  []string
	joined string          // the terms, so that a source is a part of it
	start  int             // of the current term in joined
	seen   map[string]bool // sources that were expanded
	steps  int
	words  int
	out    analysis.Expansions
}

// at expands the sources that begin with a term.
func (e *expansion) at(i int) {
	lengths := e.set.lengths[e.terms[i]]
	if len(lengths) == 0 {
		return
	}
	var found []source
	end, length := e.start, 0
	for _, n := range lengths {
		if i+n > len(e.terms) {
			break
		}
		for ; length < n; length++ {
			end += len(e.terms[i+length]) + len(separator)
		}
		if e.steps += n; e.steps > maxSteps {
			e.out.Cut++
			break
		}
		key := e.joined[e.start : end-len(separator)]
		sources := e.set.bySource[key]
		if len(sources) == 0 || e.seen[key] {
			continue
		}
		e.seen[key] = true
		found = append(found, sources...)
	}
	slices.SortFunc(found, func(a, b source) int { return cmp.Compare(a.order, b.order) })
	for k := range found {
		e.add(i, &found[k])
	}
}

// add adds the synonyms of a source.
func (e *expansion) add(start int, src *source) {
	e.out.Cut += src.rule.dropped
	added := 0
	for _, t := range src.rule.targets {
		if slices.Equal(t.tokens, src.terms) {
			continue // the word itself
		}
		if added == MaxTargets || len(e.out.All) == MaxExpansions || e.words+len(t.terms) > maxWords {
			e.out.Cut++
			continue
		}
		added++
		e.words += len(t.terms)
		e.out.All = append(e.out.All, analysis.Expansion{
			Start: start, End: start + len(src.terms),
			Terms: t.terms, Weight: t.weight, Rule: src.rule.label,
		})
	}
}
