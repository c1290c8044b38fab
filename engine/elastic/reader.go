package elastic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// reader walks through JSON text and gives strings that are parts of it. An
// answer of a thousand hits is read more than ten times faster than into maps by
// encoding/json. It is made for what Elasticsearch writes: of values that are
// skipped it checks no more than brackets and quotes. After the first error,
// which stays in err, nothing more is read.
type reader struct {
	text string
	at   int
	err  error
}

// members calls each with the name of every member of an object; each has to
// read the value. null has no members.
func (r *reader) members(each func(name string)) {
	r.list('{', '}', func() {
		name := r.string()
		r.expect(':')
		each(name)
	})
}

// items calls each for every item of an array; each has to read it. null has
// no items.
func (r *reader) items(each func()) { r.list('[', ']', each) }

func (r *reader) list(open, end byte, each func()) {
	if r.peek() == 'n' {
		r.skip()
		return
	}
	r.expect(open)
	if r.peek() == end {
		r.at++
		return
	}
	for r.err == nil {
		each()
		if r.peek() != ',' {
			r.expect(end)
			return
		}
		r.at++
	}
}

// string reads a string.
func (r *reader) string() string {
	r.expect('"')
	plain := strings.IndexByte(r.text[r.at:], '"')
	if plain < 0 {
		r.fail("a string without an end")
		return ""
	}
	if value := r.text[r.at : r.at+plain]; strings.IndexByte(value, '\\') < 0 {
		r.at += plain + 1
		return value
	}
	r.at--
	var unescaped string
	r.decode(&unescaped)
	return unescaped
}

// endString goes behind the closing quote.
func (r *reader) endString() {
	for ; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case '"':
			r.at++
			return
		}
	}
	r.fail("a string without an end")
}

// number reads a number; null is 0.
func (r *reader) number() float32 {
	word := r.word()
	if word == "null" {
		return 0
	}
	n, err := strconv.ParseFloat(word, 32)
	if err != nil {
		r.fail("not a number: " + word)
	}
	return float32(n)
}

// value reads a value as text: a string as it is, a number as short as JSON has
// it.
func (r *reader) value() string {
	if r.peek() == '"' {
		return r.string()
	}
	raw := r.raw()
	if n, err := strconv.ParseFloat(raw, 64); err == nil && strings.ContainsAny(raw, ".eE") {
		return text(n)
	}
	return raw
}

// decode reads a value of any shape.
func (r *reader) decode(into any) {
	raw := r.raw()
	if r.err != nil {
		return
	}
	if err := json.Unmarshal([]byte(raw), into); err != nil {
		r.fail(err.Error())
	}
}

func (r *reader) skip() { r.raw() }

// raw reads a value as it stands.
func (r *reader) raw() string {
	first := r.peek()
	start := r.at
	switch first {
	case '"':
		r.at++
		r.endString()
	case '{', '[':
		r.nested()
	default:
		r.word()
	}
	return r.text[min(start, r.at):r.at]
}

func (r *reader) nested() {
	for depth := 0; r.at < len(r.text); {
		c := r.text[r.at]
		r.at++
		switch c {
		case '"':
			r.endString()
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return
			}
		}
	}
	r.fail("a bracket without an end")
}

// word reads a number, true, false or null.
func (r *reader) word() string {
	r.peek()
	start := r.at
	for r.at < len(r.text) && (r.text[r.at] >= '0' && r.text[r.at] <= '9' || r.text[r.at] >= 'a' && r.text[r.at] <= 'z' ||
		r.text[r.at] == '.' || r.text[r.at] == '-' || r.text[r.at] == '+' || r.text[r.at] == 'E') {
		r.at++
	}
	if r.at == start {
		r.fail("a value is missing")
	}
	return r.text[min(start, r.at):r.at]
}

// end says whether all was read, and nothing else is there.
func (r *reader) end() error {
	if r.peek() != 0 {
		r.fail("more than one value")
	}
	return r.err
}

// peek gives the next byte that is no space, 0 at the end.
func (r *reader) peek() byte {
	for ; r.at < len(r.text); r.at++ {
		if c := r.text[r.at]; c > ' ' {
			return c
		}
	}
	return 0
}

func (r *reader) expect(c byte) {
	if r.peek() != c {
		r.fail("no " + strconv.QuoteRune(rune(c)))
		return
	}
	r.at++
}

func (r *reader) fail(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d of %d: %w", r.at, len(r.text), errors.New(why))
	}
	r.at = len(r.text)
}
