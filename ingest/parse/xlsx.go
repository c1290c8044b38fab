package parse

import (
	"bytes"

	"github.com/xuri/excelize/v2"
)

func init() { formats[".xlsx"], formats[".xlsm"] = readXLSX, readXLSX }

// readXLSX makes a section of each sheet, whose rows have the names of the sheet's first row.
func readXLSX(f *file) ([]section, error) {
	if _, err := openArchive(f.source); err != nil {
		return nil, err
	}
	book, err := excelize.OpenReader(bytes.NewReader(f.source), excelize.Options{
		UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxUnpacked,
	})
	if err != nil {
		return nil, damaged(err)
	}
	defer func() { _ = book.Close() }() // it is in memory
	var all []section
	for _, sheet := range book.GetSheetList() {
		sections, err := readSheet(book, sheet)
		if err != nil {
			return nil, err
		}
		all = append(all, sections...)
	}
	return all, nil
}

func readSheet(book *excelize.File, sheet string) ([]section, error) {
	if kind, err := book.GetSheetVisible(sheet); err == nil && !kind {
		return nil, nil // nobody sees it
	}
	rows, err := book.Rows(sheet)
	if err != nil {
		return nil, nil //nolint:nilerr // a sheet of another kind, such as a chart
	}
	defer func() { _ = rows.Close() }() // it is in memory
	var t tableReader
	t.enter(1, sheet)
	for rows.Next() {
		cells, err := rows.Columns()
		if err != nil {
			return nil, damaged(err)
		}
		if !anyText(cells) {
			continue
		}
		if err := t.row(cells, 0, 0); err != nil {
			return nil, err
		}
	}
	if err := rows.Error(); err != nil {
		return nil, damaged(err)
	}
	return t.end()
}

func anyText(cells []string) bool {
	for _, cell := range cells {
		if !blank(cell) {
			return true
		}
	}
	return false
}
