package search

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonScanner goes through JSON. Its methods report false where there is something that
// they do not read; the place is anywhere then.
type jsonScanner struct {
	text []byte
	at   int
}

// next passes over space, and over a sign if it is behind that.
func (s *jsonScanner) next(sign byte) bool {
	s.space()
	if s.at == len(s.text) || s.text[s.at] != sign {
		return false
	}
	s.at++
	return true
}

// comma is next of a comma, which mostly stands there without a space.
func (s *jsonScanner) comma() bool {
	if s.at < len(s.text) && s.text[s.at] == ',' {
		s.at++
		return true
	}
	return s.next(',')
}

func (s *jsonScanner) space() {
	for s.at < len(s.text) && isSpace(s.text[s.at]) {
		s.at++
	}
}

func isSpace(b byte) bool { return b <= ' ' && (b == ' ' || b == '\n' || b == '\t' || b == '\r') }

func (s *jsonScanner) ended() bool {
	s.space()
	return s.at == len(s.text)
}

// skip passes over a value, to the comma or the bracket behind it.
func (s *jsonScanner) skip() bool {
	for depth := 0; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '"':
			s.toQuote()
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				return true
			}
		}
		if depth < 0 {
			return true
		}
	}
	return false
}

// toQuote goes from the quote that opens a string to the one that closes it.
func (s *jsonScanner) toQuote() {
	for s.at++; s.at < len(s.text) && s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
}

// plain reads a string of ASCII without escapes; its bytes are those of the text.
func (s *jsonScanner) plain() ([]byte, bool) {
	if !s.next('"') {
		return nil, false
	}
	for i := s.at; i < len(s.text); i++ {
		if s.text[i] == '"' {
			begin := s.at
			s.at = i + 1
			return s.text[begin:i], true
		}
		if !isPlain(s.text[i]) {
			break
		}
	}
	return nil, false
}

func (s *jsonScanner) string(into *string) bool {
	s.space()
	begin := s.at
	if plain, ok := s.plain(); ok {
		*into = string(plain)
		return true
	}
	if begin == len(s.text) || s.text[begin] != '"' {
		return false
	}
	s.at = begin
	s.toQuote()
	s.at = min(s.at+1, len(s.text))
	if end := s.at - 1; end > begin && s.text[end] == '"' {
		if *into = string(s.text[begin+1 : end]); plainBytes(*into) == len(*into) {
			return true
		}
	}
	text, err := jsontext.AppendUnquote(nil, s.text[begin:s.at])
	*into = string(text)
	return err == nil
}

func (s *jsonScanner) strings(into *[]string) bool {
	*into = make([]string, 0, 1)
	return s.list(func() bool {
		var text string
		ok := s.string(&text)
		*into = append(*into, text)
		return ok
	})
}

// list reads a list, each of its values by a function.
func (s *jsonScanner) list(value func() bool) bool {
	if !s.next('[') {
		return false
	}
	for first := true; !s.next(']'); first = false {
		if !first && !s.next(',') || !value() {
			return false
		}
	}
	return true
}

func (s *jsonScanner) bool(into *bool) bool {
	rest := s.text[s.at:]
	*into = bytes.HasPrefix(rest, []byte("true"))
	switch {
	case *into:
		s.at += len("true")
	case bytes.HasPrefix(rest, []byte("false")):
		s.at += len("false")
	default:
		return false
	}
	return true
}

// size reads a whole number > 0 that is not large.
func (s *jsonScanner) size(into **int) bool {
	const largest = 1e6
	n := 0
	for ; s.at < len(s.text) && isDigit(s.text[s.at]) && n < largest; s.at++ {
		n = 10*n + int(s.text[s.at]-'0')
		if n == 0 {
			return false
		}
	}
	*into = &n
	return n > 0
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func (s *jsonScanner) vector(into *[]float32) bool {
	s.space()
	n := bytes.IndexByte(s.text[s.at:], ']')
	numbers := make([]float32, 0, bytes.Count(s.text[s.at:s.at+max(n, 0)], []byte{','})+1)
	if !s.next('[') {
		return false
	}
	for more := !s.next(']'); more; more = s.comma() {
		s.space()
		f, end := readFloat(s.text, s.at)
		if end == 0 {
			return false
		}
		numbers, s.at = append(numbers, f), end
	}
	if len(numbers) > 0 && !s.next(']') {
		return false
	}
	*into = numbers
	return true
}
