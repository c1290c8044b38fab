package main

import (
	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/ingest/parse/pool"
	"github.com/hybridge-search/hybridge/internal/app"
)

func (p *program) parserCommand() *cobra.Command {
	var compiled string
	command := &cobra.Command{
		Use:    app.ParserCommand,
		Short:  "Split files that come on standard input, for a gateway",
		Hidden: true,
		RunE:   func(*cobra.Command, []string) error { return pool.Serve(p.stdin, p.stdout, compiled) },
	}
	command.Flags().StringVar(&compiled, "compiled", "", "Folder for what is compiled once")
	return command
}
