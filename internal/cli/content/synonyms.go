package content

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/synonyms"
	"github.com/hybridge-search/hybridge/versions"
)

func synonymsCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "synonyms",
		Short: "Show, edit, try and roll back synonyms",
		Long: `Sets of synonyms, one for each knowledge base and "global" for all of them, edited
while the gateway runs. Every edit is a version. Files of the setting synonyms.path
are used beside them.`,
	}
	sets := cli.SetCommands[synonyms.Version]{
		Program: p, Path: "/v1/synonyms", Set: "SET",
		State: func(v *synonyms.Version) versions.Version { return versions.Version(*v) },
		Print: func(w io.Writer, v *synonyms.Version) error {
			_, err := io.WriteString(w, strings.TrimSuffix(v.Text, "\n")+"\n")
			return err
		},
		Edit: func(text string, base *int, comment string) (any, error) {
			return versioned.SynonymText{Text: text, BaseVersion: base, Comment: comment}, nil
		},
	}
	cmd.AddCommand(
		sets.List(&cobra.Command{Use: "list", Short: "List the sets"}),
		sets.Show(&cobra.Command{Use: "show SET", Short: "Print a set's text"}),
		sets.Save(&cobra.Command{
			Use:     "save SET FILE",
			Aliases: []string{"put"},
			Short:   "Save the text of a file as the new version; - reads standard input",
			Example: "  hybridge synonyms show manuals > s.txt; $EDITOR s.txt; hybridge synonyms save manuals s.txt",
		}),
		synonymsTryCommand(p, sets.Of),
		sets.History(&cobra.Command{
			Use: "history SET", Aliases: []string{"versions"}, Short: "List a set's versions, the newest first",
		}),
		sets.Rollback(&cobra.Command{Use: "rollback SET VERSION", Short: "Return to an earlier version of the text"}),
	)
	return cmd
}

func synonymsTryCommand(p *cli.Program, path func(set string) string) *cobra.Command {
	var draft string
	cmd := &cobra.Command{
		Use: "try SET QUESTION...", Short: "Show how the synonyms change a question",
	}
	cmd.Flags().StringVar(&draft, "draft", "", "Also try the text of this file, without saving it; - reads standard input")
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body := versioned.SynonymQuestion{Query: strings.Join(args[1:], " ")}
		if draft != "" {
			text, err := p.ReadText(draft)
			if err != nil {
				return err
			}
			body.Text = &text
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			var trial versioned.SynonymTrial
			if err := c.Post(ctx, path(args[0])+"/try", body, &trial); err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(p.Stdout, trial)
			}
			out := &cli.Printer{W: p.Stdout}
			applied(out, "in use", trial.Current)
			if body.Text != nil {
				applied(out, "draft", trial.Draft)
			}
			return out.Err
		})
	}
	return cmd
}

func applied(out *cli.Printer, heading string, all []synonyms.Applied) {
	out.Line("%s:", heading)
	for _, a := range all {
		out.Line("  %s → %s (%.3g, %s)", strings.Join(a.Source, " "), strings.Join(a.Target, " "), a.Weight, a.Rule)
	}
	if len(all) == 0 {
		out.Line("  nothing")
	}
}
