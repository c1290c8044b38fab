package operating

import (
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/cli"
)

func configCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Inspect the configuration",
	}
	check := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration and print the effective settings, without secrets",
	}
	cli.AddSettings(check, cli.OfSettings)
	inJSON := cli.AddJSON(check.Flags())
	check.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := p.Settings(cmd)
		if err != nil {
			return err
		}
		if _, err := app.Planners(c); err != nil {
			return err
		}
		if *inJSON {
			return printConfigJSON(p, c)
		}
		text, err := c.YAML()
		if err != nil {
			return fault.Wrap(fault.Internal, err, "print the configuration")
		}
		_, err = p.Stdout.Write(text)
		return err
	}
	cmd.AddCommand(check)
	return cmd
}

// printConfigJSON prints the YAML as JSON.
func printConfigJSON(p *cli.Program, c *config.Config) error {
	text, err := c.YAML()
	if err != nil {
		return fault.Wrap(fault.Internal, err, "print the configuration")
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		return fault.Wrap(fault.Internal, err, "print the configuration")
	}
	return cli.PrintJSON(p.Stdout, values)
}
