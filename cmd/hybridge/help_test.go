package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/golden"
)

// What the help says of every command and flag; docs/terms_test.go reads it.
func TestHelpOfAllCommands(t *testing.T) {
	p := &cli.Program{Stdout: io.Discard, Stderr: io.Discard, Version: "test", Groups: groups}
	var b strings.Builder
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "completion" {
			return
		}
		fmt.Fprintf(&b, "%s: %s\n", cmd.CommandPath(), cmd.Short)
		if cmd.Long != "" {
			fmt.Fprintf(&b, "%s\n", cmd.Long)
		}
		for _, group := range cmd.Groups() {
			fmt.Fprintf(&b, "  [%s]\n", group.Title)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				fmt.Fprintf(&b, "  --%s  %s\n", f.Name, f.Usage)
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(p.RootCommand())
	golden.Bytes(t, "help.txt", []byte(b.String()))
}
