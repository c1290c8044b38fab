package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/pflag"
)

// AddJSON adds the flag --json.
func AddJSON(flags *pflag.FlagSet) *bool {
	return flags.Bool("json", false, "Print JSON")
}

// PrintJSON writes a value as indented JSON.
func PrintJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// Counted returns "1 key" or "3 keys".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Printer writes lines and keeps the first error, so that one check is enough.
type Printer struct {
	W   io.Writer
	Err error
}

// Line writes a line.
func (p *Printer) Line(format string, args ...any) {
	if p.Err == nil {
		_, p.Err = io.WriteString(p.W, p.Say(format, args...)+"\n")
	}
}

// Say is a part of a line, in the language of whoever reads it.
func (p *Printer) Say(format string, args ...any) string {
	return readerOf(p.W).Format(format, args...)
}

// CountedQueries returns "1 query" or "3 queries".
func CountedQueries(n int) string {
	if n == 1 {
		return "1 query"
	}
	return fmt.Sprintf("%d queries", n)
}

// Plain puts text on one line and removes control characters, because others wrote it and a
// terminal would obey them.
func Plain(text string) string {
	fold := func(r rune) rune {
		switch {
		case string(r) == MarkStart || string(r) == MarkEnd:
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		default:
			return r
		}
	}
	return strings.Join(strings.Fields(strings.Map(fold, text)), " ")
}

// MarkStart and markEnd are around marked words until they are replaced by colours or
// asterisks. Texts do not contain them.
const (
	MarkStart = "\x02"
	MarkEnd   = "\x03"
)
