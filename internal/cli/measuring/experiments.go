package measuring

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/internal/cli"
)

func experimentsCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "experiments",
		Short: "Compare ways to search with users",
		Long: `An experiment answers the searches of some users by one variant and those of others by another, or all by
both in one list, and says which of them users like better. It needs client_id or session_id in searches, and the log of
events for its report.`,
	}
	cmd.AddCommand(experimentsCreateCommand(p), experimentsNeededCommand(p), experimentsListCommand(p),
		experimentsShowCommand(p), experimentsReportCommand(p), experimentsStopCommand(p),
		deleteFrom(p, cli.ExperimentsPath, &cobra.Command{
			Use: "delete EXPERIMENT", Short: "Delete an experiment that is not running",
		}))
	return cmd
}

// experimentFlags are the flags of a definition.
type experimentFlags struct {
	definition       live.Definition
	variants         []string
	share            map[string]string
	unit, mode       string
	start, end       string
	days             float64
	atMost, increase map[string]string
}

func (f *experimentFlags) add(flags *pflag.FlagSet) {
	d := &f.definition
	flags.StringArrayVar(&f.variants, "variant", nil,
		`Variant: NAME={"preset":"…", …}, or NAME alone for the search as it is; the first is the control`)
	flags.StringToStringVar(&f.share, "share", nil,
		"Share of a variant, such as control=0.9,more=0.1 (default: equal shares)")
	flags.Float64Var(&d.Traffic, "traffic", 1, "Share of users or sessions that take part")
	flags.StringVar(&f.unit, "unit", string(experiments.ByUser),
		"Unit that keeps its variant: user or session")
	flags.StringVar(&f.mode, "mode", string(experiments.Split),
		"split: one variant per user; interleave: both in one list")
	flags.StringVar(&f.start, "start", "", "Start, such as 2026-12-01T08:00:00Z (default: now)")
	flags.StringVar(&f.end, "end", "", "End (default: after --days)")
	flags.Float64Var(&f.days, "days", 14, "Duration in days")
	flags.StringVar(&d.Metric, "decide-by", "", "Metric that decides a split (default: click_through)")
	flags.StringToStringVar(&f.atMost, "at-most", nil,
		"Guardrail: upper limit of a metric for every variant, such as latency_ms=300")
	flags.StringToStringVar(&f.increase, "increase", nil,
		"Guardrail: how far a metric may exceed that of the first variant, such as zero_result_rate=0.02")
	flags.StringSliceVar(&d.KnowledgeBases, "kb", nil, "Knowledge bases whose searches take part (default: all)")
	flags.StringVar(&d.Name, "name", "", "Display name")
}

// define is the definition that the flags make; the gateway checks it.
func (f *experimentFlags) define(id string) (*live.Definition, error) {
	d := &f.definition
	d.ID, d.Unit, d.Mode = id, experiments.Unit(f.unit), experiments.Mode(f.mode)
	if len(f.variants) == 0 {
		return nil, cli.MissingFlag("--variant",
			`two or more ways to search, as --variant now --variant 'new={"preset":"rrf"}'`)
	}
	for _, text := range f.variants {
		name, members, _ := strings.Cut(text, "=")
		v := experiments.Variant{Name: name, Share: 1 / float64(len(f.variants))}
		if members != "" {
			if !json.Valid([]byte(members)) {
				return nil, fault.Invalid("--variant", text, `NAME={"preset":"…", …}`)
			}
			v.Request = json.RawMessage(members)
		}
		d.Variants = append(d.Variants, v)
	}
	if err := f.shareOut(d); err != nil {
		return nil, err
	}
	var err error
	if d.GuardRails, err = f.rails(); err != nil {
		return nil, err
	}
	d.Start = time.Now().UTC().Truncate(time.Second)
	if f.start != "" {
		if d.Start, err = time.Parse(time.RFC3339, f.start); err != nil {
			return nil, fault.Invalid("--start", f.start, "a time as 2026-12-01T08:00:00Z")
		}
	}
	d.End = d.Start.Add(time.Duration(f.days * 24 * float64(time.Hour)))
	if f.end != "" {
		if d.End, err = time.Parse(time.RFC3339, f.end); err != nil {
			return nil, fault.Invalid("--end", f.end, "a time as 2026-12-15T08:00:00Z")
		}
	}
	return d, nil
}

func (f *experimentFlags) shareOut(d *live.Definition) error {
	for _, name := range slices.Sorted(maps.Keys(f.share)) {
		i := slices.IndexFunc(d.Variants, func(v experiments.Variant) bool { return v.Name == name })
		if i < 0 {
			return fault.Invalid("--share", name, "the name of a --variant")
		}
		share, err := strconv.ParseFloat(f.share[name], 64)
		if err != nil {
			return fault.Invalid("--share", f.share[name], "a number")
		}
		d.Variants[i].Share = share
	}
	return nil
}

func (f *experimentFlags) rails() (all []experiments.GuardRail, err error) {
	for _, of := range []struct {
		flag string
		by   map[string]string
	}{{"--at-most", f.atMost}, {"--increase", f.increase}} {
		for _, metric := range slices.Sorted(maps.Keys(of.by)) {
			limit, err := strconv.ParseFloat(of.by[metric], 64)
			if err != nil {
				return nil, fault.Invalid(of.flag, of.by[metric], "a number")
			}
			rail := experiments.GuardRail{Metric: metric, AtMost: &limit}
			if of.flag == "--increase" {
				rail.AtMost, rail.Increase = nil, &limit
			}
			all = append(all, rail)
		}
	}
	return all, nil
}

func experimentsCreateCommand(p *cli.Program) *cobra.Command {
	f := &experimentFlags{}
	cmd := &cobra.Command{
		Use: "create ID", Short: "Create an experiment",
		Example: `  hybridge experiments create rrf-2026-12 --variant now --variant 'rrf={"preset":"rrf"}' --kb manuals
  hybridge experiments create lists --mode interleave --variant now --variant 'text={"weights":{"text":0.9}}'
  hybridge experiments create careful --variant now --variant 'new={"preset":"rrf"}' --share now=0.9,new=0.1 \
    --increase latency_ms=20 --at-most error_rate=0.01`,
	}
	f.add(cmd.Flags())
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := f.define(args[0])
		if err != nil {
			return err
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			made := &live.Experiment{}
			if err := c.Post(ctx, cli.ExperimentsPath, d, made); err != nil {
				return err
			}
			return printExperiment(p, made, *asJSON)
		})
	}
	return cmd
}

func experimentsNeededCommand(p *cli.Program) *cobra.Command {
	f := &experimentFlags{}
	var goal experiments.Goal
	cmd := &cobra.Command{
		Use: "needed", Short: "Estimate how long an experiment must run to detect a difference",
		Long: `Takes what the flags do not give from the searches of the last week in the log.`,
		Example: `  hybridge experiments needed --variant now --variant 'rrf={"preset":"rrf"}' --effect 0.02
  hybridge experiments needed --variant now --variant new --effect 0.02 --base 0.3 --units-per-day 5000`,
	}
	flags := cmd.Flags()
	f.add(flags)
	flags.Float64Var(&goal.Effect, "effect", 0, "Difference to detect, in the unit of the metric")
	flags.Float64Var(&goal.Base, "base", 0, "Current rate (default: of the last week)")
	flags.Float64Var(&goal.Deviation, "deviation", 0,
		"Standard deviation of the metric between users (default: of the last week)")
	flags.Float64Var(&goal.UnitsPerDay, "units-per-day", 0, "Users or sessions a day (default: of the last week)")
	flags.Float64Var(&goal.Power, "power", 0.8, "Probability of detecting it")
	asJSON := cli.AddJSON(flags)
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		d, err := f.define("needed")
		if err != nil {
			return err
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			var n live.Estimate
			if err := c.Post(ctx, cli.ExperimentsPath+"/needed", live.Plan{Experiment: *d, Goal: goal}, &n); err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(p.Stdout, &n)
			}
			out := &cli.Printer{W: p.Stdout}
			out.Line("%d users or sessions that take part, of %.0f a day: %.1f days", n.Units, n.Goal.UnitsPerDay, n.Days)
			out.Line("%d would do for a test that is looked at once, at its end", n.Once)
			if !n.Fits {
				out.Line("the experiment is shorter than that: %.1f days", d.End.Sub(d.Start).Hours()/24)
			}
			return out.Err
		})
	}
	return cmd
}

func experimentsListCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List experiments, the latest first"}
	columns := "ID\tSTATE\tMODE\tVARIANTS\tTRAFFIC\tSTART\tEND\tNAME"
	return cli.List(p, cmd, cli.ExperimentsPath, columns, func(e *live.Experiment) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%g\t%s\t%s\t%s", e.ID, e.State, e.Mode, strings.Join(variantsOf(e), ", "),
			e.Traffic, e.Start.Format(time.DateTime), e.End.Format(time.DateTime), e.Name)
	})
}

func variantsOf(e *live.Experiment) (names []string) {
	for i := range e.Variants {
		names = append(names, e.Variants[i].Name)
	}
	return names
}

func experimentsShowCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "show EXPERIMENT", Short: "Show an experiment"}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		e := &live.Experiment{}
		if err := c.Get(ctx, pathOf(cli.ExperimentsPath, args[0]), e); err != nil {
			return err
		}
		return printExperiment(p, e, *asJSON)
	})
}

func printExperiment(p *cli.Program, e *live.Experiment, inJSON bool) error {
	if inJSON {
		return cli.PrintJSON(p.Stdout, e)
	}
	out := &cli.Printer{W: p.Stdout}
	out.Line("experiment %s: %s, from %s to %s, %s by %s, %g of all", e.ID, e.State, e.Start.Format(time.RFC3339),
		e.End.Format(time.RFC3339), e.Mode, e.Unit, e.Traffic)
	if e.Stopped != nil {
		out.Line("stopped at %s: %s", e.Stopped.At.Format(time.RFC3339), e.Stopped.Reason)
	}
	for i := range e.Variants {
		v := &e.Variants[i]
		how := string(v.Request)
		if how == "" {
			how = "the search as it is"
		}
		out.Line("  %s (%g): %s", v.Name, v.Share, how)
	}
	return out.Err
}

func experimentsReportCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "report EXPERIMENT", Short: "Report the results of an experiment",
		Long: `The tests may be looked at any time: who acts on the first verdict is wrong in one of twenty experiments
at most.`,
	}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		r := &experiments.Report{}
		if err := c.Get(ctx, pathOf(cli.ExperimentsPath, args[0])+"/report", r); err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(p.Stdout, r)
		}
		return printReport(p, r)
	})
}

func printReport(p *cli.Program, r *experiments.Report) error {
	out := &cli.Printer{W: p.Stdout}
	out.Line("%s: %s", r.Verdict.Outcome, r.Verdict.Reason)
	if r.Preference != nil {
		f := r.Preference
		out.Line("%s is preferred by %d, %s by %d; %d have no preference (p %.2g)",
			f.First, f.Wins, f.Second, f.Losses, f.Ties, f.P)
	}
	if out.Err != nil {
		return out.Err
	}
	rows := cli.NewTable(p.Stdout)
	header := "VARIANT\tUNITS\tSEARCHES"
	for _, name := range experiments.Metrics() {
		header += "\t" + strings.ToUpper(name)
	}
	rows.Line("%s", header)
	for i := range r.Variants {
		g := &r.Variants[i]
		line := fmt.Sprintf("%s\t%d\t%d", cmpName(g.Name), g.Units, g.Searches)
		for _, v := range g.Metrics {
			line += fmt.Sprintf("\t%.4g [%.4g, %.4g]", v.Value, v.Low, v.High)
		}
		rows.Line("%s", line)
	}
	if len(r.Differences) > 0 {
		rows.Line("\nDIFFERENCE\tOF\tAGAINST\t\tP")
	}
	for i := range r.Differences {
		d := &r.Differences[i]
		rows.Line("%s\t%s\t%s\t%+.4g\t%.2g", d.Metric, d.Variant, d.Against, d.Value, d.P)
	}
	for i := range r.GuardRails {
		g := &r.GuardRails[i]
		rows.Line("guard rail %s\t%s\t%.4g\tof %.4g\t%v", g.Metric, g.Variant, g.Value, g.Limit, g.Crossed)
	}
	return rows.Flush()
}

// cmpName names interleaved lists in the table.
func cmpName(name string) string {
	if name == "" {
		return "both"
	}
	return name
}

func experimentsStopCommand(p *cli.Program) *cobra.Command {
	var why quality.StopExperiment
	cmd := &cobra.Command{Use: "stop EXPERIMENT", Short: "Stop an experiment before its end"}
	cmd.Flags().StringVar(&why.Reason, "reason", "", "Reason")
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		if err := c.Post(ctx, pathOf(cli.ExperimentsPath, args[0])+"/stop", why, nil); err != nil {
			return err
		}
		return p.Done(*asJSON, "stopped", args[0])
	})
}
