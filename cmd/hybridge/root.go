package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
)

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "hybridge",
		Short: "Keyword and vector search, fused and explained",
		Long: `Hybridge turns a plain question into keyword and vector searches on Elasticsearch,
or on its own engine in one file, and fuses them into one explained answer.

Exit codes: 0 all went well; 1 it failed; 2 the command line, the configuration or
the request is wrong; 3 what was named does not exist; 4 a server is away or too slow.`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		PersistentPreRun: func(*cobra.Command, []string) {
			p.started = true
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(
		p.serveCommand(), p.ingestCommand(), p.searchCommand(), p.analyzeCommand(),
		p.knowledgeBaseCommand(), p.synonymsCommand(), p.rulesCommand(), p.keysCommand(),
		p.mappingsCommand(), p.configCommand(), p.doctorCommand(), p.evalCommand(), p.parserCommand(), p.mcpCommand(),
		p.backupCommand(), p.restoreCommand(),
	)
	return root
}

const configFlag = "config"

// addSettings adds the flags of the configuration. It hides those that make no sense for the
// command, which still accepts them.
func addSettings(flags *pflag.FlagSet, hide ...string) {
	flags.String(configFlag, "", "Configuration file in YAML (default: what HYBRIDGE_CONFIG names)")
	config.Flags(flags)
	for _, name := range hide {
		_ = flags.MarkHidden(name) // fails only for a flag that does not exist
	}
}

// settings loads the configuration of a command.
func (p *program) settings(cmd *cobra.Command) (*config.Config, error) {
	path, err := cmd.Flags().GetString(configFlag)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "read --%s", configFlag)
	}
	// These variables are for clients, not settings of a gateway.
	environ := slices.DeleteFunc(slices.Clone(p.environ), func(variable string) bool {
		return strings.HasPrefix(variable, serverVariable+"=") || strings.HasPrefix(variable, keyVariable+"=")
	})
	return config.Load(path, cmd.Flags(), environ)
}

// variable returns an environment variable, or "" if it is not set.
func (p *program) variable(name string) string {
	for _, variable := range p.environ {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value
		}
	}
	return ""
}

// newLogger returns a logger to w as configured.
func newLogger(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

func addJSON(flags *pflag.FlagSet) *bool {
	return flags.Bool("json", false, "Print JSON")
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// counted returns "1 key" or "3 keys".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// printer writes lines and keeps the first error, so that one check is enough.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}
