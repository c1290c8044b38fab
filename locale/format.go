package locale

import (
	"fmt"
	"strings"
)

// Text is an English text among the values of a format: it is translated where the format is.
type Text string

// Format is fmt.Sprintf in the language. The format is looked up as it is, or else the cells of a row of a table one by
// one: their translations then have the values in the same order.
func (l *Language) Format(format string, args ...any) string {
	if l == nil {
		return fmt.Sprintf(format, args...)
	}
	said, ok := l.catalog().formats[format]
	if !ok {
		said = l.cells(format)
	}
	return fmt.Sprintf(verb.ReplaceAllStringFunc(said, asGo), l.values(said, args)...)
}

// asGo writes a verb of a catalog as fmt takes it: the number of the value last, and a text as any other value.
func asGo(v string) string {
	found := verb.FindStringSubmatch(v)
	number, letter := found[1], found[2]
	if letter == "%" {
		return v
	}
	flags := strings.TrimSuffix(v[1:], letter)
	if number != "" {
		number = "[" + number + "]"
		flags = strings.TrimPrefix(flags, number)
	}
	if letter == string(isText) {
		letter = "v"
	}
	return "%" + flags + number + letter
}

// cells translates the cells of a row, and keeps the space around them.
func (l *Language) cells(format string) string {
	cells := strings.Split(format, "\t")
	for i, cell := range cells {
		core := strings.Trim(cell, " \n")
		if said, ok := l.catalog().formats[core]; ok {
			cells[i] = strings.Replace(cell, core, said, 1)
		}
	}
	return strings.Join(cells, "\t")
}

// values translates the texts and errors among the values, and those that the translation calls texts.
func (l *Language) values(said string, args []any) []any {
	nested := map[int]bool{}
	if parts, _, err := split(said); err == nil {
		for _, p := range parts {
			nested[p.value] = nested[p.value] || p.verb == isText
		}
	}
	values := make([]any, len(args))
	for i, arg := range args {
		values[i] = arg
		switch text := arg.(type) {
		case Text:
			values[i] = l.Lines(string(text))
		case error:
			values[i] = l.Lines(text.Error())
		case string:
			if nested[i+1] {
				values[i] = l.Text(text)
			}
		}
	}
	return values
}

// Lines translates a text, or else each line of it: several errors that were joined are one text.
func (l *Language) Lines(english string) string {
	said := l.Text(english)
	if said != english || !strings.Contains(english, "\n") {
		return said
	}
	lines := strings.Split(english, "\n")
	for i := range lines {
		lines[i] = l.Text(lines[i])
	}
	return strings.Join(lines, "\n")
}
