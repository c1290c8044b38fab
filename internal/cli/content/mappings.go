package content

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/internal/cli"
)

func mappingsCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mappings",
		Short: "Compare an index with its schema, and change it while it is in use",
		Long: `The index or table of a knowledge base is compared with what its schema wants, and
brought there: in place where that is possible, otherwise by a new index that is filled,
checked and switched to while searches and writes go on. Until cleanup the old index is
kept up to date, so that rollback loses nothing.`,
		Example: `  hybridge mappings diff manuals
  hybridge mappings plan manuals --vector-index bbq_hnsw
  hybridge mappings apply manuals PLAN
  hybridge mappings cleanup manuals      # or: rollback`,
	}
	cmd.AddCommand(mappingsDiffCommand(p), mappingsPlanCommand(p), mappingsApplyCommand(p),
		mappingsStatusCommand(p), mappingsThrottleCommand(p), mappingsHistoryCommand(p))
	for order, short := range map[migration.Order]string{
		migration.Resume:   "Resume a migration that failed",
		migration.Cancel:   "Cancel a migration before the switch",
		migration.Rollback: "Return to the index used before the switch",
		migration.Cleanup:  "Delete the index used before the switch",
	} {
		cmd.AddCommand(mappingsOrderCommand(p, order, short))
	}
	return cmd
}

func mappingPath(kb, endpoint string) string {
	return "/v1/mappings/" + url.PathEscape(kb) + "/" + endpoint
}

// changeFlags are the flags for the members of a schema that can be changed.
type changeFlags struct {
	analyzer, model, index string
	search                 string
	dimensions             int
	vectors                []string
	fields                 map[string]string
}

func addChange(flags *pflag.FlagSet) *changeFlags {
	c := &changeFlags{}
	flags.StringVar(&c.analyzer, "analyzer", "", "Change the analyzer of texts")
	flags.StringVar(&c.search, "search-analyzer", "",
		"Change the analyzer of questions, ik_smart or ik_max_word; empty: that of texts")
	flags.IntVar(&c.dimensions, "dimensions", 0, "Change the dimensions of the vectors; 0 drops them")
	flags.StringVar(&c.model, "embedding-model-name", "", "Embed every text again with this configured model")
	flags.StringVar(&c.index, "vector-index", "",
		"int8_hnsw, hnsw, int4_hnsw, bbq_hnsw, flat, int8_flat or none; on PostgreSQL hnsw, half_hnsw or none")
	flags.StringArrayVar(&c.vectors, vectorFlag, nil, "All vector fields that there are to be beside vector. "+vectorUsage+
		`; --vector "" alone removes them`)
	flags.StringToStringVar(&c.fields, "fields", nil,
		"New factor of the parts of the text, 1 or from 2 on, such as title=3; the named parts are indexed separately")
	return c
}

// change returns the change that the given flags ask for.
func (c *changeFlags) change(flags *pflag.FlagSet) (migration.Change, error) {
	var change migration.Change
	if flags.Changed("analyzer") {
		change.Analyzer = &c.analyzer
	}
	if flags.Changed("search-analyzer") {
		change.SearchAnalyzer = &c.search
	}
	if flags.Changed("dimensions") {
		change.Dimensions = &c.dimensions
	}
	if flags.Changed("embedding-model-name") {
		change.EmbeddingModel = &c.model
	}
	if flags.Changed("vector-index") {
		change.VectorIndex = &c.index
	}
	if flags.Changed(vectorFlag) {
		fields := []engine.VectorField{}
		if !slices.Equal(c.vectors, []string{""}) {
			fields = vectorFields(c.vectors)
		}
		change.VectorFields = &fields
	}
	if flags.Changed("fields") {
		fields, err := cli.ParseNumbers("--fields", c.fields)
		if err != nil {
			return change, err
		}
		change.Fields = &fields
	}
	return change, nil
}

func mappingsDiffCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "diff KB", Short: "Compare the live mapping with the schema"}
	changes := addChange(cmd.Flags())
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		change, err := changes.change(cmd.Flags())
		if err != nil {
			return err
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			var diff engine.MappingDiff
			if err := c.Post(ctx, mappingPath(args[0], "diff"), change, &diff); err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(p.Stdout, diff)
			}
			return printDiff(p.Stdout, &diff)
		})
	}
	return cmd
}

func printDiff(w io.Writer, d *engine.MappingDiff) error {
	if d.Class == engine.ChangeNone {
		out := &cli.Printer{W: w}
		out.Line("%s is as its schema wants it", d.Index)
		return out.Err
	}
	table := cli.NewTable(w)
	table.Line("CLASS\tFIELD\tLIVE\tDESIRED\tREASON")
	for _, c := range d.Changes {
		table.Line("%s\t%s\t%s\t%s\t%s", c.Class, c.Path, orDash(c.Live), orDash(c.Desired), c.Reason)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	out := &cli.Printer{W: w}
	out.Line("")
	out.Line("%s: %s; %s, %s, about %.1f minutes", d.Index, d.Class, cli.Counted(d.Estimate.Documents, "document"),
		humanize.IBytes(uint64(max(d.Estimate.Bytes, 0))), d.Estimate.Minutes)
	return out.Err
}

func orDash(value json.RawMessage) string {
	if len(value) == 0 {
		return "-"
	}
	return strings.Trim(string(value), `"`)
}

// planFlags are the flags of a plan.
type planFlags struct {
	*changeFlags
	options engine.MappingOptions
	gate    string
}

// ofPlan are the flags that a plan has taken up.
var ofPlan = []string{
	"analyzer", "search-analyzer", "dimensions", "embedding-model-name", "vector-index", vectorFlag, "fields",
	"slices", "requests-per-second", "sample", "gate",
}

func addPlan(flags *pflag.FlagSet) *planFlags {
	f := &planFlags{changeFlags: addChange(flags)}
	flags.IntVar(&f.options.Slices, "slices", 0, "Slices of the copy (default: one per shard)")
	flags.Float64Var(&f.options.Throttle, "requests-per-second", 0, "Documents copied per second (default: no limit)")
	flags.IntVar(&f.options.Sample, "sample", 0, "Documents compared field by field (default: 200)")
	flags.StringVar(&f.gate, "gate", "",
		`Relevance gate: a JSON file {"queries": [{"query": "…", "relevant": {"id": 1}}]}`)
	return f
}

func (f *planFlags) plan(
	ctx context.Context, c *cli.Client, kb string, flags *pflag.FlagSet,
) (*engine.MappingPlan, error) {
	if f.gate != "" {
		text, err := os.ReadFile(f.gate)
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "read --gate %s", f.gate)
		}
		if err := json.Unmarshal(text, &f.options.Gate); err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "--gate %s is not as it must be", f.gate)
		}
	}
	changes, err := f.change(flags)
	if err != nil {
		return nil, err
	}
	var plan engine.MappingPlan
	request := migration.Request{Changes: changes, Options: f.options}
	return &plan, c.Post(ctx, mappingPath(kb, "plan"), request, &plan)
}

func mappingsPlanCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "plan KB", Short: "Plan a change without applying it"}
	f := addPlan(cmd.Flags())
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			plan, err := f.plan(ctx, c, args[0], cmd.Flags())
			if err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(p.Stdout, plan)
			}
			if err := printDiff(p.Stdout, &plan.Diff); err != nil {
				return err
			}
			out := &cli.Printer{W: p.Stdout}
			out.Line("steps: %s", strings.Join(plan.Steps, ", "))
			out.Line("apply it by: hybridge mappings apply %s %s", args[0], plan.ID)
			return out.Err
		})
	}
	return cmd
}

func mappingsApplyCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "apply KB [PLAN]", Short: "Apply a plan, or the change given by the flags",
	}
	f := addPlan(cmd.Flags())
	background := cmd.Flags().Bool("background", false, "Do not wait for the end")
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			if err := cli.LeftOut(cmd.Flags(), "PLAN", ofPlan...); err != nil {
				return err
			}
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			var id string
			if len(args) > 1 {
				id = args[1]
			} else {
				plan, err := f.plan(ctx, c, args[0], cmd.Flags())
				if err != nil {
					return err
				}
				id = plan.ID
			}
			var m engine.Migration
			err := c.Post(ctx, mappingPath(args[0], "apply"), gateway.ApplyRequest{Plan: id}, &m)
			if err != nil {
				return err
			}
			return follow(ctx, p, c, args[0], showOptions{*background, *asJSON})
		})
	}
	return cmd
}

func mappingsOrderCommand(p *cli.Program, order migration.Order, short string) *cobra.Command {
	cmd := &cobra.Command{Use: string(order) + " KB", Short: short}
	background := cmd.Flags().Bool("background", false, "Do not wait for the end")
	confirmed := &cli.Confirmation{Program: p, Yes: true}
	if order == migration.Cleanup { // after it there is no way back
		confirmed = p.AddConfirmation(cmd)
	}
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := confirmed.Possible("mappings " + string(order)); err != nil {
			return err
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			err := confirmed.Ask(func() (string, error) {
				return "Delete what " + args[0] + " was before the switch for good? There is no rollback then.", nil
			})
			if err != nil {
				return err
			}
			if err := c.Post(ctx, mappingPath(args[0], string(order)), nil, nil); err != nil {
				return err
			}
			return follow(ctx, p, c, args[0], showOptions{*background, *asJSON})
		})
	}
	return cmd
}

// showOptions say how a migration is shown.
type showOptions struct{ background, json bool }

// follow waits until a migration does not run any more, unless in the background, and shows it.
func follow(ctx context.Context, p *cli.Program, c *cli.Client, kb string, how showOptions) error {
	for {
		var status gateway.MappingStatus
		if err := c.Get(ctx, mappingPath(kb, "status"), &status); err != nil {
			return err
		}
		m := status.Migration
		if m == nil || m.State != engine.MigrationRunning || how.background {
			if err := showStatus(p, &status, how.json); err != nil {
				return err
			}
			if m != nil && m.State == engine.MigrationFailed {
				return fault.New(m.Error.Code, "%s; %s", m.Error.Detail, m.Error.WayOut)
			}
			return nil
		}
		select {
		case <-time.After(cli.PollInterval):
		case <-ctx.Done():
			return fault.Wrap(fault.Canceled, ctx.Err(), "stopped waiting; the migration goes on")
		}
	}
}

func mappingsThrottleCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "throttle KB RATE", Short: "Limit the documents copied per second; 0: no limit",
	}
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		rate, err := strconv.ParseFloat(args[1], 64)
		if err != nil {
			return fault.Invalid("RATE", args[1], "a number of documents per second, 0 for no limit")
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			request := gateway.ThrottleRequest{PerSecond: rate}
			var m engine.Migration
			if err := c.Post(ctx, mappingPath(args[0], "throttle"), request, &m); err != nil {
				return err
			}
			return follow(ctx, p, c, args[0], showOptions{true, *asJSON})
		})
	}
	return cmd
}

func mappingsStatusCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "status KB", Short: "Show the progress of a migration"}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		return follow(ctx, p, c, args[0], showOptions{true, *asJSON})
	})
}

func showStatus(p *cli.Program, s *gateway.MappingStatus, inJSON bool) error {
	if inJSON {
		return cli.PrintJSON(p.Stdout, s)
	}
	out := &cli.Printer{W: p.Stdout}
	m := s.Migration
	if m == nil {
		out.Line("%s: no migration yet", s.KnowledgeBase)
		return out.Err
	}
	out.Line("%s: %s, step %s, %s → %s", s.KnowledgeBase, m.State, m.Step, m.FromIndex, m.ToIndex)
	out.Line("  %d of %d documents, %.0f a second, %d of the change log",
		m.Progress.Done, m.Progress.Total, m.Progress.Rate, m.Progress.Replayed)
	for _, c := range m.Checks {
		out.Line("  %s: %t, %s", c.Name, c.Passed, c.Detail)
	}
	if m.Gate != nil {
		out.Line("  relevance gate: %t, %s", m.Gate.Passed, m.Gate.Detail)
	}
	if m.Error != nil {
		out.Line("  %s: %s; %s", m.Error.Code, m.Error.Detail, m.Error.WayOut)
	}
	if len(s.Actions) > 0 {
		out.Line("  next: %s", strings.Join(s.Actions, " or "))
	}
	return out.Err
}

func mappingsHistoryCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "history KB", Short: "List what was applied, when and by which key"}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		var history gateway.MappingHistory
		if err := c.Get(ctx, mappingPath(args[0], "history"), &history); err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(p.Stdout, history.Migrations)
		}
		out := cli.NewTable(p.Stdout)
		out.Line("FINISHED\tSTATE\tBY\tFROM\tTO\tCHANGES")
		for i := range history.Migrations {
			m := &history.Migrations[i]
			out.Line("%s\t%s\t%s\t%s\t%s\t%d", m.FinishedAt.Local().Format(time.DateTime), m.State, m.StartedBy,
				m.FromIndex, m.ToIndex, len(m.Plan.Diff.Changes))
		}
		return out.Flush()
	})
}
