package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/search"
)

const evaluationsPath = "/v1/evaluations"

func (p *program) evaluationsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evaluations",
		Short: "Measure presets on stored query sets, over knowledge bases in use",
		Long: `Measures on query sets that the gateway keeps, over its knowledge bases as they are. hybridge eval measures
on folders, in knowledge bases of its own.`,
	}
	cmd.AddCommand(p.evaluationsRunCommand(), p.evaluationsResumeCommand(), p.evaluationsListCommand(),
		p.evaluationsShowCommand(), p.evaluationsUnjudgedCommand(), p.evaluationsCancelCommand(),
		p.deleteFrom(evaluationsPath, &cobra.Command{Use: "delete EVALUATION", Short: "Delete an evaluation"}))
	return cmd
}

// runFlags are those of an evaluation.
type runFlags struct {
	request          runs.Request
	presets, systems []string
	bases            []string
	background, json bool
	compare          compareFlags
}

func (p *program) evaluationsRunCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure presets on a query set",
		Long: `Asks every judged query of the set by every preset and system, and waits for the result. It can be stopped, and
gone on with by resume. --baseline names an earlier evaluation; --fail-if ends with 1, as that of hybridge eval does.`,
		Example: `  hybridge evaluations run --query-set faq --judgments people --presets balanced,rrf
  hybridge evaluations run --query-set faq --judgments people --system 'more={"preset":"balanced","candidates":200}'
  hybridge evaluations run --query-set faq --judgments people --presets balanced --baseline 20260101-120000-abc123 \
    --fail-if 'ndcg@10 < -0.005 p<0.05'`,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.request.QuerySet, "query-set", "", "The query set")
	flags.StringVar(&f.request.Judgments, "judgments", "", "The judgment list")
	flags.StringSliceVar(&f.presets, "presets", []string{"text", "vector", "rrf", "balanced"}, "Presets to measure")
	flags.StringArrayVar(&f.systems, "system", nil, `Another search to measure: NAME={"preset":"…", …}`)
	flags.StringSliceVar(&f.bases, "kb", nil, "Search these knowledge bases (default: the query set's)")
	flags.StringToStringVar(&f.request.JudgedAs, "judged-as", nil, "Knowledge base=the one whose judgments count for it")
	flags.StringVar(&f.request.Name, "name", "", "Name for people")
	flags.BoolVar(&f.background, "background", false, "Do not wait; needs a gateway that runs")
	f.compare.add(flags)
	flags.Lookup("baseline").Usage = "Compare with an earlier evaluation, by its id"
	flags.BoolVar(&f.json, "json", false, "Print JSON")
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return p.runEvaluation(cmd, f) }
	return cmd
}

func (p *program) runEvaluation(cmd *cobra.Command, f *runFlags) error {
	if f.request.QuerySet == "" {
		return missingFlag("--query-set", "a query set, as hybridge query-sets list shows them")
	}
	if f.request.Judgments == "" {
		return missingFlag("--judgments", "a judgment list, as hybridge judgments list shows them")
	}
	comparing, err := openRules(cmd.Flags(), &f.compare)
	if err != nil {
		return err
	}
	f.request.Against, f.request.Metrics = f.compare.against, f.compare.metrics
	if f.request.Systems, err = f.measured(); err != nil {
		return err
	}
	return p.withGateway(cmd, func(ctx context.Context, c *client) error {
		e := &runs.Evaluation{}
		if err := c.post(ctx, evaluationsPath, f.request, e); err != nil {
			return err
		}
		if f.background {
			return p.printEvaluation(e, f.json)
		}
		if err := p.awaitEvaluation(ctx, c, e); err != nil {
			return err
		}
		if err := comparing.fetch(ctx, c, e); err != nil {
			return err
		}
		return p.finishEvaluation(e, comparing, f.json)
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
		if err := leftOut(flags, "--baseline", "against"); err != nil {
			return nil, err
		}
	}
	c := &comparing{flags: f}
	return c, c.open()
}

// fetch asks for the comparisons: of each system with itself in the baseline, or with the one that all are measured
// against.
func (c *comparing) fetch(ctx context.Context, from *client, e *runs.Evaluation) error {
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
		if err := from.get(ctx, pathOf(evaluationsPath, e.ID)+"/comparison?"+query.Encode(), compared); err != nil {
			return err
		}
		c.done.All = append(c.done.All, compared)
	}
	return nil
}

// awaitEvaluation waits until it has ended. Where the wait is broken off the evaluation is too.
func (p *program) awaitEvaluation(ctx context.Context, c *client, e *runs.Evaluation) error {
	bar := newProgress(p.stderr, "searches", int64(e.Searches), inPieces)
	defer bar.finish()
	bar.skip(int64(e.Answered))
	before := e.Answered
	err := await(ctx, c, pathOf(evaluationsPath, e.ID), e, func() bool {
		bar.add(int64(e.Answered - before))
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
func await[T any](ctx context.Context, c *client, path string, of *T, running func() bool) error {
	for running() {
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
		}
		next := new(T)
		err := c.get(ctx, path, next)
		if ctx.Err() != nil {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			_ = c.post(last, path+"/cancel", nil, nil) // it may have ended
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
func (p *program) finishEvaluation(e *runs.Evaluation, c *comparing, inJSON bool) error {
	broken := c.finish(p.stderr)
	e.Comparisons = c.done.All
	if inJSON {
		if err := printJSON(p.stdout, e); err != nil {
			return err
		}
		return broken
	}
	if err := p.printEvaluation(e, false); err != nil {
		return err
	}
	if err := c.done.WriteTables(p.stdout); err != nil {
		return err
	}
	return broken
}

// printEvaluation prints what every system reached.
func (p *program) printEvaluation(e *runs.Evaluation, inJSON bool) error {
	if inJSON {
		return printJSON(p.stdout, e)
	}
	out := &printer{w: p.stdout}
	out.line("evaluation %s: %s, %d of %d searches", e.ID, e.State, e.Answered, e.Searches)
	if e.Error != "" {
		out.line("%s", e.Error)
	}
	if len(e.Results) == 0 || out.err != nil {
		return out.err
	}
	table := newTable(p.stdout)
	rows := &printer{w: table}
	header := "SYSTEM\tQUERIES"
	for _, m := range e.Results[0].Metrics {
		header += "\t" + strings.ToUpper(m.Metric)
	}
	rows.line("%s", header+"\tREFUSED WRONGLY\tRIGHTLY\tUNJUDGED\tFAILED\tMEDIAN MS")
	for i := range e.Results {
		r := &e.Results[i]
		line := fmt.Sprintf("%s\t%d", r.System, r.Queries)
		for _, m := range r.Metrics {
			line += fmt.Sprintf("\t%.4f [%.4f, %.4f]", m.Mean, m.Low, m.High)
		}
		rows.line("%s\t%s\t%s\t%d\t%d\t%.1f", line, shareOf(r.WronglyRefused), shareOf(r.RightlyRefused),
			r.Unjudged, r.Failed, r.MedianMS)
	}
	if rows.err != nil {
		return rows.err
	}
	return table.Flush()
}

func shareOf(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100**share)
}

func (p *program) evaluationsResumeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "resume EVALUATION", Short: "Go on with an evaluation that ended before its time"}
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			e := &runs.Evaluation{}
			if err := c.post(ctx, pathOf(evaluationsPath, args[0])+"/resume", nil, e); err != nil {
				return err
			}
			if err := p.awaitEvaluation(ctx, c, e); err != nil {
				return err
			}
			return p.printEvaluation(e, *asJSON)
		})
	}
	return cmd
}

func (p *program) evaluationsCancelCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "cancel EVALUATION", Short: "Cancel an evaluation; what was answered is kept"}
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			if err := c.post(ctx, pathOf(evaluationsPath, args[0])+"/cancel", nil, nil); err != nil {
				return err
			}
			return p.done(*asJSON, "cancelled", args[0])
		})
	}
	return cmd
}

func (p *program) evaluationsListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List evaluations, the latest first"}
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			var all gateway.EvaluationList
			if err := c.get(ctx, evaluationsPath, &all); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(p.stdout, all.Evaluations)
			}
			table := newTable(p.stdout)
			out := &printer{w: table}
			out.line("ID\tSTATE\tQUERY SET\tJUDGMENTS\tSYSTEMS\tNAME")
			for i := range all.Evaluations {
				e := &all.Evaluations[i]
				out.line("%s\t%s\t%s\t%s\t%s\t%s", e.ID, e.State, e.QuerySet, e.Judgments, strings.Join(systemsOf(e), ", "), e.Name)
			}
			if out.err != nil {
				return out.err
			}
			return table.Flush()
		})
	}
	return cmd
}

func systemsOf(e *runs.Evaluation) (names []string) {
	for i := range e.Systems {
		names = append(names, e.Systems[i].Name)
	}
	return names
}

func (p *program) evaluationsShowCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "show EVALUATION", Short: "Show an evaluation with its comparisons"}
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			e := &runs.Evaluation{}
			if err := c.get(ctx, pathOf(evaluationsPath, args[0]), e); err != nil {
				return err
			}
			if err := p.printEvaluation(e, *asJSON); err != nil || *asJSON {
				return err
			}
			return (&evaluation.Comparisons{All: e.Comparisons}).WriteTables(p.stdout)
		})
	}
	return cmd
}

func (p *program) evaluationsUnjudgedCommand() *cobra.Command {
	var limit, depth int
	cmd := &cobra.Command{
		Use: "unjudged EVALUATION", Short: "Print hits that nobody has judged, those first that are most worth it",
		Long: "Prints JSON Lines, to which a grade is added for hybridge judgments import.",
	}
	cmd.Flags().IntVar(&limit, "limit", 100, "Hits at most")
	cmd.Flags().IntVar(&depth, "depth", 10, "Hits of an answer that are looked at")
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			var found gateway.UnjudgedHits
			path := fmt.Sprintf("%s/unjudged?limit=%d&depth=%d", pathOf(evaluationsPath, args[0]), limit, depth)
			if err := c.get(ctx, path, &found); err != nil {
				return err
			}
			return p.write(func(w io.Writer) error { return exchange.WriteLines(w, found.Unjudged) })
		})
	}
	return cmd
}

// evaluationNames are the ids of evaluations.
func evaluationNames(ctx context.Context, a *asked) (ids []string) {
	var all gateway.EvaluationList
	if a.client == nil || a.client.get(ctx, evaluationsPath, &all) != nil {
		return nil
	}
	for i := range all.Evaluations {
		ids = append(ids, all.Evaluations[i].ID)
	}
	return slices.Clip(ids)
}
