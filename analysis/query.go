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
// has no terms, nor has one of exclusions only.
func (a *Analyzer) Parse(query string) Query { return a.parse(query, clauses(query)) }

// ParsePlain analyses a question without operators: quotes and dashes are
// plain text, as in a sentence that nobody wrote for a search box.
func (a *Analyzer) ParsePlain(query string) Query {
	return a.parse(query, []clause{{end: len(query)}})
}

func (a *Analyzer) parse(query string, all []clause) Query {
	p := parser{analyzer: a, source: query, runes: runeCounter{text: query}}
	for _, c := range all {
		p.take(c)
	}
	p.query.Text = strings.Join(strings.Fields(strings.ToValidUTF8(p.text.String(), "\ufffd")), " ")
	p.query.Terms = distinct(p.query.Tokens)
	p.query.Compounds = compounds(p.query.Tokens, query)
	return p.query
}

type parser struct {
	analyzer *Analyzer
	source   string
	query    Query
	text     strings.Builder
	runes    runeCounter
}

func (p *parser) take(c clause) {
	words := p.source[c.start:c.end]
	tokens := p.analyzer.tokens(words, true)
	if c.excluded {
		if len(tokens) > 0 {
			p.query.Excluded = include(p.query.Excluded, exact(tokens))
		}
		p.text.WriteByte(' ')
		return
	}
	p.text.WriteString(words)
	if c.quoted && len(tokens) > 0 {
		p.query.Required = include(p.query.Required, exact(tokens))
	}
	runes := p.runes.at(c.start)
	p.query.Tokens = slices.Grow(p.query.Tokens, len(tokens))
	for _, t := range tokens {
		t.Start, t.End = t.Start+c.start, t.End+c.start
		t.RuneStart, t.RuneEnd = t.RuneStart+runes, t.RuneEnd+runes
		t.Position = len(p.query.Tokens)
		p.query.Tokens = append(p.query.Tokens, t)
	}
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

// SingleWord gives the term of tokens that are one word and its parts.
func SingleWord(tokens []Token) (string, bool) {
	if len(tokens) == 0 {
		return "", false
	}
	for _, t := range tokens[:len(tokens)-1] {
		if !t.Part {
			return "", false
		}
	}
	return tokens[len(tokens)-1].Text, true
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
	terms := make([]QueryTerm, 0, len(tokens))
	at := make(map[string]int, len(tokens))
	for _, t := range tokens {
		if t.Stop && !onlyStops {
			continue
		}
		i, seen := at[t.Text]
		if !seen {
			i = len(terms)
			at[t.Text] = i
			terms = append(terms, QueryTerm{Text: t.Text, Start: t.Start, End: t.End, Stop: t.Stop})
		}
		terms[i].Count++
		terms[i].Part = terms[i].Part || t.Part
	}
	return terms
}

// unit is a word of the query: its tokens are the parts, then the word.
type unit []Token

func (u unit) whole() Token { return u[len(u)-1] }

func units(tokens []Token) []unit {
	all := make([]unit, 0, len(tokens))
	from := 0
	for i, t := range tokens {
		if !t.Part {
			all = append(all, tokens[from:i+1])
			from = i + 1
		}
	}
	return all
}

// compounds finds the parts of split words, the words that are written
// together (node.js, e-mail), and the neighbours: the last token of a word and
// the first of the next, which stand side by side in a chunk's tokens too.
func compounds(tokens []Token, source string) []Compound {
	words := units(tokens)
	c := compoundList{terms: make([]string, 0, len(tokens)+len(words)), found: make([]Compound, 0, len(words))}
	for i, u := range words {
		c.add(Parts, u[:len(u)-1]...)
		if i == 0 || u.whole().Stop {
			continue
		}
		if last := lastWord(words[:i]); last != nil {
			kind := Adjacent
			if written(source, last.whole().End, u[0].Start) {
				kind = Joined
			}
			c.add(kind, last.whole(), u[0])
		}
	}
	if len(c.found) == 0 {
		return nil
	}
	return c.found
}

// compoundList holds distinct compounds, and their terms in one piece.
type compoundList struct {
	found []Compound
	terms []string
	seen  map[string]bool // of many
}

// fewCompounds is up to how many are compared one by one: a map takes longer.
const fewCompounds = 32

func (c *compoundList) add(kind CompoundKind, tokens ...Token) {
	if len(tokens) < 2 {
		return
	}
	first := len(c.terms)
	for i := range tokens {
		c.terms = append(c.terms, tokens[i].Text)
	}
	if terms := slices.Clip(c.terms[first:]); !repeats(terms) && !c.has(terms) {
		c.found = append(c.found, Compound{Terms: terms, Kind: kind})
		return
	}
	c.terms = c.terms[:first]
}

func (c *compoundList) has(terms []string) bool {
	if len(c.found) <= fewCompounds {
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

// lastWord is the last word that is no stop word, over at most two of those.
func lastWord(words []unit) unit {
	for i := len(words) - 1; i >= 0 && i >= len(words)-3; i-- {
		if !words[i].whole().Stop {
			return words[i]
		}
	}
	return nil
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

// clause is a stretch of the query's text.
type clause struct {
	start, end       int
	quoted, excluded bool
}

// closing is the closing quote of each opening one.
var closing = map[rune]string{'"': "\"", '“': "”", '「': "」", '『': "』", '＂': "＂", '„': "“"}

// clauses splits a query at its operators, in linear time: a quote without a
// partner is looked for once.
func clauses(query string) []clause {
	var all []clause
	missing := map[rune]bool{}
	from, i := 0, 0
	take := func(c clause, end int) {
		if from < i {
			all = append(all, clause{start: from, end: i})
		}
		all = append(all, c)
		from, i = end, end
	}
	before := ' '
	for i < len(query) {
		r, size := utf8.DecodeRuneInString(query[i:])
		if c, end, ok := operator(query, i, before, missing); ok {
			take(c, end)
			before = '"'
			continue
		}
		before = r
		i += size
	}
	if from < len(query) {
		all = append(all, clause{start: from, end: len(query)})
	}
	return all
}

// operator reads a quoted phrase or an exclusion that begins at i.
func operator(query string, i int, before rune, missing map[rune]bool) (c clause, end int, ok bool) {
	r, size := utf8.DecodeRuneInString(query[i:])
	if (r == '-' || r == '－') && unicode.IsSpace(before) {
		if c, end, ok = quotation(query, i+size, ' ', missing); ok {
			c.excluded, c.quoted = true, false
			return c, end, true
		}
		end = spaceBehind(query, i+size)
		c = clause{start: i + size, end: end, excluded: true}
		return c, end, strings.IndexFunc(query[c.start:end], isWordRune) == 0
	}
	return quotation(query, i, before, missing)
}

// quotation reads a quoted phrase. A straight quote behind a digit or a Latin
// letter opens none: 5" is a length.
func quotation(query string, i int, before rune, missing map[rune]bool) (c clause, end int, ok bool) {
	r, size := utf8.DecodeRuneInString(query[i:])
	closer, quote := closing[r]
	if !quote || missing[r] || r == '"' && before < utf8.RuneSelf && isWordRune(before) {
		return c, 0, false
	}
	n := strings.Index(query[i+size:], closer)
	if n < 0 {
		missing[r] = true
		return c, 0, false
	}
	c = clause{start: i + size, end: i + size + n, quoted: true}
	return c, c.end + len(closer), true
}

// spaceBehind is where the white space after i begins.
func spaceBehind(query string, i int) int {
	n := strings.IndexFunc(query[i:], unicode.IsSpace)
	if n < 0 {
		return len(query)
	}
	return i + n
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
