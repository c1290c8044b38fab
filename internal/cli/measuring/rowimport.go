package measuring

import (
	"context"
	"io"
	"os"

	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/offline"
	"github.com/hybridge-search/hybridge/locale"
)

// rowImport is an import of files into the gateway, with its oddities.
type rowImport struct {
	program *cli.Program
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
	r := in.program.Stdin
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

// queries sends queries.
func (in *rowImport) queries(ctx context.Context, c *cli.Client, set string, all []exchange.Query, replace bool) error {
	bar := cli.NewProgress(in.program.Stderr, "queries", int64(len(all)), cli.InPieces)
	defer bar.Finish()
	store := exchange.Store{Report: &in.report, File: in.name}
	stored, err := store.Queries(all, func(part []library.Query) (*library.Outcome, error) {
		outcome := &library.Outcome{}
		rows := quality.QueryRows{Queries: part, Replace: replace}
		err := c.Post(ctx, pathOf(cli.QuerySetsPath, set)+"/queries", rows, outcome)
		bar.Add(int64(len(part)))
		return outcome, err
	})
	return in.told("queries", stored, err)
}

// judgments sends judgments into a list.
func (in *rowImport) judgments(ctx context.Context, c *cli.Client, list string, read []exchange.Judgment) error {
	described := &library.JudgmentList{}
	if err := c.Get(ctx, pathOf(cli.ListsPath, list), described); err != nil {
		return err
	}
	bar := cli.NewProgress(in.program.Stderr, "judgments", int64(len(read)), cli.InPieces)
	defer bar.Finish()
	store := exchange.Store{Report: &in.report, File: in.name}
	stored, err := store.Judgments(described, read, func(part []library.Judgment) (*library.Outcome, error) {
		outcome := &library.Outcome{}
		err := c.Post(ctx, pathOf(cli.ListsPath, list)+"/judgments", quality.JudgmentRows{Judgments: part}, outcome)
		bar.Add(int64(len(part)))
		return outcome, err
	})
	return in.told("judgments", stored, err)
}

func (in *rowImport) told(what string, stored int, err error) error {
	if err != nil {
		return err
	}
	out := &cli.Printer{W: in.program.Stdout}
	out.Line("%s: %d stored, %d refused", locale.Text(what), stored, in.report.LeftOutOf(in.name))
	return out.Err
}

// finish reports oddities. Rows that were skipped or refused end the command with 1.
func (in *rowImport) finish(err error) error {
	if told := in.report.Write(in.program.Stderr, offline.OddPrefix); err == nil {
		err = told
	}
	if err == nil && in.report.LeftOut() > 0 {
		return cli.ErrReported
	}
	return err
}
