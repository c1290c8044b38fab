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
	analyzer *Analyzer
	source   string
	query    Query
	runes    runeCounter
}

func (p *parser) take(c clause) {
	if c.excluded {
		if tokens := p.appendTokens(nil, c); len(tokens) > 0 {
			p.query.Excluded = include(p.query.Excluded, exact(tokens))
		}
		return
	}
	before := len(p.query.Tokens)
	p.query.Tokens = p.appendTokens(p.query.Tokens, c)
	if tokens := p.query.Tokens[before:]; c.quoted && len(tokens) > 0 {
		p.query.Required = include(p.query.Required, exact(tokens))
	}
}

// appendTokens appends those of a clause, by their places in the question. The
// lexicon cuts it, not gojieba: a question is short and waited for.
func (p *parser) appendTokens(tokens []Token, c clause) []Token {
	a := p.analyzer
	s := a.scanners.Get().(*scanner)
	defer a.put(s)
	s.inGo = true
	place := placement{
		locator: locator{spans: s.run(p.source[c.start:c.end], true)},
		runes:   p.runes, base: c.start, position: len(tokens),
	}
	tokens = slices.Grow(tokens, len(s.pieces))
	for i, of := range s.pieces {
		tokens = append(tokens, place.token(i, of))
	}
	p.runes = place.runes
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
