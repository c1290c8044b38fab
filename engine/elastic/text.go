package elastic

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/textquery"
)

// textClause renders a text query as textquery defines its score:
//
//	{"bool": {"must": [{"bool": {"should": [a dis_max per term], "minimum_should_match": n}}],
//	          "should": [the phrases]}}
//
// In a field of the gateway's own tokens, terms are looked up as they are. In a field that
// Elasticsearch analyses, a term has to match with all the tokens that the analyzer makes
// of it. There minimum_match still counts the gateway's terms, while matches and scores
// follow the analyzer's tokens: an approximation.
func textClause(field mappings.TextField, q *textquery.Query, common esquery.Common) esquery.Query {
	if q.Empty() {
		return esquery.MatchNone{Common: common}
	}
	if factor := q.Lengths.Factor(); factor != 1 { // Lucene knows the index's own average alone
		q = q.Times(factor)
	}
	t := &textParts{clauseBuilder: clauseBuilder{words: make([]esquery.Word, 0, len(q.Terms))}, field: field}
	t.clauseBuilder.field = &t.field
	t.reserve(q.Phrases)
	clauses := make([]esquery.Query, 0, len(q.Terms)+len(q.Phrases))
	for i := range q.Terms {
		clauses = append(clauses, t.term(&q.Terms[i]))
	}
	t.terms = esquery.Bool{MinimumShouldMatch: max(1, q.MinimumMatch), Should: slices.Clip(clauses)}
	for i := range q.Phrases {
		clauses = append(clauses, t.phrase(&q.Phrases[i], true))
	}
	t.must[0] = &t.terms
	t.whole = esquery.Bool{Common: common, Must: t.must[:], Should: clauses[len(q.Terms):]}
	return &t.whole
}

// textParts holds a text query's clause in one allocation.
type textParts struct {
	clauseBuilder
	field        mappings.TextField
	whole, terms esquery.Bool
	must         [1]esquery.Query
}

// clauseBuilder builds the clauses of words and phrases in one field. It allocates them in
// blocks: one by one they would be most of what a request allocates.
type clauseBuilder struct {
	field   *mappings.TextField
	words   []esquery.Word
	phrases []esquery.MatchPhrase
	texts   strings.Builder // of the phrases
}

func newClauseBuilder(field *mappings.TextField, words int) *clauseBuilder {
	return &clauseBuilder{field: field, words: make([]esquery.Word, 0, words)}
}

// reserve makes room for phrases.
func (c *clauseBuilder) reserve(phrases []textquery.Phrase) {
	if len(phrases) == 0 {
		return
	}
	c.phrases = make([]esquery.MatchPhrase, 0, len(phrases))
	size := 0
	for i := range phrases {
		for _, term := range phrases[i].Terms {
			size += len(term) + len(" ")
		}
	}
	c.texts.Grow(size)
}

// clauseBlock is how many clauses are allocated at a time once the reserved ones are used.
const clauseBlock = 8

// next returns the next unused element. It never moves: a full block is left as it is and
// a new one begun.
func next[T any](block *[]T) *T {
	n := len(*block)
	if n == cap(*block) {
		*block, n = make([]T, 0, clauseBlock), 0
	}
	*block = (*block)[:n+1]
	return &(*block)[n]
}

func (c *clauseBuilder) term(term *textquery.Term) esquery.Query {
	word := c.word(term.Text, boosted(&term.Weight))
	if len(term.Synonyms) == 0 {
		return word
	}
	best := esquery.DisMax{Queries: make([]esquery.Query, 1, 1+len(term.Synonyms))}
	best.Queries[0] = word
	for i := range term.Synonyms {
		best.Queries = append(best.Queries, c.phrase(&term.Synonyms[i], true))
	}
	return best
}

// phrase matches a phrase; one token is a plain term. scored is false for a filter.
func (c *clauseBuilder) phrase(p *textquery.Phrase, scored bool) esquery.Query {
	var common esquery.Common
	if scored {
		common = boosted(&p.Weight)
	}
	switch len(p.Terms) {
	case 0:
		return esquery.MatchNone{Common: common}
	case 1:
		return c.word(p.Terms[0], common)
	}
	text := c.joined(p.Terms)
	own := c.phraseIn(c.field.Name, text, p.Slop, common)
	if len(c.field.Beside) == 0 {
		return own
	}
	best := esquery.DisMax{Queries: []esquery.Query{own}}
	for i := range c.field.Beside {
		if f := &c.field.Beside[i]; !f.Keyword {
			best.Queries = append(best.Queries, c.phraseIn(f.Name, text, p.Slop, beside(common, f)))
		}
	}
	return best
}

func (c *clauseBuilder) phraseIn(field, text string, slop int, common esquery.Common) esquery.Query {
	q := next(&c.phrases)
	*q = esquery.MatchPhrase{Common: common, Field: field, Query: text, Slop: slop}
	return q
}

// beside is a clause in an additional field.
func beside(common esquery.Common, f *mappings.BesideField) esquery.Common {
	boost := f.Boost
	if common.Boost != nil {
		boost *= *common.Boost
	}
	common.Boost = &boost
	return common
}

func boosted(weight *float64) (common esquery.Common) {
	if *weight != 1 {
		common.Boost = weight
	}
	return common
}

// word matches one token.
func (c *clauseBuilder) word(word string, common esquery.Common) esquery.Query {
	if len(c.field.Within) > 0 {
		return c.combined(word, common)
	}
	if !c.field.Tokens {
		return esquery.Match{Common: common, Field: c.field.Name, Query: word, Operator: esquery.And}
	}
	own := c.wordIn(c.field.Name, word, common)
	if len(c.field.Beside) == 0 {
		return own
	}
	best := esquery.DisMax{Queries: make([]esquery.Query, 1, 1+len(c.field.Beside))}
	best.Queries[0] = own
	for i := range c.field.Beside {
		f := &c.field.Beside[i]
		best.Queries = append(best.Queries, c.wordIn(f.Name, word, beside(common, f)))
	}
	return best
}

// combined matches a token by BM25F. The whole text has the weight 1, so its document frequency,
// being the largest, counts.
func (c *clauseBuilder) combined(word string, common esquery.Common) esquery.Query {
	whole := esquery.WeightedField{Name: c.field.Name, Weight: 1}
	q := esquery.CombinedFields{Common: common, Query: word, Fields: []esquery.WeightedField{whole}}
	for _, f := range c.field.Within {
		q.Fields = append(q.Fields, esquery.WeightedField{Name: f.Name, Weight: f.Boost})
	}
	return q
}

func (c *clauseBuilder) wordIn(field, word string, common esquery.Common) esquery.Query {
	q := next(&c.words)
	*q = esquery.Word{Common: common, Field: field, Value: word}
	return q
}

// joined returns a phrase as text, with single spaces between its terms. For an analyzer
// of Elasticsearch it is the text that the terms are of: there is no space between two
// Chinese or Japanese words, and a letter that two pairs share is there once.
func (c *clauseBuilder) joined(terms []string) string {
	from := c.texts.Len()
	for i, term := range terms {
		switch {
		case i == 0:
		case c.field.Tokens:
			c.texts.WriteByte(' ')
		case overlaps(terms[i-1], term):
			_, size := utf8.DecodeRuneInString(term)
			term = term[size:]
		case !endsUnspaced(terms[i-1]) || !beginsUnspaced(term):
			c.texts.WriteByte(' ')
		}
		c.texts.WriteString(term)
	}
	return c.texts.String()[from:]
}

// overlaps reports whether a pair of kana or hangul begins with the last letter of the one
// before it.
func overlaps(before, term string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	if len(before) == size || !isKana(last) && !unicode.Is(unicode.Hangul, last) {
		return false
	}
	return len(term) > size && strings.HasPrefix(term, before[len(before)-size:])
}

func endsUnspaced(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unspaced(r)
}

func beginsUnspaced(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unspaced(r)
}

// unspaced scripts put no space between words.
func unspaced(r rune) bool { return isKana(r) || unicode.Is(unicode.Han, r) }

func isKana(r rune) bool { return r == 'ー' || unicode.In(r, unicode.Hiragana, unicode.Katakana) }
