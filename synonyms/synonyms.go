// Package synonyms expands words by weighted synonyms in Solr's format. There is one set
// for all knowledge bases and one for each; they are reloaded when their files change.
//
//	# comment
//	car, automobile, auto^0.5       each is a synonym of the others
//	ml => machine learning, ai^0.7  the left has the right as synonyms
//
// A weight in (0, 1] is that of the synonym before it; a backslash makes the next sign
// literal. Words are compared as analysed tokens, so Cars, ｃａｒ and car are the same. The
// word itself is always searched too. Synonyms of synonyms are not followed, so there are
// no loops.
package synonyms

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"github.com/hybridge-search/hybridge/analysis"
)

// Tokenizer is what synonyms need of tokens.Analyzer.
type Tokenizer interface {
	Tokens(text string) []analysis.Token
}

// Set is a compiled synonym file. It implements analysis.Expander and never changes. A nil
// Set has no synonyms.
type Set struct {
	byFirst map[string][]source // by the source's first term
	rules   int
	sum     [sha256.Size]byte // of the file
}

// source is a sequence of terms and its rule.
type source struct {
	terms []string
	rule  *compiledRule
}

// compiledRule is the right side of a rule.
type compiledRule struct {
	label   string // file:line: text
	targets []target
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
	rules, err := parse(name, io.TeeReader(r, read))
	if err != nil {
		return nil, err
	}
	s := &Set{byFirst: map[string][]source{}, rules: len(rules), sum: [sha256.Size]byte(read.Sum(nil))}
	for _, rl := range rules {
		if err := s.add(name, rl, t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Set) add(name string, rl rule, t Tokenizer) error {
	c := &compiledRule{label: fmt.Sprintf("%s:%d: %s", name, rl.line, rl.text)}
	for _, e := range rl.targets {
		tokens := t.Tokens(e.text)
		all := terms(tokens)
		if len(all) == 0 {
			return badLine(name, rl.line, rl.text, fmt.Sprintf("has %q, of which no token is left", e.text))
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
			return badLine(name, rl.line, rl.text, fmt.Sprintf("has %q, of which no token is left", e.text))
		}
		s.byFirst[all[0]] = append(s.byFirst[all[0]], source{terms: all, rule: c})
	}
	return nil
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
// terms, in order.
func (s *Set) Expand(terms []string) []analysis.Expansion {
	if s == nil {
		return nil
	}
	var found []analysis.Expansion
	for i, first := range terms {
		for _, src := range s.byFirst[first] {
			end := i + len(src.terms)
			if end > len(terms) || !slices.Equal(src.terms, terms[i:end]) {
				continue
			}
			found = src.rule.expand(found, i, src)
		}
	}
	return found
}

func (c *compiledRule) expand(found []analysis.Expansion, start int, src source) []analysis.Expansion {
	for _, t := range c.targets {
		if slices.Equal(t.tokens, src.terms) {
			continue // the word itself
		}
		found = append(found, analysis.Expansion{
			Start: start, End: start + len(src.terms),
			Terms: t.terms, Weight: t.weight, Rule: c.label,
		})
	}
	return found
}
