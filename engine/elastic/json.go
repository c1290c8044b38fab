package elastic

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// jsonReader reads JSON.
type jsonReader struct {
	text  string
	at    int
	open  []byte // the ends of what was gone into; 0 of a null
	first bool   // nothing of the innermost was read yet
	err   error
}

func (r *jsonReader) object() { r.enter('{', '}') }
func (r *jsonReader) array()  { r.enter('[', ']') }

func (r *jsonReader) enter(start, end byte) {
	if r.peek() == 'n' {
		r.word()
		end = 0
	} else {
		r.expect(start)
	}
	r.open, r.first = append(r.open, end), true
}

func (r *jsonReader) more() bool {
	if r.err != nil {
		return false
	}
	last := len(r.open) - 1
	end := r.open[last]
	if end == 0 || r.peek() == end {
		if end != 0 {
			r.at++
		}
		r.open, r.first = r.open[:last], false
		return false
	}
	if !r.first {
		r.expect(',')
	}
	r.first = false
	return r.err == nil
}

func (r *jsonReader) name() string {
	name := r.string()
	r.expect(':')
	return name
}

func (r *jsonReader) string() string {
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
	decodeValue(r, &unescaped)
	return unescaped
}

// endString goes behind the closing quote.
func (r *jsonReader) endString() {
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

func (r *jsonReader) number() float32 {
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

func (r *jsonReader) value() string {
	if r.peek() == '"' {
		return r.string()
	}
	raw := r.raw()
	if n, err := strconv.ParseFloat(raw, 64); err == nil && strings.ContainsAny(raw, ".eE") {
		return text(n)
	}
	return raw
}

// raw reads a value as it stands.
func (r *jsonReader) raw() string {
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

func (r *jsonReader) nested() {
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
func (r *jsonReader) word() string {
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

func (r *jsonReader) end() error {
	if r.peek() != 0 {
		r.fail("more than one value")
	}
	return r.err
}

// peek gives the next byte that is no space, 0 at the end.
func (r *jsonReader) peek() byte {
	for ; r.at < len(r.text); r.at++ {
		if c := r.text[r.at]; c > ' ' {
			return c
		}
	}
	return 0
}

func (r *jsonReader) expect(c byte) {
	if r.peek() != c {
		r.fail("no " + strconv.QuoteRune(rune(c)))
		return
	}
	r.at++
}

func (r *jsonReader) fail(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d of %d: %w", r.at, len(r.text), errors.New(why))
	}
	r.at = len(r.text)
}
