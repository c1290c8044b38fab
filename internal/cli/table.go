package cli

import (
	"bytes"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/hybridge-search/hybridge/locale"
)

// terminal measures the width of texts; ambiguous characters are narrow, wherever the program runs.
var terminal = &runewidth.Condition{}

// Table aligns columns that are separated by tabs, by how wide a terminal shows their texts: a
// Chinese character takes two places. The standard library's tabwriter counts one.
type Table struct {
	bytes.Buffer
	out io.Writer
}

// NewTable makes a table that is written to out.
func NewTable(out io.Writer) *Table { return &Table{out: out} }

// Line adds a line.
func (t *Table) Line(format string, args ...any) {
	t.WriteString(t.readBy().Format(format, args...) + "\n")
}

func (t *Table) readBy() *locale.Language { return readerOf(t.out) }

// Flush writes the lines.
func (t *Table) Flush() error {
	const between = "  "
	var rows [][]string
	var widths []int
	for line := range strings.Lines(t.String()) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		rows = append(rows, row)
		for i, cell := range row[:len(row)-1] { // the last one may be as long as it likes
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], terminal.StringWidth(cell))
		}
	}
	var aligned strings.Builder
	for _, row := range rows {
		last := len(row) - 1
		for i, cell := range row[:last] {
			aligned.WriteString(cell + strings.Repeat(" ", widths[i]-terminal.StringWidth(cell)) + between)
		}
		aligned.WriteString(row[last] + "\n")
	}
	_, err := io.WriteString(t.out, aligned.String())
	return err
}
