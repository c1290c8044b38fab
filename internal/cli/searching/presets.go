package searching

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/versioned"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/versions"
)

func presetsCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "presets",
		Short: "List, save and roll back presets",
		Long: `Presets are named ways to search: built in, of the configuration, or saved while the
gateway runs. A saved one is a JSON object, as show prints it: a built-in preset as its
base, and what it changes. Every save is a version; the next search uses it.`,
	}
	sets := cli.SetCommands[versioned.PresetVersion]{
		Program: p, Path: cli.PresetsPath, Set: "PRESET", Uncounted: true,
		State: func(v *versioned.PresetVersion) versions.Version {
			return versions.Version{
				Set: v.Name, Version: v.Version, Author: v.Author, Comment: v.Comment, CreatedAt: v.CreatedAt,
			}
		},
		Print: func(w io.Writer, v *versioned.PresetVersion) error {
			if v.Definition == nil {
				return fault.New(fault.InvalidArgument, "preset %q is built in: it has no definition, but may be a base", v.Name)
			}
			return cli.PrintJSON(w, v.Definition)
		},
		Edit: presetEdit,
	}
	cmd.AddCommand(
		presetsListCommand(p),
		sets.Show(&cobra.Command{Use: "show PRESET", Short: "Print the definition of a preset"}),
		sets.Save(&cobra.Command{
			Use:     "save PRESET FILE",
			Aliases: []string{"put"},
			Short:   "Save the definition in a file as the new version; - reads standard input",
			Example: "  hybridge presets show support > p.json; $EDITOR p.json; hybridge presets save support p.json\n" +
				`  echo '{"base": "rrf", "rrf_k": 20}' | hybridge presets save flat -`,
		}),
		presetsDeleteCommand(p, sets.Of),
		sets.History(&cobra.Command{
			Use: "history PRESET", Aliases: []string{"versions"}, Short: "List the versions of a saved preset, the newest first",
		}),
		sets.Rollback(&cobra.Command{
			Use: "rollback PRESET VERSION", Short: "Return to an earlier version of a preset",
		}),
	)
	return cmd
}

// presetEdit is the body for a definition, which the gateway reads: it knows best what is wrong with one.
func presetEdit(text string, base *int, comment string) (any, error) {
	if !json.Valid([]byte(text)) {
		return nil, fault.Invalid("FILE", text, "a JSON object such as {\"base\": \"rrf\", \"top_k\": 5}")
	}
	return struct {
		Definition  json.RawMessage `json:"definition"`
		BaseVersion *int            `json:"base_version,omitempty"`
		Comment     string          `json:"comment,omitempty"`
	}{json.RawMessage(text), base, comment}, nil
}

func presetsListCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the presets"}
	asJSON := cli.AddJSON(cmd.Flags())
	return p.Calling(cmd, func(ctx context.Context, c *cli.Client, _ []string) error {
		var list versioned.Presets
		if err := c.Get(ctx, cli.PresetsPath, &list); err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(p.Stdout, list)
		}
		return printPresets(p, &list)
	})
}

// printPresets shows the source and the description of each preset.
func printPresets(p *cli.Program, list *versioned.Presets) error {
	out := cli.NewTable(p.Stdout)
	out.Line("PRESET\tSOURCE\tBASE\tVERSION\tWHEN\tABOUT")
	for i := range list.Details {
		d := &list.Details[i]
		version, when := "", ""
		if d.Version > 0 {
			version, when = strconv.Itoa(d.Version), d.UpdatedAt.Local().Format(time.DateTime)
		}
		out.Line("%s\t%s\t%s\t%s\t%s\t%s", d.Name, d.Source, d.Base, version, when, cli.Plain(aboutPreset(d, list.Default)))
	}
	return out.Flush()
}

// aboutPreset describes a preset, problems first.
func aboutPreset(d *presets.Detail, standard string) string {
	var parts []string
	if d.Unused != "" {
		parts = append(parts, "not used: "+d.Unused)
	}
	if d.Name == standard && d.Unused == "" {
		parts = append(parts, "the default")
	}
	if d.Description != "" {
		parts = append(parts, d.Description)
	}
	if p := d.Provenance; p != nil && p.Metric != "" && p.Mean != nil {
		parts = append(parts, fmt.Sprintf("%+.3g %s over %s", *p.Mean, p.Metric, cmp.Or(p.Base, "what was before")))
	}
	return strings.Join(parts, "; ")
}

func presetsDeleteCommand(p *cli.Program, path func(preset string) string) *cobra.Command {
	cmd := &cobra.Command{Use: "delete PRESET", Short: "Delete a saved preset with all its versions"}
	base := cli.AddBaseVersion(cmd)
	asJSON := cli.AddJSON(cmd.Flags())
	cli.AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		remove := cli.Call{Method: http.MethodDelete, Path: path(args[0])}
		if seen := base(); seen != nil {
			remove.Path += "?base_version=" + strconv.Itoa(*seen)
		}
		return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
			if _, err := c.Raw(ctx, remove); err != nil {
				return err
			}
			return p.Done(*asJSON, "deleted", args[0])
		})
	}
	return cmd
}
