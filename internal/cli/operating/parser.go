package operating

import (
	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/ingest/parse/pool"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// parserCommand is the command that a gateway starts to split files, not for people.
func parserCommand(p *cli.Program) *cobra.Command {
	var compiled string
	command := &cobra.Command{
		Use:    app.ParserCommand,
		Short:  "Split files that come on standard input, for a gateway",
		Hidden: true,
		RunE:   func(*cobra.Command, []string) error { return pool.Serve(p.Stdin, p.Stdout, compiled) },
	}
	command.Flags().StringVar(&compiled, "compiled", "", "Folder for what is compiled once")
	return command
}
