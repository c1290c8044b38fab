// Package analysis says what a question asks for, and makes of that the engine-neutral
// text query: terms with weights, synonyms, phrases, and how many must match.
//
// It needs nothing but the tokens of the question. Package tokens makes them, on top of
// packages fold and segment; jieba has gojieba for it; highlight marks the terms in a
// text.
package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/textquery"
)

// Query is an analysed question: what it asks for, not yet weighted.
type Query struct {
	// Text is the question in plain words, without operators and exclusions:
	// what is embedded.
	Text string `json:"text"`
	// Tokens are those of the words asked for, in order, stop words included.
	Tokens []Token `json:"tokens"`
	// Terms are the distinct terms asked for, in order of first appearance.
	Terms []QueryTerm `json:"terms"`
	// Required are the quoted phrases: each must be in the chunk.
	Required []textquery.Phrase `json:"required,omitempty"`
	// Excluded are the words and phrases that must not be in the chunk.
	Excluded []textquery.Phrase `json:"excluded,omitempty"`
	// Compounds are the term sequences that mean more side by side.
	Compounds []Compound `json:"compounds,omitempty"`
}

// QueryTerm is a distinct term; Start and End are those of its first token.
type QueryTerm struct {
	Text  string `json:"text"`
	Count int    `json:"count"` // how often the question says it
	Start int    `json:"start"`
	End   int    `json:"end"`
	Stop  bool   `json:"stop,omitempty"` // kept because there is nothing else
	Part  bool   `json:"part,omitempty"` // of a longer word that is a term as well
}

// CompoundKind says why terms belong together.
type CompoundKind string

// The kinds of compound.
const (
	Parts    CompoundKind = "parts"    // of one word that the dictionary splits further
	Joined   CompoundKind = "joined"   // words written together: node.js, e-mail
	Adjacent CompoundKind = "adjacent" // neighbours, over at most two stop words
)

// Compound is a sequence of terms that becomes a phrase of the text query.
type Compound struct {
	Terms []string     `json:"terms"`
	Kind  CompoundKind `json:"kind"`
}

// Sequence is the texts of the tokens: what an Expander is asked with.
func (q Query) Sequence() []string { return texts(q.Tokens) }

// Parse analyses a question: plain words; "…" (also “…”, 「…」, 『…』) is a
// required phrase whose words are asked for as well; -word and -"a b" exclude.
// Every other operator is plain text. A question without letters and digits
// has no terms, nor has one of exclusions only. tokenize gives all tokens of a text, in a
// slice that is not used again.
func Parse(query string, tokenize func(text string) []Token) Query {
	return parse(query, clauses(query), tokenize)
}

// ParsePlain analyses a question without operators: quotes and dashes are
// plain text, as in a sentence that nobody wrote for a search box.
func ParsePlain(query string, tokenize func(text string) []Token) Query {
	return parse(query, []clause{{end: len(query)}}, tokenize)
}

func parse(query string, all []clause, tokenize func(text string) []Token) Query {
	p := parser{tokenize: tokenize, source: query}
	for _, c := range all {
		p.add(c)
	}
	p.query.Text = onOneLine(askedFor(query, all))
	p.query.Terms = distinct(p.query.Tokens)
	p.query.Compounds = compounds(p.query.Tokens, query)
	return p.query
}

// askedFor is the text of a question without its operators and exclusions.
func askedFor(query string, all []clause) string {
	if len(all) == 1 && !all[0].excluded {
		return query[all[0].start:all[0].end]
	}
	var text strings.Builder
	for _, c := range all {
		if c.excluded {
			text.WriteByte(' ')
		} else {
			text.WriteString(query[c.start:c.end])
		}
	}
	return text.String()
}

// onOneLine is a text with single spaces between its words, as most come.
func onOneLine(text string) string {
	before := ' '
	for _, r := range text {
		if r == utf8.RuneError || unicode.IsSpace(r) && (r != ' ' || before == ' ') {
			before = ' '
			break
		}
		before = r
	}
	if before != ' ' {
		return text
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " ")
}

type parser struct {
	tokenize     func(text string) []Token
	source       string
	query        Query
	bytes, runes int // in front of the clause before
}

func (p *parser) add(c clause) {
	tokens := p.tokens(c)
	if len(tokens) == 0 {
		return
	}
	if c.excluded {
		p.query.Excluded = include(p.query.Excluded, exact(tokens))
		return
	}
	if c.quoted {
		p.query.Required = include(p.query.Required, exact(tokens))
	}
	for i := range tokens {
		tokens[i].Position += len(p.query.Tokens)
	}
	if p.query.Tokens == nil {
		p.query.Tokens = tokens
	} else {
		p.query.Tokens = append(p.query.Tokens, tokens...)
	}
}

// tokens gives those of a clause by their places in the question.
func (p *parser) tokens(c clause) []Token {
	tokens := p.tokenize(p.source[c.start:c.end])
	p.runes += utf8.RuneCountInString(p.source[p.bytes:c.start])
	p.bytes = c.start
	for i := range tokens {
		t := &tokens[i]
		t.Start, t.End = t.Start+c.start, t.End+c.start
		t.RuneStart, t.RuneEnd = t.RuneStart+p.runes, t.RuneEnd+p.runes
	}
	return tokens
}

// include adds a phrase that is not there yet. Look-alikes are sought among the
// last ones only, so that a hostile query costs no more than its length.
func include(all []textquery.Phrase, p textquery.Phrase) []textquery.Phrase {
	const window = 32
	for _, q := range all[max(0, len(all)-window):] {
		if slices.Equal(q.Terms, p.Terms) {
			return all
		}
	}
	return append(all, p)
}

// exact is the phrase of these tokens and nothing between them. One word with
// its parts is the word alone: it is found whatever stands around it.
func exact(tokens []Token) textquery.Phrase {
	if whole, ok := SingleWord(tokens); ok {
		return textquery.Phrase{Terms: []string{whole}, Weight: 1}
	}
	phrase := textquery.Phrase{Weight: 1}
	for _, t := range tokens {
		phrase.Terms = append(phrase.Terms, t.Text)
	}
	return phrase
}

// distinct counts the terms. Stop words count only when there is nothing else.
func distinct(tokens []Token) []QueryTerm {
	onlyStops := true
	for _, t := range tokens {
		onlyStops = onlyStops && t.Stop
	}
	if len(tokens) == 0 {
		return nil
	}
	list := termList{terms: make([]QueryTerm, 0, len(tokens))}
	for i := range tokens {
		t := &tokens[i]
		if t.Stop && !onlyStops {
			continue
		}
		at := list.find(t.Text)
		if at < 0 {
			at = list.add(QueryTerm{Text: t.Text, Start: t.Start, End: t.End, Stop: t.Stop})
		}
		term := &list.terms[at]
		term.Count++
		term.Part = term.Part || t.Part
	}
	return list.terms
}

// few is up to how many texts are compared one by one: a map takes longer.
const few = 32

// termList finds distinct terms by their texts.
type termList struct {
	terms []QueryTerm
	at    map[string]int // text → place, of more than a few
}

// find is the place of a term, -1 where there is none.
func (l *termList) find(text string) int {
	if len(l.terms) <= few {
		for i := range l.terms {
			if l.terms[i].Text == text {
				return i
			}
		}
		return -1
	}
	if l.at == nil {
		l.at = make(map[string]int, cap(l.terms))
		for i := range l.terms {
			l.at[l.terms[i].Text] = i
		}
	}
	if i, known := l.at[text]; known {
		return i
	}
	return -1
}

// add appends a term that is not there yet, and gives its place.
func (l *termList) add(t QueryTerm) int {
	at := len(l.terms)
	if l.at != nil {
		l.at[t.Text] = at
	}
	l.terms = append(l.terms, t)
	return at
}
