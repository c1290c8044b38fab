package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/synonyms"
	"github.com/hybridge-search/hybridge/versions"
)

func (p *program) synonymsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "synonyms",
		Short: "Show, edit, try and roll back synonyms",
		Long: `Sets of synonyms, one for each knowledge base and "global" for all of them, edited
while the gateway runs. Every edit is a version. Files of the setting synonyms.path
are used beside them.`,
	}
	sets := setCommands[synonyms.Version]{
		program: p, path: "/v1/synonyms", set: "SET",
		state: func(v *synonyms.Version) versions.Version { return versions.Version(*v) },
		print: func(w io.Writer, v *synonyms.Version) error {
			_, err := io.WriteString(w, strings.TrimSuffix(v.Text, "\n")+"\n")
			return err
		},
		edit: func(text string, base *int, comment string) (any, error) {
			return gateway.SynonymText{Text: text, BaseVersion: base, Comment: comment}, nil
		},
	}
	cmd.AddCommand(
		sets.list(&cobra.Command{Use: "list", Short: "List the sets"}),
		sets.show(&cobra.Command{Use: "show SET", Short: "Print a set's text"}),
		sets.save(&cobra.Command{
			Use:     "save SET FILE",
			Aliases: []string{"put"},
			Short:   "Put the text of a file into use, or of standard input with -",
			Example: "  hybridge synonyms show manuals > s.txt; $EDITOR s.txt; hybridge synonyms save manuals s.txt",
		}),
		p.synonymsTryCommand(sets.of),
		sets.history(&cobra.Command{
			Use: "history SET", Aliases: []string{"versions"}, Short: "List a set's versions, the newest first",
		}),
		sets.rollback(&cobra.Command{Use: "rollback SET VERSION", Short: "Put an earlier version's text into use again"}),
	)
	return cmd
}

func (p *program) synonymsTryCommand(path func(set string) string) *cobra.Command {
	var draft string
	cmd := &cobra.Command{
		Use: "try SET QUESTION...", Short: "Show what the synonyms do to a question",
	}
	cmd.Flags().StringVar(&draft, "draft", "", "Also with the text of this file, which is not saved; - for standard input")
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body := gateway.SynonymQuestion{Query: strings.Join(args[1:], " ")}
		if draft != "" {
			text, err := p.readText(draft)
			if err != nil {
				return err
			}
			body.Text = &text
		}
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			try, err := postJSON(path(args[0])+"/try", body)
			if err != nil {
				return err
			}
			text, err := c.raw(ctx, try)
			if err != nil {
				return err
			}
			var trial gateway.SynonymTrial
			if err := c.decode(text, &trial); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(p.stdout, trial)
			}
			out := &printer{w: p.stdout}
			out.applied("in use", trial.Current)
			if body.Text != nil {
				out.applied("draft", trial.Draft)
			}
			return out.err
		})
	}
	return cmd
}

func (out *printer) applied(heading string, all []synonyms.Applied) {
	out.line("%s:", heading)
	for _, a := range all {
		out.line("  %s → %s (%.3g, %s)", strings.Join(a.Source, " "), strings.Join(a.Target, " "), a.Weight, a.Rule)
	}
	if len(all) == 0 {
		out.line("  nothing")
	}
}
