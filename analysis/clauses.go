package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clause is a stretch of the query's text.
type clause struct {
	start, end       int
	quoted, excluded bool
}

// closing maps an opening quote to the one that closes it.
var closing = map[rune]string{'"': "\"", '“': "”", '「': "」", '『': "』", '＂': "＂", '„': "“"}

// clauses splits a query at its operators. It is linear: once a closing quote is
// not found, it is not searched for again.
func clauses(query string) []clause {
	var all []clause
	unclosed := map[rune]bool{} // opening quotes that nothing closes from here on
	from, i := 0, 0
	add := func(c clause, end int) {
		if from < i {
			all = append(all, clause{start: from, end: i})
		}
		all = append(all, c)
		from, i = end, end
	}
	before := ' '
	for i < len(query) {
		r, size := utf8.DecodeRuneInString(query[i:])
		if c, end, ok := operator(query, i, before, unclosed); ok {
			add(c, end)
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
func operator(query string, i int, before rune, unclosed map[rune]bool) (c clause, end int, ok bool) {
	r, size := utf8.DecodeRuneInString(query[i:])
	if (r == '-' || r == '－') && unicode.IsSpace(before) {
		if c, end, ok = quotation(query, i+size, ' ', unclosed); ok {
			c.excluded, c.quoted = true, false
			return c, end, true
		}
		end = nextSpace(query, i+size)
		c = clause{start: i + size, end: end, excluded: true}
		return c, end, strings.IndexFunc(query[c.start:end], isWordRune) == 0
	}
	return quotation(query, i, before, unclosed)
}

// quotation reads a quoted phrase. A straight quote right after a digit or a Latin
// letter does not open one: 5" is a length.
func quotation(query string, i int, before rune, unclosed map[rune]bool) (c clause, end int, ok bool) {
	r, size := utf8.DecodeRuneInString(query[i:])
	closer, quote := closing[r]
	if !quote || unclosed[r] || r == '"' && before < utf8.RuneSelf && isWordRune(before) {
		return c, 0, false
	}
	n := strings.Index(query[i+size:], closer)
	if n < 0 {
		unclosed[r] = true
		return c, 0, false
	}
	c = clause{start: i + size, end: i + size + n, quoted: true}
	return c, c.end + len(closer), true
}

// nextSpace returns the offset of the first white space from i on, or the end.
func nextSpace(query string, i int) int {
	n := strings.IndexFunc(query[i:], unicode.IsSpace)
	if n < 0 {
		return len(query)
	}
	return i + n
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
