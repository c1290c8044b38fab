package cli

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/locale"
	"github.com/hybridge-search/hybridge/versions"
)

// SetCommands are the commands on sets that have versions, which the API gives as V. Each gets its
// name and its help from the caller.
type SetCommands[V any] struct {
	Program *Program
	Path    string // of all sets
	Set     string // what tables call one

	Uncounted bool // it is no list of rules

	State func(*V) versions.Version
	Print func(io.Writer, *V) error
	Edit  func(text string, base *int, comment string) (body any, err error)
}

// Of is the path of a set.
func (s SetCommands[V]) Of(set string) string { return s.Path + "/" + url.PathEscape(set) }

// List is the command that lists sets.
func (s SetCommands[V]) List(cmd *cobra.Command) *cobra.Command {
	asJSON := AddJSON(cmd.Flags())
	return s.Program.Calling(cmd, func(ctx context.Context, c *Client, _ []string) error {
		var list struct{ Sets []V }
		if err := c.Get(ctx, s.Path, &list); err != nil {
			return err
		}
		return s.table(list.Sets, *asJSON)
	})
}

// History is the command that lists the versions of a set.
func (s SetCommands[V]) History(cmd *cobra.Command) *cobra.Command {
	asJSON := AddJSON(cmd.Flags())
	return s.Program.Calling(cmd, func(ctx context.Context, c *Client, args []string) error {
		var history struct{ Versions []V }
		if err := c.Get(ctx, s.Of(args[0])+"/versions", &history); err != nil {
			return err
		}
		return s.table(history.Versions, *asJSON)
	})
}

func (s SetCommands[V]) table(all []V, inJSON bool) error {
	if inJSON {
		return PrintJSON(s.Program.Stdout, all)
	}
	out := NewTable(s.Program.Stdout)
	if s.Uncounted {
		out.Line("%s\tVERSION\tWHEN\tAUTHOR\tCOMMENT", locale.Text(s.Set))
	} else {
		out.Line("%s\tVERSION\tRULES\tWHEN\tAUTHOR\tCOMMENT", locale.Text(s.Set))
	}
	for i := range all {
		v, rules := s.State(&all[i]), ""
		if !s.Uncounted {
			rules = "\t" + strconv.Itoa(v.Rules)
		}
		out.Line("%s\t%d%s\t%s\t%s\t%s", v.Set, v.Version, rules, v.CreatedAt.Local().Format(time.DateTime),
			v.Author, v.Comment)
	}
	return out.Flush()
}

// Show is the command that prints a set.
func (s SetCommands[V]) Show(cmd *cobra.Command) *cobra.Command {
	var version int
	cmd.Flags().IntVar(&version, "version", 0, "An earlier version (default: the current one)")
	asJSON := AddJSON(cmd.Flags())
	return s.Program.Calling(cmd, func(ctx context.Context, c *Client, args []string) error {
		var v V
		if err := c.Get(ctx, s.Of(args[0])+"?version="+strconv.Itoa(version), &v); err != nil {
			return err
		}
		if *asJSON {
			return PrintJSON(s.Program.Stdout, v)
		}
		if err := s.Print(s.Program.Stdout, &v); err != nil {
			return err
		}
		if of := s.State(&v); version == 0 && of.Version > 0 { // beside the text, which is for a file
			s.Program.Note("%s: version %d is in use; save with --base %d refuses when another came since",
				of.Set, of.Version, of.Version)
		}
		return nil
	})
}

// AddBaseVersion adds the flag for the version that was edited; base is nil without it.
func AddBaseVersion(cmd *cobra.Command) (base func() *int) {
	seen := cmd.Flags().Int("base", 0, "Fail unless this is the current version")
	return func() *int {
		if !cmd.Flags().Changed("base") {
			return nil
		}
		return seen
	}
}

// Save is the command that stores a version of a set.
func (s SetCommands[V]) Save(cmd *cobra.Command) *cobra.Command {
	var comment string
	cmd.Flags().StringVar(&comment, "comment", "", "Comment for the history")
	edited := AddBaseVersion(cmd)
	asJSON := AddJSON(cmd.Flags())
	AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := s.Program.ReadText(args[1])
		if err != nil {
			return err
		}
		body, err := s.Edit(text, edited(), comment)
		if err != nil {
			return err
		}
		return s.change(cmd, http.MethodPut, s.Of(args[0]), body, *asJSON)
	}
	return cmd
}

// Rollback is the command that puts an earlier version into use.
func (s SetCommands[V]) Rollback(cmd *cobra.Command) *cobra.Command {
	var body versioned.Rollback
	cmd.Flags().StringVar(&body.Comment, "comment", "", "Comment for the history")
	base := AddBaseVersion(cmd)
	asJSON := AddJSON(cmd.Flags())
	AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		version, err := strconv.Atoi(args[1])
		if err != nil {
			return fault.Invalid("VERSION", args[1], "a version of the set, from 1")
		}
		body.Version, body.BaseVersion = version, base()
		return s.change(cmd, http.MethodPost, s.Of(args[0])+"/rollback", body, *asJSON)
	}
	return cmd
}

// change sends an edit and reports the version in use.
func (s SetCommands[V]) change(cmd *cobra.Command, method, path string, body any, inJSON bool) error {
	return s.Program.WithGateway(cmd, func(ctx context.Context, c *Client) error {
		var v V
		if err := c.Send(ctx, method, path, body, &v); err != nil {
			return err
		}
		if inJSON {
			return PrintJSON(s.Program.Stdout, v)
		}
		state, out := s.State(&v), &Printer{W: s.Program.Stdout}
		if s.Uncounted {
			out.Line("%s: version %d is in use", state.Set, state.Version)
		} else {
			out.Line("%s: version %d with %d rules is in use", state.Set, state.Version, state.Rules)
		}
		return out.Err
	})
}

// ReadText reads a file, or standard input for -.
func (p *Program) ReadText(path string) (string, error) {
	input := p.Stdin
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
