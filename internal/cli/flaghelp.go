package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/hybridge-search/hybridge/locale"
)

// flags lists flags in two columns: how a flag is written, and what it does.
func (out *Printer) flags(heading string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	var written, texts []string
	widest := 0
	flags.VisitAll(func(f *pflag.Flag) {
		line := "      --" + f.Name
		if f.Shorthand != "" {
			line = "  -" + f.Shorthand + ", --" + f.Name
		}
		kind, usage := pflag.UnquoteUsage(f)
		if kind != "" {
			line += " " + out.Say("%s", locale.Text(kind))
		}
		widest = max(widest, terminal.StringWidth(line))
		written, texts = append(written, line), append(texts, usage+out.defaultOf(f))
	})
	out.Line("\n%s:", out.Say("%s", locale.Text(heading)))
	const between = 3
	indent := strings.Repeat(" ", widest+between)
	for i, line := range written {
		gap := strings.Repeat(" ", widest+between-terminal.StringWidth(line))
		out.Line("%s%s%s", line, gap, wrapped(texts[i], indent, columns(os.Stdout)))
	}
}

// defaultOf says what a flag is without being given, unless that is nothing.
func (out *Printer) defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "false", "0s":
		return ""
	}
	value := f.DefValue
	if kind := f.Value.(described).Value.Type(); kind == "string" {
		value = fmt.Sprintf("%q", value)
	}
	return out.Say(" (default %s)", value)
}

// described is a value whose type is written for people.
type described struct{ pflag.Value }

// Type implements pflag.Value.
func (d described) Type() string {
	switch kind := d.Value.Type(); kind {
	case "stringArray", "stringSlice":
		return "string"
	case "stringToString":
		return "name=value"
	case "float64":
		return "number"
	case "int":
		return "number"
	default:
		return kind
	}
}

// columns is the maximum width of the help.
func columns(w io.Writer) int {
	const most, least = 120, 60
	if file, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return min(most, max(least, width))
		}
	}
	return most
}
