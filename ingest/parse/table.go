package parse

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

func init() {
	formats[".csv"], formats[".tsv"] = ofText(readCSV), ofText(readCSV)
}

// readCSV makes a block of each row, with the names that the first row gives its values.
func readCSV(f *file) ([]section, error) {
	rows := csv.NewReader(bytes.NewReader(f.source))
	rows.Comma, rows.LazyQuotes, rows.FieldsPerRecord = separator(f.source), true, -1
	var t tableReader
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return t.end()
		}
		if err != nil {
			return nil, refused("not a table of separated values: %v", err)
		}
		line, _ := rows.FieldPos(0)
		last, _ := rows.FieldPos(len(cells) - 1)
		last += strings.Count(cells[len(cells)-1], "\n")
		if err := t.row(cells, line, last); err != nil {
			return nil, err
		}
	}
}

// separator returns the most frequent of comma, semicolon, tab and bar in the first line.
func separator(source []byte) rune {
	first, _, _ := bytes.Cut(source, []byte("\n"))
	best, most := ',', 0
	for _, r := range ",;\t|" {
		if n := bytes.Count(first, []byte(string(r))); n > most {
			best, most = r, n
		}
	}
	return best
}

// tableReader makes blocks of rows.
type tableReader struct {
	headings
	names []string // of the columns
	only  block    // the first row
	cells int
}

// row adds a row, of which the first names the columns.
func (t *tableReader) row(cells []string, first, last int) error {
	if t.cells += len(cells); t.cells > maxCells {
		return refused("more than %d cells of tables", maxCells)
	}
	if t.names == nil {
		for _, cell := range cells {
			t.names = append(t.names, oneLine(cell))
		}
		t.only = block{text: strings.Join(t.names, " | "), first: first, last: last, byLines: true}
		return nil
	}
	t.only.text = ""
	var values []string
	for i, cell := range cells {
		cell = oneLine(cell)
		switch {
		case cell == "":
		case i < len(t.names) && t.names[i] != "":
			values = append(values, t.names[i]+": "+cell)
		default:
			values = append(values, cell)
		}
	}
	t.add(block{text: strings.Join(values, "; "), first: first, last: last, tight: true})
	return nil
}

// end gives what was read; a row alone is text.
func (t *tableReader) end() ([]section, error) {
	if t.only.text != "" {
		t.add(t.only)
	}
	return t.sections, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
