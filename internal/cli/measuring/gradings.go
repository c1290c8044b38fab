package measuring

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/evaluation/judge"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/cli"
)

func listGradeCommand(p *cli.Program) *cobra.Command {
	f := &runFlags{}
	var req runs.GradeRequest
	var rubric string
	cmd := &cobra.Command{
		Use:   "grade LIST",
		Short: "Have a model grade hits by a rubric",
		Long: `The model of judge.url grades the best hits of presets and systems, and what another list has grades for, into
a list that was made with --source model. It waits for the end; what has a grade by the same model and rubric is not
asked for again, so that a repeated command goes on where one ended. How far the grades are to be trusted says
hybridge judgments agreement.`,
		Example: `  hybridge judgments create model --query-set faq --source model
  hybridge judgments grade model --like people
  hybridge judgments grade model --presets balanced,text --depth 10 --rubric rubric.txt`,
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.presets, "presets", nil, "Presets whose top hits are graded")
	flags.StringArrayVar(&f.systems, "system", nil, `Custom search whose hits are graded: NAME={"preset":"…", …}`)
	flags.StringSliceVar(&f.bases, "kb", nil, "Knowledge bases to search (default: those of the query set)")
	flags.IntVar(&req.Depth, "depth", 10, "Number of hits of each to grade")
	flags.StringVar(&req.Like, "like", "", "Also grade what this judgment list has grades for")
	flags.StringVar(&rubric, "rubric", "", "File with one line per grade, from 0 on (default: grades 0 to 3)")
	asJSON := cli.AddJSON(flags)
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if req.Systems, err = f.measured(); err != nil {
			return err
		}
		if rubric != "" {
			text, err := p.ReadText(rubric)
			if err != nil {
				return err
			}
			req.Rubric = strings.Split(strings.TrimSpace(text), "\n")
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			job := &jobs.Job{}
			if err := c.Post(ctx, pathOf(cli.ListsPath, args[0])+"/grade", &req, job); err != nil {
				return err
			}
			if err := awaitJob(ctx, p, c, job, "queries"); err != nil {
				return err
			}
			return p.Done(*asJSON, "graded", args[0])
		})
	}
	return cmd
}

// awaitJob waits until a job has ended. Where the wait is broken off the job is too.
func awaitJob(ctx context.Context, p *cli.Program, c *cli.Client, job *jobs.Job, what string) error {
	bar := cli.NewProgress(p.Stderr, what, int64(job.Progress.Total), cli.InPieces)
	defer bar.Finish()
	before := 0
	err := await(ctx, c, pathOf("/v1/jobs", job.ID), job, func() bool {
		bar.Add(int64(job.Progress.Done - before))
		before = job.Progress.Done
		return job.State == jobs.Running
	})
	if err == nil && job.State != jobs.Succeeded {
		reason := string(job.State)
		if len(job.Errors) > 0 {
			reason = job.Errors[0].Detail
		}
		return fault.New(fault.Unavailable, "job %s: %s", job.ID, reason)
	}
	return err
}

func listAgreementCommand(p *cli.Program) *cobra.Command {
	var with string
	cmd := &cobra.Command{
		Use: "agreement LIST", Short: "Measure the agreement of two judgment lists",
		Example: "  hybridge judgments agreement model --with people",
	}
	cmd.Flags().StringVar(&with, "with", "", "The other list, of the same query set and scale")
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if with == "" {
			return cli.MissingFlag("--with", "the judgment list to compare with")
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			var a judge.Agreement
			path := pathOf(cli.ListsPath, args[0]) + "/agreement?with=" + url.QueryEscape(with)
			if err := c.Get(ctx, path, &a); err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(p.Stdout, a)
			}
			return printAgreement(p, &a, args[0], with)
		})
	}
	return cmd
}

func printAgreement(p *cli.Program, a *judge.Agreement, list, with string) error {
	out := &cli.Printer{W: p.Stdout}
	out.Line("%d judgments in both, %.1f %% of them equal", a.Pairs, 100*a.Exact)
	switch {
	case a.Kappa == nil:
		out.Line("kappa: not defined")
	case a.Low == nil:
		out.Line("kappa (quadratic weights): %.3f", *a.Kappa)
	default:
		out.Line("kappa (quadratic weights): %.3f [%.3f, %.3f]", *a.Kappa, *a.Low, *a.High)
	}
	out.Line("%s grades %+.2f higher than %s", list, a.Bias, with)
	if out.Err != nil || a.Pairs == 0 {
		return out.Err
	}
	rows := cli.NewTable(p.Stdout)
	head := list + "\\" + with
	for grade := range a.Confusion {
		head += fmt.Sprintf("\t%d", grade)
	}
	rows.Line("%s", head)
	for grade, counts := range a.Confusion {
		row := fmt.Sprint(grade)
		for _, n := range counts {
			row += fmt.Sprintf("\t%d", n)
		}
		rows.Line("%s", row)
	}
	return rows.Flush()
}
