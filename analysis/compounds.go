package analysis

import (
	"slices"
	"strings"
)

// farthest is how many stop words may stand between neighbours.
const farthest = 2

// compounds finds the parts of split words, the words that are written
// together (node.js, e-mail), and the neighbours: the last token of a word and
// the first of the next, which stand side by side in a chunk's tokens too.
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
			if before != nil && stops <= farthest {
				c.add(neighbours(source, before.End, tokens[first].Start), before.Text, tokens[first].Text)
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

// neighbours is the kind of compound of a word that ends, and the next that starts.
func neighbours(source string, end, start int) CompoundKind {
	if written(source, end, start) {
		return Joined
	}
	return Adjacent
}

// compoundList holds distinct compounds, and their terms in one piece.
type compoundList struct {
	found []Compound
	terms []string
	seen  map[string]bool // of many
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
	if len(c.found) <= few {
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

// written reports whether two words have only connecting signs between them.
func written(source string, end, start int) bool {
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
