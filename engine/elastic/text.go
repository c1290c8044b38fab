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
	t := &textParts{clauses: clauses{words: make([]esquery.Word, 0, len(q.Terms))}, field: field}
	t.clauses.field = &t.field
	t.expect(q.Phrases)
	each := make([]esquery.Query, 0, len(q.Terms)+len(q.Phrases))
	for i := range q.Terms {
		each = append(each, t.term(&q.Terms[i]))
	}
	t.terms = esquery.Bool{MinimumShouldMatch: max(1, q.MinimumMatch), Should: slices.Clip(each)}
	for i := range q.Phrases {
		each = append(each, t.phrase(&q.Phrases[i], true))
	}
	t.must[0] = &t.terms
	t.whole = esquery.Bool{Common: common, Must: t.must[:], Should: each[len(q.Terms):]}
	return &t.whole
}

// textParts holds the parts of a text query's clause: one allocation.
type textParts struct {
	clauses
	field        mappings.TextField
	whole, terms esquery.Bool
	must         [1]esquery.Query
}

// clauses are those of the words and phrases of a text in one field, allocated together:
// one by one they would be most of what a request allocates.
type clauses struct {
	field   *mappings.TextField
	words   []esquery.Word
	phrases []esquery.MatchPhrase
	texts   strings.Builder // of the phrases
}

func newClauses(field *mappings.TextField, words int) *clauses {
	return &clauses{field: field, words: make([]esquery.Word, 0, words)}
}

// expect makes room for phrases.
func (c *clauses) expect(phrases []textquery.Phrase) {
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

// moreClauses is how many are allocated at a time.
const moreClauses = 8

// place gives the place of one more, which never moves.
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
		*q = esquery.MatchPhrase{Common: common, Field: c.field.Name, Query: c.joined(p.Terms), Slop: p.Slop}
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
func (c *clauses) joined(terms []string) string {
	from := c.texts.Len()
	for i, term := range terms {
		together := i == 0 || !c.field.Tokens && endsUnspaced(terms[i-1]) && beginsUnspaced(term)
		if !together {
			c.texts.WriteByte(' ')
		}
		c.texts.WriteString(term)
	}
	return c.texts.String()[from:]
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
