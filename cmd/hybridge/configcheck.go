package main

import (
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app"
)

func (p *program) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Look at the configuration",
	}
	check := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration and print what is in effect, without secrets",
	}
	addSettings(check, ofSettings)
	inJSON := addJSON(check.Flags())
	check.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := p.settings(cmd)
		if err != nil {
			return err
		}
		if _, err := app.Planners(c); err != nil {
			return err
		}
		if *inJSON {
			return p.printConfigJSON(c)
		}
		text, err := c.YAML()
		if err != nil {
			return fault.Wrap(fault.Internal, err, "print the configuration")
		}
		_, err = p.stdout.Write(text)
		return err
	}
	cmd.AddCommand(check)
	return cmd
}

// printConfigJSON prints the YAML as JSON.
func (p *program) printConfigJSON(c *config.Config) error {
	text, err := c.YAML()
	if err != nil {
		return fault.Wrap(fault.Internal, err, "print the configuration")
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		return fault.Wrap(fault.Internal, err, "print the configuration")
	}
	return printJSON(p.stdout, values)
}
