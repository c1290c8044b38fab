package analysis

import (
	"slices"
	"strings"
)

// maxStopsBetween is the largest number of stop words between neighbours.
const maxStopsBetween = 2

// compounds finds the parts of split words, words written together (node.js,
// e-mail), and neighbours: the last token of a word with the first of the next,
// which are side by side in the tokens of a chunk too.
func compounds(tokens []Token, source string) []Compound {
	if len(tokens) < 2 {
		return nil
	}
	c := compoundList{terms: make([]string, 0, 2*len(tokens)), found: make([]Compound, 0, len(tokens))}
	var before *Token // the last word that is no stop word
	first, stops := 0, 0
	for i := range tokens {
		word := &tokens[i] // its parts come before it
		if word.Part {
			continue
		}
		if i-first > 1 {
			c.add(Parts, texts(tokens[first:i])...)
		}
		if word.Stop {
			stops++
		} else {
			if before != nil && stops <= maxStopsBetween {
				c.add(neighbourKind(source, before.End, tokens[first].Start), before.Text, tokens[first].Text)
			}
			before, stops = word, 0
		}
		first = i + 1
	}
	if len(c.found) == 0 {
		return nil
	}
	return c.found
}

// neighbourKind is the kind of compound that a word ending at end forms with the
// next, which starts at start.
func neighbourKind(source string, end, start int) CompoundKind {
	if writtenTogether(source, end, start) {
		return Joined
	}
	return Adjacent
}

// compoundList holds distinct compounds; their terms share one slice.
type compoundList struct {
	found []Compound
	terms []string
	seen  map[string]bool // by joined terms; nil while there are few
}

func (c *compoundList) add(kind CompoundKind, terms ...string) {
	if repeats(terms) || c.has(terms) {
		return
	}
	before := len(c.terms)
	c.terms = append(c.terms, terms...)
	c.found = append(c.found, Compound{Terms: slices.Clip(c.terms[before:]), Kind: kind})
}

func (c *compoundList) has(terms []string) bool {
	if len(c.found) <= linearLimit {
		return slices.ContainsFunc(c.found, func(of Compound) bool { return slices.Equal(of.Terms, terms) })
	}
	if c.seen == nil {
		c.seen = make(map[string]bool, cap(c.found))
		for _, of := range c.found {
			c.seen[strings.Join(of.Terms, " ")] = true
		}
	}
	key := strings.Join(terms, " ")
	known := c.seen[key]
	c.seen[key] = true
	return known
}

// writtenTogether reports whether just one connecting sign is between two words.
func writtenTogether(source string, end, start int) bool {
	if end >= start || start-end > 1 {
		return false
	}
	return strings.ContainsAny(source[end:start], "-._/@:'")
}

func texts(tokens []Token) []string {
	terms := make([]string, len(tokens))
	for i, t := range tokens {
		terms[i] = t.Text
	}
	return terms
}

// repeats reports whether a term occurs twice.
func repeats(terms []string) bool {
	for i, t := range terms {
		for _, u := range terms[:i] {
			if t == u {
				return true
			}
		}
	}
	return false
}
