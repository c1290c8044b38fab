package exchange

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// unrated is the column of a query that a row has alone.
const unrated = " unrated"

// cells gives each row of a table to take; rows that are no such rows are told.
func (f *File) cells(r io.Reader, comma rune, take func(line int, row []string) error) error {
	table := csv.NewReader(&cleaned{lines: f.lineReader(r), blank: true, quotes: comma == ','})
	table.Comma, table.FieldsPerRecord, table.LazyQuotes = comma, -1, comma == '\t'
	for {
		row, err := table.Read()
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &wrong):
			f.Report.Add(f.Name, Broken, wrong.StartLine, "%s", wrong.Err.Error())
			continue
		case err != nil:
			return fault.Wrap(fault.InvalidArgument, err, "read %s", f.Name)
		}
		line, _ := table.FieldPos(0)
		if err := take(line, row); err != nil {
			return err
		}
	}
}

// table reads CSV with a header. Of each group of columns it must have one. Where the first row ends in a number and
// has as many columns as plain, it is no header, and plain are the columns; nil: there must be one.
func (f *File) table(
	r io.Reader, needed [][]string, plain []string, take func(line int, row map[string]string),
) error {
	var header []string
	return f.cells(r, ',', func(line int, row []string) error {
		if header == nil {
			if header = f.header(line, row, plain); len(header) != 0 {
				return f.checkHeader(header, needed)
			}
			header = plain
		}
		if len(row) != len(header) && (len(row) != 1 || header[0] != "query") {
			f.Report.Add(f.Name, WrongColumns, line, "%d; the header has %d", len(row), len(header))
			return nil
		}
		named := make(map[string]string, len(header))
		for i, cell := range row {
			named[header[i]] = cell
		}
		if len(row) < len(header) { // Quepid says so that a query has no ratings
			named[unrated] = row[0]
		}
		take(line, named)
		return nil
	})
}

// header gives the names of columns; none where the first row is no header.
func (f *File) header(line int, row, plain []string) []string {
	if _, is := number(row[len(row)-1]); is && len(row) == len(plain) {
		f.Report.Add(f.Name, NoHeader, line, "taken for %s", strings.Join(plain, ","))
		f.Report.Say(NoHeader, "the first line is read as a row")
		return nil
	}
	names := make([]string, len(row))
	for i, name := range row {
		names[i] = strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
	}
	return names
}

func (f *File) checkHeader(header []string, needed [][]string) error {
	for _, group := range needed {
		if !slices.ContainsFunc(group, func(name string) bool { return slices.Contains(header, name) }) {
			return fault.New(fault.InvalidArgument, "the header is %q; it must have a column %s",
				strings.Join(header, ","), strings.Join(group, " or "))
		}
	}
	return nil
}

func first(row map[string]string, names ...string) string {
	for _, name := range names {
		if row[name] != "" {
			return row[name]
		}
	}
	return ""
}
