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
// Over the gateway's own tokens terms are looked up as they are. Over a field
// that Elasticsearch analyses, a term is matched with all the tokens that the
// field's analyzer makes of it, so minimum_match counts the gateway's terms, and
// scores and matches are those of that analyzer's tokens: an approximation.
func textClause(field mappings.TextField, q *textquery.Query, common esquery.Common) esquery.Query {
	if q.Empty() {
		return esquery.MatchNone{Common: common}
	}
	c := newClauses(&field, len(q.Terms))
	terms := esquery.Bool{
		MinimumShouldMatch: max(1, q.MinimumMatch), Should: make([]esquery.Query, 0, len(q.Terms)),
	}
	for i := range q.Terms {
		terms.Should = append(terms.Should, c.term(&q.Terms[i]))
	}
	clause := esquery.Bool{Common: common, Must: []esquery.Query{terms}}
	clause.Should = slices.Grow(clause.Should, len(q.Phrases))
	for i := range q.Phrases {
		clause.Should = append(clause.Should, c.phrase(&q.Phrases[i], true))
	}
	return clause
}

// clauses are those of the words and phrases of a text in one field. They are made
// side by side: one by one they would be most of what a request allocates.
type clauses struct {
	field   *mappings.TextField
	words   []esquery.Word
	phrases []esquery.MatchPhrase
}

// moreClauses is how many there is room for at a time.
const moreClauses = 8

func newClauses(field *mappings.TextField, words int) *clauses {
	return &clauses{field: field, words: make([]esquery.Word, 0, words)}
}

// place gives the place of a further one, which it never leaves.
func place[T any](all *[]T) *T {
	n := len(*all)
	if n == cap(*all) {
		*all, n = make([]T, 0, moreClauses), 0
	}
	*all = (*all)[:n+1]
	return &(*all)[n]
}

func (c *clauses) term(term *textquery.Term) esquery.Query {
	itself := c.word(term.Text, weighted(&term.Weight))
	if len(term.Synonyms) == 0 {
		return itself
	}
	best := esquery.DisMax{Queries: make([]esquery.Query, 1, 1+len(term.Synonyms))}
	best.Queries[0] = itself
	for i := range term.Synonyms {
		best.Queries = append(best.Queries, c.phrase(&term.Synonyms[i], true))
	}
	return best
}

// phrase matches a phrase; one token is a plain term. scored is false where it only
// filters.
func (c *clauses) phrase(p *textquery.Phrase, scored bool) esquery.Query {
	var common esquery.Common
	if scored {
		common = weighted(&p.Weight)
	}
	switch len(p.Terms) {
	case 0:
		return esquery.MatchNone{Common: common}
	case 1:
		return c.word(p.Terms[0], common)
	default:
		q := place(&c.phrases)
		*q = esquery.MatchPhrase{Common: common, Field: c.field.Name, Query: joined(c.field, p.Terms), Slop: p.Slop}
		return q
	}
}

func weighted(weight *float64) (common esquery.Common) {
	if *weight != 1 {
		common.Boost = weight
	}
	return common
}

// word matches one token.
func (c *clauses) word(word string, common esquery.Common) esquery.Query {
	if !c.field.Tokens {
		return esquery.Match{Common: common, Field: c.field.Name, Query: word, Operator: esquery.And}
	}
	q := place(&c.words)
	*q = esquery.Word{Common: common, Field: c.field.Name, Value: word}
	return q
}

// joined gives the text of a phrase: the gateway's tokens by single spaces, for
// other analyzers without a space between two Chinese or Japanese words, as
// the text has them.
func joined(field *mappings.TextField, terms []string) string {
	if field.Tokens {
		return strings.Join(terms, " ")
	}
	var b strings.Builder
	for i, term := range terms {
		together := i == 0 || endsUnspaced(terms[i-1]) && beginsUnspaced(term)
		if !together {
			b.WriteByte(' ')
		}
		b.WriteString(term)
	}
	return b.String()
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
func unspaced(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }
