package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/locale"
)

// flagGroup gives the heading of a flag in the help; none: among the command's own.
const flagGroup = "hybridge_group"

// The groups of flags.
const (
	ofGateway  = "gateway"  // which gateway the command uses
	OfSettings = "settings" // settings that count for the command
	ofOwn      = "own"      // settings that count only while there is no gateway, folded into a line
)

// grouped puts flags under a heading.
func grouped(flags *pflag.FlagSet, group string, names ...string) {
	for _, name := range names {
		_ = flags.SetAnnotation(name, flagGroup, []string{group}) // fails only for a flag that does not exist
	}
}

// usage prints the help of a command: relevant flags first, and rarely relevant ones in one line.
func (p *Program) usage(cmd *cobra.Command) error {
	out := &Printer{W: &localized{cmd.OutOrStderr(), p.language}}
	out.Line("Usage:")
	if cmd.HasAvailableSubCommands() {
		out.Line("  %s COMMAND", cmd.CommandPath())
	} else {
		out.Line("  %s", strings.Replace(cmd.UseLine(), "[flags]", out.Say("[flags]"), 1))
	}
	if len(cmd.Aliases) > 0 {
		out.Line("\nAliases:\n  %s", cmd.NameAndAliases())
	}
	if cmd.HasExample() {
		out.Line("\nExamples:\n%s", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		out.commands(cmd)
	}
	out.flags("Flags", flagsOf(cmd, ""))
	out.flags("Which gateway", flagsOf(cmd, ofGateway))
	out.flags("Settings", flagsOf(cmd, OfSettings))
	switch {
	case flagsOf(cmd, ofOwn).HasFlags():
		out.Line("\nSettings, without a gateway: --data-dir, --config and others; see 'hybridge help %s'.", settingsTopic)
	case flagsOf(cmd, OfSettings).HasFlags():
		out.Line("\nMore settings, in the environment or a configuration file: see 'hybridge help %s'.", settingsTopic)
	}
	if cmd.HasAvailableSubCommands() {
		out.Line("\nUse '%s COMMAND --help' for more about a command.", cmd.CommandPath())
	}
	return out.Err
}

// commands lists the subcommands of a command, by their groups.
func (out *Printer) commands(cmd *cobra.Command) {
	groups := append(slices.Clone(cmd.Groups()), &cobra.Group{Title: "Commands"})
	if len(groups) > 1 {
		groups[len(groups)-1].Title = "Further"
	}
	for _, group := range groups {
		out.Line("\n%s:", locale.Text(group.Title))
		for _, sub := range cmd.Commands() {
			if isListed(sub) && sub.GroupID == group.ID {
				out.Line("  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
}

// isListed reports whether the help lists a command.
func isListed(cmd *cobra.Command) bool {
	return cmd.IsAvailableCommand() || cmd.IsAdditionalHelpTopicCommand() || cmd.Name() == "help"
}

// flagsOf are the flags of a group that the help shows.
func flagsOf(cmd *cobra.Command, group string) *pflag.FlagSet {
	chosen := pflag.NewFlagSet(group, pflag.ContinueOnError)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		in := ""
		if said := f.Annotations[flagGroup]; len(said) > 0 {
			in = said[0]
		}
		if in == group && !f.Hidden {
			shown := *f
			shown.Value = described{f.Value}
			shown.DefValue = strings.Trim(shown.DefValue, "[]")
			if strings.Contains(shown.Usage, "(default:") { // which says more
				shown.DefValue = ""
			}
			chosen.AddFlag(&shown)
		}
	})
	return chosen
}

const settingsTopic = "settings"

// settingsHelp is a topic of the help, not a command.
func (p *Program) settingsHelp() *cobra.Command {
	const indent, width = "      ", 100
	var text strings.Builder
	out := &Printer{W: &localized{&text, p.language}}
	out.Line("A gateway has settings: by a flag, else a variable of the environment, else a configuration\n" +
		"file in YAML (--config, or the variable HYBRIDGE_CONFIG). `hybridge serve` takes them, and so does\n" +
		"a command that finds no gateway and opens the data directory itself. Where a command reaches a\n" +
		"gateway they change nothing: that gateway has its own.\n\n" +
		"`hybridge config check` prints what is in effect.")
	for _, s := range config.Settings() {
		variable := s.Env()
		if variable == "" {
			continue // of an entry: a file alone sets it
		}
		names := []string{variable}
		if s.Flag != "" {
			names = append([]string{"--" + s.Flag}, names...)
		}
		out.Line("\n  %s  (%s)\n      %s", s.Key, strings.Join(names, ", "), wrapped(p.language.Text(s.Doc), indent, width))
		if s.Default != "" {
			out.Line("      Default: %s", s.Default)
		}
	}
	return &cobra.Command{Use: settingsTopic, Short: "All settings, and how to set them", Long: text.String()}
}
