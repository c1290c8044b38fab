package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/synonyms"
)

func (p *program) synonymsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "synonyms",
		Short: "Show, edit, try and roll back synonyms",
		Long: `Sets of synonyms, one for each knowledge base and "global" for all of them, edited
while the gateway runs. Every edit is a version. Files of the setting synonyms.path
are used beside them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		p.synonymsListCommand(), p.synonymsShowCommand(), p.synonymsSaveCommand(),
		p.synonymsTryCommand(), p.synonymsHistoryCommand(), p.synonymsRollbackCommand(),
	)
	return cmd
}

func synonymPath(set string) string { return "/v1/synonyms/" + url.PathEscape(set) }

func (p *program) synonymsListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the sets", Args: cobra.NoArgs}
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			var list gateway.SynonymSets
			if err := c.get(ctx, "/v1/synonyms", &list); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(p.stdout, list.Sets)
			}
			return printVersions(p.stdout, list.Sets)
		})
	}
	return cmd
}

func printVersions(w io.Writer, versions []synonyms.Version) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	out := &printer{w: table}
	out.line("SET\tVERSION\tRULES\tWHEN\tAUTHOR\tCOMMENT")
	for i := range versions {
		v := &versions[i]
		out.line("%s\t%d\t%d\t%s\t%s\t%s", v.Set, v.Version, v.Rules,
			v.CreatedAt.Local().Format(time.DateTime), v.Author, v.Comment)
	}
	if out.err != nil {
		return out.err
	}
	return table.Flush()
}

func (p *program) synonymsShowCommand() *cobra.Command {
	var version int
	cmd := &cobra.Command{Use: "show SET", Short: "Print a set's text", Args: cobra.ExactArgs(1)}
	cmd.Flags().IntVar(&version, "version", 0, "An earlier version (default: the one in use)")
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			var v synonyms.Version
			if err := c.get(ctx, synonymPath(args[0])+"?version="+strconv.Itoa(version), &v); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(p.stdout, v)
			}
			_, err := io.WriteString(p.stdout, strings.TrimSuffix(v.Text, "\n")+"\n")
			return err
		})
	}
	return cmd
}

func (p *program) synonymsSaveCommand() *cobra.Command {
	var body gateway.SynonymText
	var base int
	cmd := &cobra.Command{
		Use:     "save SET FILE",
		Short:   "Put the text of a file into use, or of standard input with -",
		Example: "  hybridge synonyms show manuals > s.txt; $EDITOR s.txt; hybridge synonyms save manuals s.txt",
		Args:    cobra.ExactArgs(2),
	}
	cmd.Flags().StringVar(&body.Comment, "comment", "", "Why, for the history")
	cmd.Flags().IntVar(&base, "base", 0, "Fail unless this version is in use")
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := p.readText(args[1])
		if err != nil {
			return err
		}
		body.Text = text
		if cmd.Flags().Changed("base") {
			body.BaseVersion = &base
		}
		return p.changeSynonyms(cmd, http.MethodPut, synonymPath(args[0]), body, *asJSON)
	}
	return cmd
}

// readText reads a file, or standard input for -.
func (p *program) readText(path string) (string, error) {
	input := p.stdin
	if path != "-" {
		file, err := os.Open(path) //nolint:gosec // the user names it
		if err != nil {
			return "", fault.Wrap(fault.NotFound, err, "reading %s", path)
		}
		defer file.Close() //nolint:errcheck // it only reads
		input = file
	}
	text, err := io.ReadAll(io.LimitReader(input, synonyms.MaxText+1))
	if err != nil {
		return "", fault.Wrap(fault.InvalidArgument, err, "reading %s", path)
	}
	return string(text), nil
}

func (p *program) changeSynonyms(cmd *cobra.Command, method, path string, body any, inJSON bool) error {
	return p.withGateway(cmd, func(ctx context.Context, c *client) error {
		change, err := postJSON(path, body)
		if err != nil {
			return err
		}
		change.method = method
		text, err := c.raw(ctx, change)
		if err != nil {
			return err
		}
		var v synonyms.Version
		if err := c.decode(text, &v); err != nil {
			return err
		}
		if inJSON {
			return printJSON(p.stdout, v)
		}
		out := &printer{w: p.stdout}
		out.line("%s: version %d with %d rules is in use", v.Set, v.Version, v.Rules)
		return out.err
	})
}

func (p *program) synonymsRollbackCommand() *cobra.Command {
	var body gateway.Rollback
	cmd := &cobra.Command{
		Use: "rollback SET VERSION", Short: "Put an earlier version's text into use again", Args: cobra.ExactArgs(2),
	}
	cmd.Flags().StringVar(&body.Comment, "comment", "", "Why, for the history")
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		version, err := strconv.Atoi(args[1])
		if err != nil {
			return fault.Invalid("VERSION", args[1], "a version of the set, from 1")
		}
		body.Version = version
		return p.changeSynonyms(cmd, http.MethodPost, synonymPath(args[0])+"/rollback", body, *asJSON)
	}
	return cmd
}

func (p *program) synonymsHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "history SET", Short: "List a set's versions, the newest first", Args: cobra.ExactArgs(1)}
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			var history gateway.SynonymHistory
			if err := c.get(ctx, synonymPath(args[0])+"/versions", &history); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(p.stdout, history.Versions)
			}
			return printVersions(p.stdout, history.Versions)
		})
	}
	return cmd
}

func (p *program) synonymsTryCommand() *cobra.Command {
	var draft string
	cmd := &cobra.Command{
		Use: "try SET QUESTION", Short: "Show what the synonyms do to a question", Args: cobra.MinimumNArgs(2),
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
			try, err := postJSON(synonymPath(args[0])+"/try", body)
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
