package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
)

// rowImport is an import of files into the gateway, and what was odd about it.
type rowImport struct {
	program *program
	report  exchange.Report
	name    string // of the file that was read last
}

// open reads a file, of a folder where there is one, or standard input.
func (in *rowImport) open(
	folder *exchange.Folder, path, format string, read func(*exchange.File, io.Reader) error,
) error {
	in.name = path
	if folder != nil {
		in.name = folder.Name(path)
	}
	var r io.Reader = in.program.stdin
	if path == "-" {
		in.name = "standard input"
	} else {
		file, err := os.Open(path) //nolint:gosec // the user names it
		if err != nil {
			return fault.Wrap(fault.NotFound, err, "reading %s", path)
		}
		defer func() { _ = file.Close() }() // it was only read
		r = file
	}
	return read(&exchange.File{Name: in.name, Format: exchange.Format(format), Report: &in.report}, r)
}

// rows are what is sent, and where to.
type rows struct {
	path, what, file string
	n                int
	line             func(i int) int // of a row in the file
}

// send sends rows in calls that the gateway takes; those that were refused go into the report.
func (in *rowImport) send(ctx context.Context, c *client, all rows, part func(from, to int) any) error {
	bar := newProgress(in.program.stderr, all.what, int64(all.n), inPieces)
	defer bar.finish()
	stored := 0
	for from := 0; from < all.n; from += library.MaxPage {
		to := min(from+library.MaxPage, all.n)
		var outcome library.Outcome
		if err := c.post(ctx, all.path, part(from, to), &outcome); err != nil {
			return err
		}
		stored += outcome.Stored
		for _, f := range outcome.Failed {
			in.report.Add(all.file, exchange.Refused, all.line(from+f.Row), "%s", f.Detail)
		}
		for _, r := range outcome.Replaced {
			in.report.Add(all.file, exchange.TextReplaced, all.line(from+r.Row), "query %q was %q", r.ID, r.Before)
		}
		bar.add(int64(to - from))
	}
	_, err := fmt.Fprintf(in.program.stdout, "%s: %d stored, %d refused\n", all.what, stored, in.report.LeftOutOf(all.file))
	return err
}

// judgments sends judgments into a list. Those beyond its scale are told, and not sent.
func (in *rowImport) judgments(ctx context.Context, c *client, list string, read []exchange.Judgment) error {
	var described library.JudgmentList
	if err := c.get(ctx, pathOf(listsPath, list), &described); err != nil {
		return err
	}
	fit := make([]exchange.Judgment, 0, len(read))
	for _, j := range read {
		if j.Grade > described.MaxGrade {
			in.report.Add(in.name, exchange.BeyondScale, j.Line, "query %q, document %q: %d", j.QueryID, j.Of(), j.Grade)
			continue
		}
		j.Grade = max(0, j.Grade) // told when it was read
		fit = append(fit, j)
	}
	if len(fit) < len(read) {
		in.report.Say(exchange.BeyondScale, beyond(list, described.MaxGrade, highestOf(read)))
	}
	to := rows{path: pathOf(listsPath, list) + "/judgments", what: "judgments", n: len(fit), file: in.name}
	to.line = func(i int) int { return fit[i].Line }
	return in.send(ctx, c, to, func(from, to int) any {
		var part gateway.JudgmentRows
		for i := range fit[from:to] {
			part.Judgments = append(part.Judgments, fit[from+i].Judgment)
		}
		return part
	})
}

// beyond says what would hold grades that a list does not.
func beyond(list string, scale, highest int) string {
	if highest > library.MaxGrade {
		return fmt.Sprintf("not stored: list %s has grades 0 to %d, and no list has more than %d; map the grades of the file to that",
			list, scale, library.MaxGrade)
	}
	return fmt.Sprintf("not stored: list %s has grades 0 to %d; one that is made with --max-grade %d holds them all",
		list, scale, highest)
}

// finish tells what was odd. Rows that were left out or refused end the command with 1.
func (in *rowImport) finish(err error) error {
	if told := in.report.Write(in.program.stderr, oddPrefix); err == nil {
		err = told
	}
	if err == nil && in.report.LeftOut() > 0 {
		return errReported
	}
	return err
}
