package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/search"
)

func (p *program) analyzeCommand() *cobra.Command {
	var q query
	cmd := &cobra.Command{
		Use:   "analyze QUESTION...",
		Short: "Show what a question would ask for, without asking",
		Long: `Analyze shows the words of a question with their weights, the synonyms, the plan, and what
would be sent to the engines, with the flags that search has.`,
		Example: "  hybridge analyze --kb docs --preset rrf 如何调整权重",
	}
	q.add(cmd.Flags())
	inJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req, err := q.request(cmd.Flags(), args)
		if err != nil {
			return err
		}
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			if err := nameAllBases(ctx, c, &req); err != nil {
				return err
			}
			if *inJSON {
				return p.printAnswer(ctx, c, "/v1/analyze", req)
			}
			return p.analyzeForPeople(ctx, c, req)
		})
	}
	return cmd
}

func (p *program) analyzeForPeople(ctx context.Context, c *client, req search.Request) error {
	do, err := postJSON("/v1/analyze", req)
	if err != nil {
		return err
	}
	text, err := c.raw(ctx, do)
	if err != nil {
		return err
	}
	var analysis search.AnalyzeResponse
	if err := c.decode(text, &analysis); err != nil {
		return err
	}
	return printAnalysis(p.stdout, &analysis)
}

func printAnalysis(w io.Writer, a *search.AnalyzeResponse) error {
	table := newTable(w)
	out := &printer{w: table}
	out.line("TOKEN\tWEIGHT\tCHUNKS")
	for _, t := range a.Tokens {
		out.line("%s\t%.3g\t%d", plain(t.Text), t.Weight, t.DF)
	}
	if out.err != nil {
		return out.err
	}
	if err := table.Flush(); err != nil {
		return err
	}
	out = &printer{w: w}
	out.line("\nthe text index knows %.0f %% of the question", a.Known*100)
	for _, s := range a.Synonyms {
		out.line("synonym: %s → %s (%.3g, %s)", strings.Join(s.Source, " "), strings.Join(s.Target, " "), s.Weight, s.Rule)
	}
	for _, phrase := range a.Required {
		out.line("required: %s", strings.Join(phrase.Terms, " "))
	}
	for _, phrase := range a.Excluded {
		out.line("excluded: %s", strings.Join(phrase.Terms, " "))
	}
	if a.Query != nil {
		for _, phrase := range a.Query.Phrases {
			out.line("phrase: %s (%.3g, slop %d)", strings.Join(phrase.Terms, " "), phrase.Weight, phrase.Slop)
		}
	}
	out.line("plan: %s, fusion %s", a.Plan.Preset, a.Plan.Fusion.Method)
	for _, leg := range a.Plan.Legs {
		out.line("  leg %s: %s over %s, k %d, weight %.3g", leg.Name, leg.Kind, leg.Field, leg.K, leg.Weight)
	}
	for _, s := range a.Statements {
		out.line("\n%s: %s %s\n%s%s", s.KnowledgeBase, s.Method, s.Path, s.Body, s.SQL)
	}
	return out.err
}
