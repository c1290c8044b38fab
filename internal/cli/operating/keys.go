package operating

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
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/locale"
)

func keysCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "Create, list, rotate and revoke API keys",
		Long: `API keys that are stored where the data is and hold on every gateway within two
seconds, without a restart. Those of the configuration file are not among them.`,
	}
	cmd.AddCommand(keysCreateCommand(p), keysListCommand(p), keysRotateCommand(p), keysRevokeCommand(p))
	return cmd
}

func keysCreateCommand(p *cli.Program) *cobra.Command {
	var roles, bases, attach []string
	var expires time.Duration
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a key and print it; it is shown only once",
		Example: "  hybridge keys create website --roles search --kb manuals --expires 2160h",
	}
	cmd.Flags().StringSliceVar(&roles, "roles", []string{keys.Search}, "Roles: search, write, manage, operate")
	cmd.Flags().StringSliceVar(&bases, "kb", nil, "Knowledge bases that the key is limited to (default: all)")
	cmd.Flags().StringSliceVar(&attach, "attach", nil,
		"Existing Elasticsearch indexes that it may attach, such as ragflow_* (default: none)")
	cmd.Flags().DurationVar(&expires, "expires", 0, "How long it is valid, such as 720h (default: until it is revoked)")
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if expires < 0 {
			return fault.Invalid("--expires", expires, "a duration above 0")
		}
		wanted := gateway.NewKey{Name: args[0], Roles: roles, KnowledgeBases: bases, Attach: attach}
		if expires > 0 {
			at := time.Now().Add(expires).UTC().Truncate(time.Second)
			wanted.ExpiresAt = &at
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			return makeKey(ctx, p, c, keyCall{cli.KeysPath, wanted, *asJSON})
		})
	}
	return cmd
}

// makeKey makes a key, or another secret of one, and prints it.
func makeKey(ctx context.Context, p *cli.Program, c *cli.Client, do keyCall) error {
	var made gateway.MadeKey
	if err := c.Post(ctx, do.path, do.body, &made); err != nil {
		return err
	}
	if do.json {
		return cli.PrintJSON(p.Stdout, made)
	}
	out := &cli.Printer{W: p.Stdout}
	out.Line("%s", made.Key)
	return out.Err
}

// keyCall is a request that makes a key.
type keyCall struct {
	path string
	body any
	json bool // print JSON
}

func keysListCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the keys"}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, _ []string) error {
		var list gateway.KeyList
		if err := c.Get(ctx, cli.KeysPath, &list); err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(p.Stdout, list.Keys)
		}
		return printKeys(p, list.Keys)
	})
}

func printKeys(p *cli.Program, list []keys.Record) error {
	out := cli.NewTable(p.Stdout)
	out.Line("NAME\tROLES\tKNOWLEDGE BASES\tSTATE\tLAST USE")
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
		out.Line("%s\t%s\t%s\t%s\t%s", r.Name, strings.Join(r.Roles, ","), locale.Text(bases), locale.Text(state),
			locale.Text(used))
	}
	return out.Flush()
}

func keysRotateCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rotate NAME", Short: "Give a key a new secret and print it; it is shown only once",
	}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		return makeKey(ctx, p, c, keyCall{cli.KeysPath + "/" + url.PathEscape(args[0]) + "/rotate", nil, *asJSON})
	})
}

func keysRevokeCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "revoke NAME", Short: "Revoke a key immediately"}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, args []string) error {
		_, err := c.Raw(ctx, cli.Call{Method: http.MethodDelete, Path: cli.KeysPath + "/" + url.PathEscape(args[0])})
		if err != nil {
			return err
		}
		return p.Done(*asJSON, "revoked", args[0])
	})
}
