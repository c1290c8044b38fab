package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
)

const keysPath = "/v1/keys"

func (p *program) keysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "Make, list, rotate and revoke API keys",
		Long: `API keys that are stored where the data is and hold on every gateway within two
seconds, without a restart. Those of the configuration file are not among them.`,
	}
	cmd.AddCommand(p.keysCreateCommand(), p.keysListCommand(), p.keysRotateCommand(), p.keysRevokeCommand())
	return cmd
}

func (p *program) keysCreateCommand() *cobra.Command {
	var roles, bases, attach []string
	var expires time.Duration
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a key and print it, this once",
		Example: "  hybridge keys create website --roles search --kb manuals --expires 2160h",
	}
	cmd.Flags().StringSliceVar(&roles, "roles", []string{keys.Search}, "Of search, write, manage, operate")
	cmd.Flags().StringSliceVar(&bases, "kb", nil, "Knowledge bases that the key is limited to (default: all)")
	cmd.Flags().StringSliceVar(&attach, "attach", nil,
		"Existing Elasticsearch indexes that it may attach, as ragflow_* (default: none)")
	cmd.Flags().DurationVar(&expires, "expires", 0, "How long it is valid, as 720h (default: until it is revoked)")
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if expires < 0 {
			return fault.Invalid("--expires", expires, "a duration above 0")
		}
		wanted := gateway.NewKey{Name: args[0], Roles: roles, KnowledgeBases: bases, Attach: attach}
		if expires > 0 {
			at := time.Now().Add(expires).UTC().Truncate(time.Second)
			wanted.ExpiresAt = &at
		}
		do, err := postJSON(keysPath, wanted)
		if err != nil {
			return err
		}
		return p.printMade(cmd, do, *asJSON)
	}
	return cmd
}

// printMade prints the key that a call makes.
func (p *program) printMade(cmd *cobra.Command, do call, inJSON bool) error {
	return p.withGateway(cmd, func(ctx context.Context, c *client) error {
		text, err := c.raw(ctx, do)
		if err != nil {
			return err
		}
		var made gateway.MadeKey
		if err := c.decode(text, &made); err != nil {
			return err
		}
		if inJSON {
			return printJSON(p.stdout, made)
		}
		out := &printer{w: p.stdout}
		out.line("%s", made.Key)
		return out.err
	})
}

func (p *program) keysListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the keys"}
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			var list gateway.KeyList
			if err := c.get(ctx, keysPath, &list); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(p.stdout, list.Keys)
			}
			return p.printKeys(list.Keys)
		})
	}
	return cmd
}

func (p *program) printKeys(list []keys.Record) error {
	table := newTable(p.stdout)
	out := &printer{w: table}
	out.line("NAME\tROLES\tKNOWLEDGE BASES\tSTATE\tLAST USE")
	slices.SortFunc(list, func(a, b keys.Record) int { return strings.Compare(a.Name, b.Name) })
	now := time.Now()
	for i := range list {
		r := &list[i]
		bases, state, used := "all", "valid", "never"
		if r.KnowledgeBases != nil {
			bases = strings.Join(r.KnowledgeBases, ",")
		}
		switch {
		case r.RevokedAt != nil:
			state = "revoked " + r.RevokedAt.Local().Format(time.DateTime)
		case !r.Valid(now):
			state = "expired " + r.ExpiresAt.Local().Format(time.DateTime)
		case r.ExpiresAt != nil:
			state = "until " + r.ExpiresAt.Local().Format(time.DateTime)
		}
		if r.LastUsed != nil {
			used = r.LastUsed.Local().Format(time.DateTime)
		}
		out.line("%s\t%s\t%s\t%s\t%s", r.Name, strings.Join(r.Roles, ","), bases, state, used)
	}
	if out.err != nil {
		return out.err
	}
	return table.Flush()
}

func (p *program) keysRotateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rotate NAME", Short: "Give a key a new secret and print it, this once",
	}
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		rotate := call{method: http.MethodPost, path: keysPath + "/" + url.PathEscape(args[0]) + "/rotate"}
		return p.printMade(cmd, rotate, *asJSON)
	}
	return cmd
}

func (p *program) keysRevokeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "revoke NAME", Short: "End a key, at once"}
	asJSON := addJSON(cmd.Flags())
	addTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.withGateway(cmd, func(ctx context.Context, c *client) error {
			_, err := c.raw(ctx, call{method: http.MethodDelete, path: keysPath + "/" + url.PathEscape(args[0])})
			if err != nil {
				return err
			}
			return p.done(*asJSON, "revoked", args[0])
		})
	}
	return cmd
}
