package exchange

import (
	"fmt"
	"slices"

	"github.com/hybridge-search/hybridge/evaluation/library"
)

// Store sends rows and reports refused ones.
type Store struct {
	Report *Report
	File   string
}

// Queries stores queries by calls of put, which takes some at a time, and gives how many were stored.
func (s Store) Queries(all []Query, put func([]library.Query) (*library.Outcome, error)) (stored int, err error) {
	return inParts(s, all, func(q *Query) (library.Query, int) { return q.Query, q.Line }, put)
}

// Judgments stores judgments in a list. Those beyond its scale are told, and not stored.
func (s Store) Judgments(
	list *library.JudgmentList, all []Judgment, put func([]library.Judgment) (*library.Outcome, error),
) (stored int, err error) {
	return inParts(s, s.within(list, all), func(j *Judgment) (library.Judgment, int) { return j.Judgment, j.Line }, put)
}

// inParts stores rows by calls of put, each with at most library.MaxPage of them, and notes those that were refused by
// their lines. row gives what is stored of a row, and its line.
func inParts[Row, Stored any](
	s Store, all []Row, row func(*Row) (Stored, int), put func([]Stored) (*library.Outcome, error),
) (stored int, err error) {
	for part := range slices.Chunk(all, library.MaxPage) {
		rows, lines := make([]Stored, len(part)), make([]int, len(part))
		for i := range part {
			rows[i], lines[i] = row(&part[i])
		}
		outcome, err := put(rows)
		if err != nil {
			return stored, err
		}
		stored += outcome.Stored
		s.refused(outcome, func(i int) int { return lines[i] })
	}
	return stored, nil
}

// within are the judgments that the scale of a list has room for.
func (s Store) within(list *library.JudgmentList, all []Judgment) []Judgment {
	fit := make([]Judgment, 0, len(all))
	for _, j := range all {
		if j.Grade > list.MaxGrade {
			s.Report.Add(s.File, BeyondScale, j.Line, "document %s of query %s: %d", short(j.Of()), short(j.QueryID), j.Grade)
			continue
		}
		j.Grade = max(0, j.Grade) // it was told when it was read
		fit = append(fit, j)
	}
	switch highest := Highest(all); {
	case highest <= list.MaxGrade:
	case highest <= library.MaxGrade:
		s.Report.Say(BeyondScale, fmt.Sprintf(
			"not stored: list %s has grades 0 to %d; one that is made with --max-grade %d (max_grade) holds them all",
			list.ID, list.MaxGrade, highest))
	default:
		s.Report.Say(BeyondScale, fmt.Sprintf(
			"not stored: list %s has grades 0 to %d, and --max-grade (max_grade) is at most %d; map the grades to that",
			list.ID, list.MaxGrade, library.MaxGrade))
	}
	return fit
}

// Highest is the highest grade, at least 1.
func Highest(all []Judgment) int {
	highest := 1
	for i := range all {
		highest = max(highest, all[i].Grade)
	}
	return highest
}

// refused tells which rows of a call were refused, or replaced a text.
func (s Store) refused(outcome *library.Outcome, line func(i int) int) {
	for _, f := range outcome.Failed {
		s.Report.Add(s.File, Refused, line(f.Row), "%s", f.Detail)
	}
	for _, r := range outcome.Replaced {
		s.Report.Add(s.File, TextReplaced, line(r.Row), "query %s was %s", short(r.ID), short(r.Before))
	}
}
