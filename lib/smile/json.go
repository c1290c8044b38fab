package smile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonReader reads JSON.
type jsonReader struct {
	text  string
	at    int
	open  []byte // the ends of what was gone into; 0 of a null
	first bool   // nothing of the innermost was read yet
	err   error
}

func (r *jsonReader) Object() { r.enter('{', '}') }
func (r *jsonReader) Array()  { r.enter('[', ']') }

func (r *jsonReader) enter(start, end byte) {
	if r.peek() == 'n' {
		r.word()
		end = 0
	} else {
		r.expect(start)
	}
	r.open, r.first = append(r.open, end), true
}

func (r *jsonReader) More() bool {
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

func (r *jsonReader) Name() string {
	name := r.Text()
	r.expect(':')
	return name
}

func (r *jsonReader) Text() string {
	quoted, escaped := r.quoted()
	if r.err == nil && escaped {
		return r.unquote(quoted)
	}
	return inside(quoted)
}

// quoted reads a string as it stands.
func (r *jsonReader) quoted() (quoted string, escaped bool) {
	r.expect('"')
	start := r.at - 1
	escaped = r.endString()
	if r.err != nil {
		return `""`, false
	}
	return r.text[start:r.at], escaped
}

func inside(quoted string) string { return quoted[1 : len(quoted)-1] }

// unquote gives what a string with escapes in it says.
func (r *jsonReader) unquote(quoted string) string {
	if plain, ok := unescape(inside(quoted)); ok && utf8.ValidString(plain) {
		return plain
	}
	if unquoted, err := jsontext.AppendUnquote(nil, quoted); err == nil {
		return string(unquoted)
	}
	var lenient string // half of a surrogate pair is not refused there
	if err := json.Unmarshal([]byte(quoted), &lenient); err != nil {
		r.Fail(err.Error())
	}
	return lenient
}

// unescape is for a text whose escapes are of one letter, as nearly all are.
func unescape(s string) (plain string, ok bool) {
	var all strings.Builder
	all.Grow(len(s))
	for {
		at := strings.IndexByte(s, '\\')
		if at < 0 {
			all.WriteString(s)
			return all.String(), true
		}
		c := unescaped[s[at+1]] // it is never the last: it would escape the quote behind
		if c == 0 {
			return "", false
		}
		all.WriteString(s[:at])
		all.WriteByte(c)
		s = s[at+2:]
	}
}

// unescaped maps the byte after a backslash to the byte it stands for.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// endString goes behind the closing quote and reports whether anything in front of
// it is escaped. A quote is looked for again only when an escape was found to be of it: else
// the time of a text with many escapes would grow by the square of its length.
func (r *jsonReader) endString() (escaped bool) {
	quote := -1
	for r.at < len(r.text) {
		if quote < r.at {
			further := strings.IndexByte(r.text[r.at:], '"')
			if further < 0 {
				break
			}
			quote = r.at + further
		}
		escape := strings.IndexByte(r.text[r.at:quote], '\\')
		if escape < 0 {
			r.at = quote + 1
			return escaped
		}
		escaped = true
		r.at += escape + 2
	}
	r.Fail("a string without an end")
	return escaped
}

func (r *jsonReader) Number() float32 {
	word := r.word()
	if word == "null" {
		return 0
	}
	n, err := strconv.ParseFloat(word, 32)
	if err != nil {
		r.Fail("not a number: " + word)
	}
	return float32(n)
}

func (r *jsonReader) Value() string {
	switch r.peek() {
	case '"':
		return r.Text()
	case 't', 'f', 'n':
		return r.word()
	}
	raw := r.Raw()
	if n, err := strconv.ParseFloat(raw, 64); err == nil && strings.ContainsAny(raw, ".eE") {
		return digits(n)
	}
	return raw
}

// any reads any value as encoding/json does.
func (r *jsonReader) any() (v any) {
	if len(r.open) > maxDepth {
		Decode(r, &v)
		return v
	}
	switch r.peek() {
	case '{':
		return r.Members()
	case '[':
		items := []any{}
		for r.Array(); r.More(); {
			items = append(items, r.any())
		}
		return items
	case '"':
		return r.Text()
	default:
		return r.scalar()
	}
}

// members reads an object; nil: null.
func (r *jsonReader) Members() (all map[string]any) {
	if r.peek() == '{' {
		all = map[string]any{}
	}
	for r.Object(); r.More(); {
		name := r.Name()
		all[name] = r.any()
	}
	return all
}

// scalar reads what is no string.
func (r *jsonReader) scalar() any {
	switch word := r.word(); word {
	case "null":
		return nil
	case "true", "false":
		return word == "true"
	default:
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			r.Fail("not a number: " + word)
		}
		return n
	}
}

// raw reads a value as it stands.
func (r *jsonReader) Raw() string {
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

func (r *jsonReader) Skip() { r.Raw() }

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
	r.Fail("a bracket without an end")
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
		r.Fail("a value is missing")
	}
	return r.text[min(start, r.at):r.at]
}

func (r *jsonReader) End() error {
	if r.peek() != 0 {
		r.Fail("more than one value")
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
		r.Fail("no " + strconv.QuoteRune(rune(c)))
		return
	}
	r.at++
}

func (r *jsonReader) Fail(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d of %d: %w", r.at, len(r.text), errors.New(why))
	}
	r.at = len(r.text)
}
