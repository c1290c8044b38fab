package main

import (
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/ingest/parse/pool"
)

// parserCommand is what a gateway starts to parse files, not one for people.
const parserCommand = "parse-files"

func (p *program) parserCommand() *cobra.Command {
	return &cobra.Command{
		Use:    parserCommand,
		Short:  "Split files that come on standard input, for a gateway",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return pool.Serve(p.stdin, p.stdout) },
	}
}

// newParsers returns the processes that parse files, which are this program again.
func newParsers(size int) (*pool.Pool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS == "linux" {
		self = "/proc/self/exe" // this very version, when the file was replaced by another
	}
	return pool.New(pool.Options{Command: []string{self, parserCommand}, Size: size}), nil
}
