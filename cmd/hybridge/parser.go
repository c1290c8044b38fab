package main

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/ingest/convert"
	"github.com/hybridge-search/hybridge/ingest/parse"
	"github.com/hybridge-search/hybridge/ingest/parse/pool"
)

// parserCommand is what a gateway starts to parse files, not one for people.
const parserCommand = "parse-files"

func (p *program) parserCommand() *cobra.Command {
	var compiled string
	command := &cobra.Command{
		Use:    parserCommand,
		Short:  "Split files that come on standard input, for a gateway",
		Hidden: true,
		RunE:   func(*cobra.Command, []string) error { return pool.Serve(p.stdin, p.stdout, compiled) },
	}
	command.Flags().StringVar(&compiled, "compiled", "", "Folder for what is compiled once")
	return command
}

// newParsers returns the processes that parse files, which are this program again. What they compile once
// is kept below the folder of the data.
func newParsers(size int, dataDir string) (*pool.Pool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS == "linux" {
		self = "/proc/self/exe" // this very version, when the file was replaced by another
	}
	command := []string{self, parserCommand, "--compiled", filepath.Join(dataDir, "compiled")}
	return pool.New(pool.Options{Command: command, Size: size}), nil
}

// parser is what splits files: the gateway's processes, beside a converter where one is configured.
func (a *App) parser() parse.Parser {
	c := &a.config.Ingest
	if c.ConverterURL == "" {
		return a.parsers
	}
	return convert.New(convert.Options{
		URL: c.ConverterURL, APIKey: c.ConverterKey.Reveal(), Shape: c.ConverterShape, Timeout: c.ConverterTimeout,
		Formats: c.ConverterFormats, Inner: a.parsers,
	})
}
