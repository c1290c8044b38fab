// Package analysis works out what a question asks for and turns that into the
// engine-neutral text query: terms with weights, synonyms, phrases, and how many terms
// must match.
//
// It needs only the tokens of the question. Package tokens makes them, on top of
// packages fold and segment; jieba wraps gojieba; highlight marks the terms in a text.
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
	// Text is the question without operators and exclusions: what is embedded.
	Text string `json:"text"`
	// Tokens lists the tokens of the words asked for, in order, stop words included.
	Tokens []Token `json:"tokens"`
	// Terms are the distinct terms asked for, in order of first appearance.
	Terms []QueryTerm `json:"terms"`
	// Required are the quoted phrases: each must be in the chunk.
	Required []textquery.Phrase `json:"required,omitempty"`
	// Excluded are the words and phrases that must not be in the chunk.
	Excluded []textquery.Phrase `json:"excluded,omitempty"`
	// Compounds are term sequences that mean more when they stand together.
	Compounds []Compound `json:"compounds,omitempty"`
}

// QueryTerm is a distinct term; Start and End are the offsets of its first token.
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

// Sequence returns the texts of the tokens, which Expander.Expand takes.
func (q Query) Sequence() []string { return texts(q.Tokens) }

// Parse analyses a question of plain words and two operators: "…" (also “…”, 「…」,
// 『…』) is a required phrase, whose words are searched for too; -word and -"a b"
// exclude. Any other operator is plain text. A question without letters or digits has
// no terms, nor has one of exclusions only. tokenize returns all tokens of a text in a
// slice that Parse may keep.
func Parse(query string, tokenize func(text string) []Token) Query {
	return parse(query, clauses(query), tokenize)
}

// ParsePlain analyses a question in which quotes and dashes are plain text, such as a
// sentence that was not written for a search box.
func ParsePlain(query string, tokenize func(text string) []Token) Query {
	return parse(query, []clause{{end: len(query)}}, tokenize)
}

func parse(query string, all []clause, tokenize func(text string) []Token) Query {
	p := parser{tokenize: tokenize, source: query}
	for _, c := range all {
		p.add(c)
	}
	p.query.Text = singleSpaced(withoutOperators(query, all))
	p.query.Terms = distinct(p.query.Tokens)
	p.query.Compounds = compounds(p.query.Tokens, query)
	return p.query
}

// withoutOperators is the text of a question without its operators and exclusions.
func withoutOperators(query string, all []clause) string {
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

// singleSpaced puts single spaces between the words of a text. Most texts have them
// already and are returned as they are.
func singleSpaced(text string) string {
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
	bytes, runes int // of the source before the latest clause
}

func (p *parser) add(c clause) {
	tokens := p.tokens(c)
	if len(tokens) == 0 {
		return
	}
	if c.excluded {
		p.query.Excluded = addPhrase(p.query.Excluded, exactPhrase(tokens))
		return
	}
	if c.quoted {
		p.query.Required = addPhrase(p.query.Required, exactPhrase(tokens))
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

// tokens returns the tokens of a clause, with offsets into the question.
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

// addPhrase adds a phrase unless it is there already. Only the last few are compared,
// so that a hostile query costs no more than its length.
func addPhrase(all []textquery.Phrase, p textquery.Phrase) []textquery.Phrase {
	const window = 32
	for _, q := range all[max(0, len(all)-window):] {
		if slices.Equal(q.Terms, p.Terms) {
			return all
		}
	}
	return append(all, p)
}

// exactPhrase is the phrase of these tokens with nothing between them. A single word
// and its parts become the word alone, which is found whatever stands around it.
func exactPhrase(tokens []Token) textquery.Phrase {
	if whole, ok := SingleWord(tokens); ok {
		return textquery.Phrase{Terms: []string{whole}, Weight: 1}
	}
	phrase := textquery.Phrase{Weight: 1}
	for _, t := range tokens {
		phrase.Terms = append(phrase.Terms, t.Text)
	}
	return phrase
}

// distinct counts the distinct terms. Stop words count only if there is nothing else.
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

// linearLimit is up to how many texts are compared one by one, which is faster than a
// map.
const linearLimit = 32

// termList finds distinct terms by their texts.
type termList struct {
	terms []QueryTerm
	at    map[string]int // text → index; nil up to linearLimit terms
}

// find returns the index of a term, or -1.
func (l *termList) find(text string) int {
	if len(l.terms) <= linearLimit {
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

// add appends a term that is not in the list and returns its index.
func (l *termList) add(t QueryTerm) int {
	at := len(l.terms)
	if l.at != nil {
		l.at[t.Text] = at
	}
	l.terms = append(l.terms, t)
	return at
}
