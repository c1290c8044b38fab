package embedded

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hybridge-search/hybridge/engine"
)

// readBody reads a chunk as encode writes it: the members in their order and nothing
// between them. Not ok, it is for a decoder, which knows better. What has no escapes is
// not copied: the chunk's texts are parts of the body.
func readBody(body string) (c engine.Chunk, ok bool) {
	r := bodyReader{rest: body}
	r.want(`{"id":`)
	c.ID = r.text()
	r.want(`,"document_id":`)
	c.DocumentID = r.text()
	r.member(`,"document_name":`, &c.DocumentName)
	r.want(`,"ordinal":`)
	c.Ordinal = r.whole()
	r.member(`,"title":`, &c.Title)
	r.member(`,"content":`, &c.Content)
	if r.next(`,"positions":`) {
		c.Positions = listOf(&r, func() []float64 { return listOf(&r, r.number) })
	}
	if r.next(`,"metadata":`) {
		c.Metadata = r.metadata()
	}
	r.member(`,"owner":`, &c.Owner)
	r.want(`,"available":`)
	c.Available = r.flag()
	if r.rest != `}` {
		c.QA = r.pair()
	}
	return c, !r.failed && r.rest == `}`
}

// bodyReader goes through JSON until it fails.
type bodyReader struct {
	rest   string
	failed bool
}

// next passes over what comes next, if it does.
func (r *bodyReader) next(what string) (found bool) {
	r.rest, found = strings.CutPrefix(r.rest, what)
	return found
}

// want fails when something else comes next.
func (r *bodyReader) want(what string) {
	if !r.next(what) {
		r.failed = true
	}
}

func (r *bodyReader) member(name string, into *string) {
	if r.next(name) {
		*into = r.text()
	}
}

func (r *bodyReader) pair() *engine.QA {
	pair := new(engine.QA)
	r.member(`,"question":`, &pair.Question)
	r.member(`,"answer":`, &pair.Answer)
	r.member(`,"full_answer":`, &pair.FullAnswer)
	r.member(`,"summary":`, &pair.Summary)
	r.member(`,"url":`, &pair.URL)
	r.member(`,"category":`, &pair.Category)
	r.member(`,"date":`, &pair.Date)
	r.member(`,"group":`, &pair.Group)
	return pair
}

func (r *bodyReader) metadata() map[string]any {
	values := map[string]any{}
	r.want(`{`)
	for n := 0; !r.failed && !r.next(`}`); n++ {
		if n > 0 {
			r.want(`,`)
		}
		name := r.text()
		r.want(`:`)
		values[name] = r.value()
		r.failed = r.failed || len(values) == n // a name that was there
	}
	return values
}

// value reads what metadata have.
func (r *bodyReader) value() any {
	switch {
	case strings.HasPrefix(r.rest, `"`):
		return r.text()
	case strings.HasPrefix(r.rest, `[`):
		return listOf(r, r.value)
	case strings.HasPrefix(r.rest, `t`), strings.HasPrefix(r.rest, `f`):
		return r.flag()
	case r.next(`null`):
		return nil
	default:
		return r.number()
	}
}

func listOf[T any](r *bodyReader, value func() T) []T {
	r.want(`[`)
	values := []T{}
	for !r.failed && !r.next(`]`) {
		if len(values) > 0 {
			r.want(`,`)
		}
		values = append(values, value())
	}
	return values
}

func (r *bodyReader) flag() bool {
	if r.next(`true`) {
		return true
	}
	r.want(`false`)
	return false
}

func (r *bodyReader) whole() int {
	n, err := strconv.Atoi(r.word())
	r.failed = r.failed || err != nil
	return n
}

func (r *bodyReader) number() (f float64) {
	word := r.word()
	if n, short := shortNumber(word); short {
		return float64(n)
	}
	r.failed = r.failed || json.Unmarshal([]byte(word), &f) != nil
	return f
}

// shortNumber reads a whole number as most are.
func shortNumber(word string) (n int, ok bool) {
	if word == "" || len(word) > 15 || word[0] == '0' {
		return 0, false
	}
	for _, digit := range []byte(word) {
		if digit < '0' || '9' < digit {
			return 0, false
		}
		n = 10*n + int(digit-'0')
	}
	return n, true
}

// word reads up to the next sign behind a value.
func (r *bodyReader) word() string {
	end := strings.IndexAny(r.rest, `,]}`)
	if end < 0 {
		r.failed = true
		return ""
	}
	word := r.rest[:end]
	r.rest = r.rest[end:]
	return word
}

func (r *bodyReader) text() string {
	begin := r.rest
	r.want(`"`)
	end := strings.IndexByte(r.rest, '"')
	if r.failed || end < 0 {
		r.failed = true
		return ""
	}
	text := r.rest[:end]
	if strings.IndexByte(text, '\\') >= 0 {
		r.rest = begin
		return r.escaped()
	}
	r.rest = r.rest[end+1:]
	r.failed = !utf8.ValidString(text) || hasControl(text)
	return text
}

// escaped reads a text with escapes.
func (r *bodyReader) escaped() string {
	end := 1
	for end < len(r.rest) && r.rest[end] != '"' {
		if r.rest[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end+1, len(r.rest))
	text, err := jsontext.AppendUnquote(nil, r.rest[:end])
	r.failed = err != nil
	r.rest = r.rest[end:]
	return string(text)
}

// hasControl reports whether a text has a byte below a space.
func hasControl(text string) bool {
	const ones = 0x0101010101010101
	i := 0
	for ; i+8 <= len(text); i += 8 {
		eight := text[i : i+8]
		word := uint64(eight[0]) | uint64(eight[1])<<8 | uint64(eight[2])<<16 | uint64(eight[3])<<24 |
			uint64(eight[4])<<32 | uint64(eight[5])<<40 | uint64(eight[6])<<48 | uint64(eight[7])<<56
		if (word-' '*ones)&^word&(0x80*ones) != 0 {
			return true
		}
	}
	for ; i < len(text); i++ {
		if text[i] < ' ' {
			return true
		}
	}
	return false
}
