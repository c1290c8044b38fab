package measuring

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/evaluation/runs"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/internal/cli"
)

func tuningsCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tunings",
		Short: "Search for better weights on stored query sets, over a knowledge base in use",
		Long: `Searches for weights, normaliser, k and signals of a preset with a query set that the gateway stores. What
is found is measured on held-out queries, and recommended if it is significantly better: as a preset that
hybridge presets keeps. hybridge tune does so on folders.`,
	}
	cmd.AddCommand(tuningsRunCommand(p), tuningsListCommand(p), tuningsShowCommand(p),
		cancelIn(p, cli.TuningsPath, &cobra.Command{Use: "cancel TUNING", Short: "Cancel a tuning"}),
		deleteFrom(p, cli.TuningsPath, &cobra.Command{
			Use: "delete TUNING", Short: "Delete a tuning; presets saved from it stay",
		}))
	return cmd
}

// tuningFlags are the flags of a tuning.
type tuningFlags struct {
	request          runs.TuningRequest
	save             string
	background, json bool
}

func tuningsRunCommand(p *cli.Program) *cobra.Command {
	f := &tuningFlags{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Search for better weights of a preset",
		Long: `Asks every judged query once for each way of retrieving, tries all else in memory, and waits for the result.
With --save what is recommended becomes a preset at once; hybridge presets rollback takes it back.`,
		Example: `  hybridge tunings run --query-set faq --judgments people
  hybridge tunings run --query-set faq --judgments people --preset rrf --metric mrr@10 --save faq-rrf`,
	}
	flags := cmd.Flags()
	r := &f.request
	flags.StringVar(&r.QuerySet, "query-set", "", "The query set")
	flags.StringVar(&r.Judgments, "judgments", "", "The judgment list, of chunks")
	flags.StringVar(&r.KnowledgeBase, "kb", "",
		"Knowledge base to search (default: the query set's, if it has one)")
	flags.StringVar(&r.Preset, "preset", "", "Preset to start from (default: that of a search)")
	flags.StringVar(&r.Metric, "metric", "ndcg@10", "Metric to improve: "+strings.Join(metric.Families(), ", ")+
		", each with a depth")
	flags.StringVar(&r.Method, "method", string(tune.CMAES),
		"Search method: "+strings.Join(tune.Methods(), ", "))
	flags.IntVar(&r.Trials, "trials", 2000, "Variants tried by each search")
	flags.IntVar(&r.Folds, "folds", 5, "Number of folds of the queries")
	flags.IntVar(&r.Seed, "seed", 1, "Random seed: the same seed gives the same result")
	flags.StringArrayVar(&r.Space, "space", nil, "Search space, such as weights.text=0..1 or normalizer=min_max,z_score; "+
		"may be repeated (default: what the preset has)")
	flags.StringArrayVar(&r.Retrieval, "retrieval", nil,
		"Other parameters to try, such as candidates=50,100,200; may be repeated")
	flags.StringVar(&r.Name, "name", "", "Display name")
	flags.StringVar(&f.save, "save", "", "Save the recommendation as this preset")
	flags.BoolVar(&f.background, "background", false, "Do not wait; needs a running gateway")
	flags.BoolVar(&f.json, "json", false, "Print JSON")
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runTuning(p, cmd, f) }
	return cmd
}

func runTuning(p *cli.Program, cmd *cobra.Command, f *tuningFlags) error {
	if f.request.QuerySet == "" {
		return cli.MissingFlag("--query-set", "a query set, as hybridge query-sets list shows them")
	}
	if f.request.Judgments == "" {
		return cli.MissingFlag("--judgments", "a judgment list, as hybridge judgments list shows them")
	}
	if f.background {
		if err := cli.LeftOut(cmd.Flags(), "--background", "save"); err != nil {
			return err
		}
	}
	return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
		t, base := &runs.Tuning{}, 0
		if f.save != "" { // an edit made during the tuning is not overwritten
			var err error
			if base, err = savedVersion(ctx, c, f.save); err != nil {
				return err
			}
		}
		if err := c.Post(ctx, cli.TuningsPath, f.request, t); err != nil {
			return err
		}
		if !f.background {
			if err := awaitTuning(ctx, c, t); err != nil {
				return err
			}
		}
		if err := printTuning(p, t, f.json); err != nil || f.save == "" || t.Definition == nil {
			return err
		}
		if err := c.Put(ctx, pathOf("/v1/presets", f.save), map[string]any{
			"definition": t.Definition, "comment": "tuning " + t.ID, "base_version": base,
		}); err != nil {
			return err
		}
		return p.Done(false, "saved preset", f.save)
	})
}

// savedVersion gives the version in use of a saved preset, 0 where there is no such preset.
func savedVersion(ctx context.Context, c *cli.Client, preset string) (int, error) {
	var v versioned.PresetVersion
	err := c.Get(ctx, pathOf("/v1/presets", preset), &v)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return 0, err
	}
	return v.Version, nil
}

// awaitTuning waits until it has ended. Where the wait is broken off the tuning is too.
func awaitTuning(ctx context.Context, c *cli.Client, t *runs.Tuning) error {
	err := await(ctx, c, pathOf(cli.TuningsPath, t.ID), t, func() bool { return t.State == runs.Running })
	if err == nil && t.State != runs.Done {
		return fault.New(fault.Unavailable, "tuning %s is %s: %s", t.ID, t.State, t.Error)
	}
	return err
}

func printTuning(p *cli.Program, t *runs.Tuning, inJSON bool) error {
	if inJSON {
		return cli.PrintJSON(p.Stdout, t)
	}
	out := &cli.Printer{W: p.Stdout}
	out.Line("tuning %s: %s", t.ID, t.State)
	if t.Error != "" {
		out.Line("%s", t.Error)
	}
	if out.Err != nil || t.Result == nil {
		return out.Err
	}
	if err := t.Result.WriteTables(p.Stdout); err != nil || t.Definition == nil {
		return err
	}
	out.Line("\nAs a preset, for hybridge presets save NAME FILE:\n")
	if out.Err != nil {
		return out.Err
	}
	return cli.PrintJSON(p.Stdout, t.Definition)
}

func tuningsListCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List tunings, the latest first"}
	columns := "ID\tSTATE\tPRESET\tMETRIC\tQUERY SET\tVERDICT"
	return cli.List(p, cmd, cli.TuningsPath, columns, func(t *runs.Tuning) string {
		verdict := "-"
		if t.Result != nil {
			verdict = t.Result.Verdict()
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", t.ID, t.State, t.Preset, t.Metric, t.QuerySet, verdict)
	})
}

func tuningsShowCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "show TUNING", Short: "Show the result of a tuning and the recommended preset"}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		t := &runs.Tuning{}
		if err := c.Get(ctx, pathOf(cli.TuningsPath, args[0]), t); err != nil {
			return err
		}
		return printTuning(p, t, *asJSON)
	})
}
