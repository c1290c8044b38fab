package searching

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

func analyzeCommand(p *cli.Program) *cobra.Command {
	var q query
	cmd := &cobra.Command{
		Use:   "analyze QUESTION...",
		Short: "Show how a question would be searched, without searching",
		Long: `Shows the words of a question with their weights, the synonyms, the plan, and the requests
to the engines. It takes the flags of search.`,
		Example: "  hybridge analyze --kb docs --preset rrf 如何调整权重",
	}
	q.add(cmd.Flags())
	inJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req, err := q.request(cmd.Flags(), args)
		if err != nil {
			return err
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			if err := nameAllBases(ctx, c, &req); err != nil {
				return err
			}
			if *inJSON {
				return printAnswer(ctx, p, c, "/v1/analyze", req)
			}
			return analyzeForPeople(ctx, p, c, req)
		})
	}
	return cmd
}

func analyzeForPeople(ctx context.Context, p *cli.Program, c *cli.Client, req search.Request) error {
	var analysis search.AnalyzeResponse
	if err := c.Post(ctx, "/v1/analyze", req, &analysis); err != nil {
		return err
	}
	return printAnalysis(p.Stdout, &analysis)
}

func printAnalysis(w io.Writer, a *search.AnalyzeResponse) error {
	table := cli.NewTable(w)
	table.Line("TOKEN\tWEIGHT\tCHUNKS")
	for _, t := range a.Tokens {
		table.Line("%s\t%.3g\t%d", cli.Plain(t.Text), t.Weight, t.DF)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	out := &cli.Printer{W: w}
	out.Line("\nthe text index knows %.0f %% of the question", a.Known*100)
	for _, s := range a.Synonyms {
		out.Line("synonym: %s → %s (%.3g, %s)", strings.Join(s.Source, " "), strings.Join(s.Target, " "), s.Weight, s.Rule)
	}
	for _, phrase := range a.Required {
		out.Line("required: %s", strings.Join(phrase.Terms, " "))
	}
	for _, phrase := range a.Excluded {
		out.Line("excluded: %s", strings.Join(phrase.Terms, " "))
	}
	if a.Query != nil {
		for _, phrase := range a.Query.Phrases {
			out.Line("phrase: %s (%.3g, slop %d)", strings.Join(phrase.Terms, " "), phrase.Weight, phrase.Slop)
		}
	}
	out.Line("plan: %s, fusion %s", a.Plan.Preset, a.Plan.Fusion.Method)
	for _, leg := range a.Plan.Legs {
		out.Line("  leg %s: %s over %s, k %d, weight %.3g", leg.Name, leg.Kind, leg.Field, leg.K, leg.Weight)
	}
	for _, s := range a.Statements {
		out.Line("\n%s: %s %s\n%s%s", s.KnowledgeBase, s.Method, s.Path, s.Body, s.SQL)
	}
	return out.Err
}
