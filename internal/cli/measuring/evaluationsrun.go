package measuring

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

func evaluationsCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evaluations",
		Short: "Measure presets on stored query sets, over knowledge bases in use",
		Long: `Measures on query sets that the gateway keeps, over its knowledge bases as they are. hybridge eval measures
on folders, in knowledge bases of its own.`,
	}
	cmd.AddCommand(evaluationsRunCommand(p), evaluationsResumeCommand(p), evaluationsListCommand(p),
		evaluationsShowCommand(p), evaluationsUnjudgedCommand(p),
		cancelIn(p, cli.EvaluationsPath, &cobra.Command{
			Use: "cancel EVALUATION", Short: "Cancel an evaluation; its results so far stay",
		}),
		deleteFrom(p, cli.EvaluationsPath, &cobra.Command{Use: "delete EVALUATION", Short: "Delete an evaluation"}))
	return cmd
}

// runFlags are the flags of an evaluation.
type runFlags struct {
	request          runs.Request
	presets, systems []string
	bases            []string
	background, json bool
	compare          compareFlags
}

func evaluationsRunCommand(p *cli.Program) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure presets on a query set",
		Long: `Asks every judged query of the set by every preset and system, and waits for the result. It can be stopped, and
continued with resume. --baseline names an earlier evaluation; --fail-if exits with 1, as with hybridge eval.`,
		Example: `  hybridge evaluations run --query-set faq --judgments people --presets balanced,rrf
  hybridge evaluations run --query-set faq --judgments people --system 'more={"preset":"balanced","candidates":200}'
  hybridge evaluations run --query-set faq --judgments people --presets balanced --baseline 20260101-120000-abc123 \
    --fail-if 'ndcg@10 < -0.005 p<0.05'`,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.request.QuerySet, "query-set", "", "The query set")
	flags.StringVar(&f.request.Judgments, "judgments", "", "The judgment list")
	flags.StringSliceVar(&f.presets, "presets", []string{"text", "vector", "rrf", "balanced"}, "Presets to measure")
	flags.StringArrayVar(&f.systems, "system", nil, `Custom search to measure: NAME={"preset":"…", …}`)
	flags.StringSliceVar(&f.bases, "kb", nil, "Search these knowledge bases (default: the query set's)")
	flags.StringToStringVar(&f.request.JudgedAs, "judged-as", nil, "KB=OTHER: use the judgments of OTHER for KB")
	flags.StringVar(&f.request.Name, "name", "", "Display name")
	flags.BoolVar(&f.background, "background", false, "Do not wait; needs a running gateway")
	f.compare.add(flags)
	flags.Lookup("baseline").Usage = "Compare with an earlier evaluation, by its ID"
	flags.BoolVar(&f.json, "json", false, "Print JSON")
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runEvaluation(p, cmd, f) }
	return cmd
}

func runEvaluation(p *cli.Program, cmd *cobra.Command, f *runFlags) error {
	if f.request.QuerySet == "" {
		return cli.MissingFlag("--query-set", "a query set, as hybridge query-sets list shows them")
	}
	if f.request.Judgments == "" {
		return cli.MissingFlag("--judgments", "a judgment list, as hybridge judgments list shows them")
	}
	comparing, err := openRules(cmd.Flags(), &f.compare)
	if err != nil {
		return err
	}
	f.request.Against, f.request.Metrics = f.compare.against, f.compare.metrics
	if f.request.Systems, err = f.measured(); err != nil {
		return err
	}
	return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
		e := &runs.Evaluation{}
		if err := c.Post(ctx, cli.EvaluationsPath, f.request, e); err != nil {
			return err
		}
		if f.background {
			return printEvaluation(p, e, f.json)
		}
		if err := awaitEvaluation(ctx, p, c, e); err != nil {
			return err
		}
		if err := comparing.fetch(ctx, c, e); err != nil {
			return err
		}
		return finishEvaluation(p, e, comparing, f.json)
	})
}

// measured are the systems, whose requests the gateway checks.
func (f *runFlags) measured() ([]runs.System, error) {
	var all []runs.System
	for _, name := range f.presets {
		all = append(all, runs.System{Name: name, Request: search.Request{Preset: name}})
	}
	for _, text := range f.systems {
		system, err := evaluation.ParseSystem(text)
		if err != nil {
			return nil, err
		}
		all = append(all, runs.System{Name: system.Name, Request: system.Request})
	}
	for i := range all {
		if len(f.bases) > 0 {
			all[i].Request.KnowledgeBases = f.bases
		}
	}
	return all, nil
}

// openRules is openComparing for a baseline that the gateway has; every evaluation has comparisons.
func openRules(flags *pflag.FlagSet, f *compareFlags) (*comparing, error) {
	if f.baseline != "" {
		if err := cli.LeftOut(flags, "--baseline", "against"); err != nil {
			return nil, err
		}
	}
	c := &comparing{flags: f}
	return c, c.open()
}

// fetch asks for the comparisons: of each system with itself in the baseline, or with the one that all are measured
// against.
func (c *comparing) fetch(ctx context.Context, from *cli.Client, e *runs.Evaluation) error {
	for i := range e.Systems {
		name := e.Systems[i].Name
		query := url.Values{"system": {name}, "against": {e.Against}}
		if c.flags.baseline != "" {
			query.Set("against", name)
			query.Set("baseline", c.flags.baseline)
		} else if name == e.Against {
			continue
		}
		for _, m := range c.metrics {
			query.Add("metric", m.Name)
		}
		compared := &evaluation.Comparison{}
		if err := from.Get(ctx, pathOf(cli.EvaluationsPath, e.ID)+"/comparison?"+query.Encode(), compared); err != nil {
			return err
		}
		c.done.All = append(c.done.All, compared)
	}
	return nil
}

// awaitEvaluation waits until it has ended. Where the wait is broken off the evaluation is too.
func awaitEvaluation(ctx context.Context, p *cli.Program, c *cli.Client, e *runs.Evaluation) error {
	bar := cli.NewProgress(p.Stderr, "searches", int64(e.Searches), cli.InPieces)
	defer bar.Finish()
	bar.Skip(int64(e.Answered))
	before := e.Answered
	err := await(ctx, c, pathOf(cli.EvaluationsPath, e.ID), e, func() bool {
		bar.Add(int64(e.Answered - before))
		before = e.Answered
		return e.State == runs.Running
	})
	switch {
	case fault.Is(err, fault.Canceled):
		return fault.Wrap(fault.Canceled, err, "hybridge evaluations resume %s goes on", e.ID)
	case err == nil && e.State != runs.Done:
		return fault.New(fault.Unavailable, "evaluation %s is %s: %s", e.ID, e.State, e.Error)
	default:
		return err
	}
}

// await reads what the gateway works on again and again, while it is running. Where the wait is broken off the work is
// cancelled.
func await[T any](ctx context.Context, c *cli.Client, path string, of *T, running func() bool) error {
	for running() {
		select {
		case <-time.After(cli.PollInterval):
		case <-ctx.Done():
		}
		next := new(T)
		err := c.Get(ctx, path, next)
		if ctx.Err() != nil {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			_ = c.Post(last, path+"/cancel", nil, nil) // it may have ended
			return fault.Wrap(fault.Canceled, ctx.Err(), "stopped")
		}
		if err != nil {
			return err
		}
		*of = *next
	}
	return nil
}

// finishEvaluation prints, writes the reports and looks at the rules.
func finishEvaluation(p *cli.Program, e *runs.Evaluation, c *comparing, inJSON bool) error {
	broken := c.finish(p.Stderr)
	e.Comparisons = c.done.All
	if inJSON {
		if err := cli.PrintJSON(p.Stdout, e); err != nil {
			return err
		}
		return broken
	}
	if err := printEvaluation(p, e, false); err != nil {
		return err
	}
	if err := c.done.WriteTables(p.Stdout); err != nil {
		return err
	}
	return broken
}

// printEvaluation prints the results of every system.
func printEvaluation(p *cli.Program, e *runs.Evaluation, inJSON bool) error {
	if inJSON {
		return cli.PrintJSON(p.Stdout, e)
	}
	out := &cli.Printer{W: p.Stdout}
	out.Line("evaluation %s: %s, %d of %d searches", e.ID, e.State, e.Answered, e.Searches)
	if e.Error != "" {
		out.Line("%s", e.Error)
	}
	if len(e.Results) == 0 || out.Err != nil {
		return out.Err
	}
	rows := cli.NewTable(p.Stdout)
	header := "SYSTEM\tQUERIES"
	for _, m := range e.Results[0].Metrics {
		header += "\t" + strings.ToUpper(m.Metric)
	}
	rows.Line("%s", header+"\tREFUSED WRONGLY\tRIGHTLY\tUNJUDGED\tFAILED\tMEDIAN MS")
	for i := range e.Results {
		r := &e.Results[i]
		line := fmt.Sprintf("%s\t%d", r.System, r.Queries)
		for _, m := range r.Metrics {
			line += fmt.Sprintf("\t%.4f [%.4f, %.4f]", m.Mean, m.Low, m.High)
		}
		rows.Line("%s\t%s\t%s\t%d\t%d\t%.1f", line, shareOf(r.WronglyRefused), shareOf(r.RightlyRefused),
			r.Unjudged, r.Failed, r.MedianMS)
	}
	return rows.Flush()
}

func shareOf(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100**share)
}

func evaluationsResumeCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "resume EVALUATION", Short: "Resume an evaluation that was interrupted"}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		e := &runs.Evaluation{}
		if err := c.Post(ctx, pathOf(cli.EvaluationsPath, args[0])+"/resume", nil, e); err != nil {
			return err
		}
		if err := awaitEvaluation(ctx, p, c, e); err != nil {
			return err
		}
		return printEvaluation(p, e, *asJSON)
	})
}

func evaluationsListCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List evaluations, the latest first"}
	columns := "ID\tSTATE\tQUERY SET\tJUDGMENTS\tSYSTEMS\tNAME"
	return cli.List(p, cmd, cli.EvaluationsPath, columns, func(e *runs.Evaluation) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", e.ID, e.State, e.QuerySet, e.Judgments,
			strings.Join(systemsOf(e), ", "), e.Name)
	})
}

func systemsOf(e *runs.Evaluation) (names []string) {
	for i := range e.Systems {
		names = append(names, e.Systems[i].Name)
	}
	return names
}

func evaluationsShowCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "show EVALUATION", Short: "Show an evaluation with its comparisons"}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		e := &runs.Evaluation{}
		if err := c.Get(ctx, pathOf(cli.EvaluationsPath, args[0]), e); err != nil {
			return err
		}
		if err := printEvaluation(p, e, *asJSON); err != nil || *asJSON {
			return err
		}
		return (&evaluation.Comparisons{All: e.Comparisons}).WriteTables(p.Stdout)
	})
}

func evaluationsUnjudgedCommand(p *cli.Program) *cobra.Command {
	var limit, depth int
	cmd := &cobra.Command{
		Use: "unjudged EVALUATION", Short: "Print unjudged hits, the most valuable to judge first",
		Long: "Prints JSON Lines; add a grade to each line for hybridge judgments import.",
	}
	cmd.Flags().IntVar(&limit, "limit", 100, "Maximum number of hits")
	cmd.Flags().IntVar(&depth, "depth", 10, "Number of hits of each answer to check")
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		var found quality.UnjudgedHits
		path := fmt.Sprintf("%s/unjudged?limit=%d&depth=%d", pathOf(cli.EvaluationsPath, args[0]), limit, depth)
		if err := c.Get(ctx, path, &found); err != nil {
			return err
		}
		return write(p, func(w io.Writer) error { return exchange.WriteLines(w, found.Unjudged) })
	})
}
