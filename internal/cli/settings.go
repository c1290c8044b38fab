package cli

import (
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
)

const configFlag = "config"

// AddSettings adds the flags of the configuration, under a heading of the help. It hides those that
// make no sense for the command, which still accepts them.
func AddSettings(cmd *cobra.Command, group string, hide ...string) {
	flags, own := cmd.Flags(), map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) { own[f.Name] = true })
	flags.String(configFlag, "", "Configuration file in YAML (default: what HYBRIDGE_CONFIG names)")
	config.Flags(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		if !own[f.Name] {
			grouped(flags, group, f.Name)
		}
	})
	for _, name := range hide {
		_ = flags.MarkHidden(name) // fails only for a flag that does not exist
	}
	_ = cmd.MarkFlagFilename(configFlag, "yaml", "yml") // as above
	_ = cmd.MarkFlagDirname("data-dir")
}

// NotOfFolders are the settings that mean nothing for a command that only reads or writes the data directory.
var NotOfFolders = []string{
	"listen", "demo", "accept-loss", "elasticsearch-url", "postgres-url", "redis-url", "embedding-url", "embedding-model",
	"log-format", "log-level",
}

// Settings loads the configuration of a command.
func (p *Program) Settings(cmd *cobra.Command) (*config.Config, error) {
	c, _, err := p.SettingsWithOrigins(cmd)
	return c, err
}

// SettingsWithOrigins also gives the source of each setting.
func (p *Program) SettingsWithOrigins(cmd *cobra.Command) (*config.Config, config.Origins, error) {
	path, err := cmd.Flags().GetString(configFlag)
	if err != nil {
		return nil, nil, fault.Wrap(fault.Internal, err, "read --%s", configFlag)
	}
	// These variables are for clients, not settings of a gateway.
	environ := slices.DeleteFunc(slices.Clone(p.Environ), func(variable string) bool {
		return strings.HasPrefix(variable, serverVariable+"=") || strings.HasPrefix(variable, KeyVariable+"=")
	})
	return config.LoadWithOrigins(path, cmd.Flags(), environ)
}

// Variable returns an environment variable, or "" if it is not set.
func (p *Program) Variable(name string) string {
	for _, variable := range p.Environ {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value
		}
	}
	return ""
}

// NewLogger returns a logger to w as configured.
func NewLogger(w io.Writer, c config.Log) *slog.Logger {
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
