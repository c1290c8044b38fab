package exchange

import (
	"io"
	"slices"
	"strings"
)

// Columns of trec_eval's files.
const (
	qrelsColumns = 4 // query, 0, document, grade
	runColumns   = 6 // query, Q0, document, rank, score, system
	beirColumns  = 3 // query, document, grade
)

// beir reads query-id, corpus-id and score, separated by tabs. The first line is a header if its last column is none
// of a grade.
func (f *File) beir(r io.Reader, all *judgments) error {
	begun := false
	return f.cells(r, '\t', func(line int, row []string) error {
		isFirst := !begun
		begun = true
		if len(row) != beirColumns {
			f.Report.Add(f.Name, WrongColumns, line, "%d of %d: %s", len(row), beirColumns, short(strings.Join(row, "\t")))
			return nil
		}
		_, isRow := number(row[2])
		switch {
		case isFirst && isRow:
			f.Report.Add(f.Name, NoHeader, line, "%s", short(strings.Join(row, "\t")))
		case isFirst:
			if row[0] != "query-id" || row[1] != "corpus-id" {
				f.Report.Add(f.Name, Header, line, "%s", short(strings.Join(row, "\t")))
			}
			return nil
		}
		all.add(line, row[0], row[1], row[2])
		return nil
	})
}

// trec reads trec_eval's qrels, which have no header.
func (f *File) trec(r io.Reader, all *judgments) error {
	return f.columns(r, qrelsColumns, []int{1, 3}, func(line int, row []string) { all.add(line, row[0], row[2], row[3]) })
}

// run reads trec_eval's runs. Their ranks mean nothing: it orders by the scores.
func (f *File) run(r io.Reader, all *hits) error {
	return f.columns(r, runColumns, []int{3, 4}, func(line int, row []string) {
		all.add(line, row[5], row[0], row[2], row[4])
	})
}

// columns gives rows that are separated by spaces or tabs. A first one without any of the numbers is a header.
func (f *File) columns(r io.Reader, columns int, numbers []int, take func(line int, row []string)) error {
	begun := false
	return f.Lines(r, func(line int, text string) error {
		row := strings.FieldsFunc(text, isSpace)
		isFirst := !begun
		begun = true
		if len(row) != columns {
			f.Report.Add(f.Name, WrongColumns, line, "%d of %d: %s", len(row), columns, short(text))
			return nil
		}
		isRow := slices.ContainsFunc(numbers, func(i int) bool { _, is := number(row[i]); return is })
		if isFirst && !isRow {
			f.Report.Add(f.Name, Header, line, "%s", short(text))
			return nil
		}
		take(line, row)
		return nil
	})
}

// isSpace reports a space of trec_eval: ids may contain other spaces of Unicode.
func isSpace(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }

// HasSpace reports whether a text cannot stand in a file of trec_eval.
func HasSpace(text string) bool { return text == "" || strings.ContainsFunc(text, isSpace) }
