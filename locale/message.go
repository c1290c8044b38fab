package locale

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// message is the format of an English text, and its translation.
type message struct {
	english string
	letters int    // of the format's own
	longest string // run of them: what a text must hold to be looked at closer
	pattern func() *regexp.Regexp
	said    []part
}

// part is a piece of a format: text, or a value.
type part struct {
	text  string
	value int  // from 1; 0: none
	verb  byte // of the value
}

// verb is one of fmt's, with the number of its value as in %[2]s.
var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0-9.]*([a-zA-Z%])`)

// isText marks a value of a translation that is a text itself, to be translated too.
const isText = 't'

// fewLetters is less than a message is recognised by.
const fewLetters = 8

// Values as fmt writes them. One that begins with a quotation has all of it, so that
// nothing in it is taken for a part of the message.
const (
	quotation = `"(?:[^"\\]|\\.)*"`
	anything  = `(|` + quotation + `.*?|[^"].*?)`
)

var written = map[byte]string{'d': `(-?\d+)`, 'q': `(` + quotation + `|\[.*?\])`, 'f': `(\S+)`, 'g': `(\S+)`}

func newMessage(english, said string) (message, error) {
	from, count, err := split(english)
	if err != nil {
		return message{}, err
	}
	m := message{english: english}
	var pattern strings.Builder
	pattern.WriteString(`(?s)^`)
	for i, p := range from {
		switch {
		case p.value == 0:
			m.letters += len(p.text)
			if len(p.text) > len(m.longest) {
				m.longest = p.text
			}
			pattern.WriteString(regexp.QuoteMeta(p.text))
		case written[p.verb] != "":
			pattern.WriteString(written[p.verb])
		default:
			pattern.WriteString(anything)
		}
		if p.value > 0 && i > 0 && from[i-1].value > 0 {
			return message{}, fmt.Errorf("two values without a text between them cannot be told apart")
		}
	}
	m.pattern = sync.OnceValue(func() *regexp.Regexp { // most are never looked for
		return regexp.MustCompile(pattern.String() + `$`) // quoted, or one of ours
	})
	var used int
	if m.said, used, err = split(said); err != nil {
		return message{}, err
	}
	if used > count {
		return message{}, fmt.Errorf("it has %d values, the translation names number %d", count, used)
	}
	return m, nil
}

// split cuts a format, and gives the highest number of its values.
func split(format string) (parts []part, highest int, err error) {
	next, at := 1, 0
	literal := ""
	for _, found := range verb.FindAllStringSubmatchIndex(format, -1) {
		literal += format[at:found[0]]
		at = found[1]
		letter := format[found[4]]
		if letter == '%' {
			literal += "%"
			continue
		}
		if found[2] >= 0 {
			if next, err = strconv.Atoi(format[found[2]:found[3]]); err != nil || next < 1 {
				return nil, 0, fmt.Errorf("%s is no number of a value", format[found[2]:found[3]])
			}
		}
		if literal != "" {
			parts, literal = append(parts, part{text: literal}), ""
		}
		parts = append(parts, part{value: next, verb: letter})
		highest = max(highest, next)
		next++
	}
	if literal += format[at:]; literal != "" {
		parts = append(parts, part{text: literal})
	}
	return parts, highest, nil
}

// plain gives the text of a message that has no values.
func (m *message) plain() (text string, ok bool) {
	parts, highest, err := split(m.english)
	if err != nil || highest > 0 || len(parts) == 0 {
		return "", false
	}
	return parts[0].text, true
}

// match gives the values of a text that this message is.
func (m *message) match(english string) (values []string, ok bool) {
	if !strings.Contains(english, m.longest) {
		return nil, false
	}
	found := m.pattern().FindStringSubmatch(english)
	if found == nil {
		return nil, false
	}
	return found[1:], true
}

// say writes the translation; read is for the values that are texts. A message of few
// letters is meant only where one of these is known: it fits almost anything.
func (m *message) say(values []string, read func(string) reading) reading {
	var out strings.Builder
	all, texts := reading{known: m.letters}, false
	for _, p := range m.said {
		text := p.text
		if p.value > 0 {
			text = values[p.value-1]
		}
		if p.verb == isText {
			inner := read(text)
			text, texts = inner.said, true
			all.known += inner.known
		}
		if touch(out.String(), text) {
			out.WriteByte(' ')
		}
		out.WriteString(text)
	}
	if texts && all.known < fewLetters {
		return reading{}
	}
	all.said = out.String()
	return all
}

// touch reports whether Han and Latin would meet without a space.
func touch(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	return unicode.Is(unicode.Han, last) && isLatin(next) || isLatin(last) && unicode.Is(unicode.Han, next)
}

// isLatin reports whether a rune is of a word or a value in Latin script.
func isLatin(r rune) bool {
	return r > ' ' && r < unicode.MaxASCII && !strings.ContainsRune(",;:", r)
}
