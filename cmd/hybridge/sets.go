package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/versions"
)

// setCommands are the commands on sets that have versions, which the API gives as V. Each gets its
// name and its help from the caller.
type setCommands[V any] struct {
	program *program
	path    string // of all sets
	set     string // what tables call one

	uncounted bool // it is no list of rules

	state func(*V) versions.Version
	print func(io.Writer, *V) error
	edit  func(text string, base *int, comment string) (body any, err error)
}

// of is the path of a set.
func (s setCommands[V]) of(set string) string { return s.path + "/" + url.PathEscape(set) }

func (s setCommands[V]) list(cmd *cobra.Command) *cobra.Command {
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return s.program.withGateway(cmd, func(ctx context.Context, c *client) error {
			var list struct{ Sets []V }
			if err := c.get(ctx, s.path, &list); err != nil {
				return err
			}
			return s.table(list.Sets, *asJSON)
		})
	}
	return cmd
}

func (s setCommands[V]) history(cmd *cobra.Command) *cobra.Command {
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return s.program.withGateway(cmd, func(ctx context.Context, c *client) error {
			var history struct{ Versions []V }
			if err := c.get(ctx, s.of(args[0])+"/versions", &history); err != nil {
				return err
			}
			return s.table(history.Versions, *asJSON)
		})
	}
	return cmd
}

func (s setCommands[V]) table(all []V, inJSON bool) error {
	if inJSON {
		return printJSON(s.program.stdout, all)
	}
	table := newTable(s.program.stdout)
	out := &printer{w: table}
	rules := func(text string) string {
		if s.uncounted {
			return ""
		}
		return "\t" + text
	}
	out.line("%s\tVERSION%s\tWHEN\tAUTHOR\tCOMMENT", s.set, rules("RULES"))
	for i := range all {
		v := s.state(&all[i])
		out.line("%s\t%d%s\t%s\t%s\t%s", v.Set, v.Version, rules(strconv.Itoa(v.Rules)),
			v.CreatedAt.Local().Format(time.DateTime), v.Author, v.Comment)
	}
	if out.err != nil {
		return out.err
	}
	return table.Flush()
}

func (s setCommands[V]) show(cmd *cobra.Command) *cobra.Command {
	var version int
	cmd.Flags().IntVar(&version, "version", 0, "An earlier version (default: the one in use)")
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return s.program.withGateway(cmd, func(ctx context.Context, c *client) error {
			var v V
			if err := c.get(ctx, s.of(args[0])+"?version="+strconv.Itoa(version), &v); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(s.program.stdout, v)
			}
			if err := s.print(s.program.stdout, &v); err != nil {
				return err
			}
			if of := s.state(&v); version == 0 && of.Version > 0 { // beside the text, which is for a file
				fmt.Fprintf(s.program.stderr, "%s: version %d is in use; save with --base %d refuses when another came since\n",
					of.Set, of.Version, of.Version)
			}
			return nil
		})
	}
	return cmd
}

// addBase adds the flag that says which version was seen; base is nil where it is not given.
func addBase(cmd *cobra.Command) (base func() *int) {
	seen := cmd.Flags().Int("base", 0, "Fail unless this version is in use")
	return func() *int {
		if !cmd.Flags().Changed("base") {
			return nil
		}
		return seen
	}
}

func (s setCommands[V]) save(cmd *cobra.Command) *cobra.Command {
	var comment string
	cmd.Flags().StringVar(&comment, "comment", "", "Why, for the history")
	edited := addBase(cmd)
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := s.program.readText(args[1])
		if err != nil {
			return err
		}
		body, err := s.edit(text, edited(), comment)
		if err != nil {
			return err
		}
		return s.change(cmd, http.MethodPut, s.of(args[0]), body, *asJSON)
	}
	return cmd
}

func (s setCommands[V]) rollback(cmd *cobra.Command) *cobra.Command {
	var body gateway.Rollback
	cmd.Flags().StringVar(&body.Comment, "comment", "", "Why, for the history")
	base := addBase(cmd)
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		version, err := strconv.Atoi(args[1])
		if err != nil {
			return fault.Invalid("VERSION", args[1], "a version of the set, from 1")
		}
		body.Version, body.BaseVersion = version, base()
		return s.change(cmd, http.MethodPost, s.of(args[0])+"/rollback", body, *asJSON)
	}
	return cmd
}

// change sends an edit and says which version is in use.
func (s setCommands[V]) change(cmd *cobra.Command, method, path string, body any, inJSON bool) error {
	return s.program.withGateway(cmd, func(ctx context.Context, c *client) error {
		change, err := postJSON(path, body)
		if err != nil {
			return err
		}
		change.method = method
		text, err := c.raw(ctx, change)
		if err != nil {
			return err
		}
		var v V
		if err := c.decode(text, &v); err != nil {
			return err
		}
		if inJSON {
			return printJSON(s.program.stdout, v)
		}
		state, out := s.state(&v), &printer{w: s.program.stdout}
		counted := fmt.Sprintf(" with %d rules", state.Rules)
		if s.uncounted {
			counted = ""
		}
		out.line("%s: version %d%s is in use", state.Set, state.Version, counted)
		return out.err
	})
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
	text, err := io.ReadAll(io.LimitReader(input, versions.MaxText+1))
	if err != nil {
		return "", fault.Wrap(fault.InvalidArgument, err, "reading %s", path)
	}
	return string(text), nil
}
