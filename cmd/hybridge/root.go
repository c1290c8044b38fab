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
PostgreSQL or its own engine in one file, and fuses them into one explained answer.

Exit codes: 0 all went well; 1 it failed; 2 the command line, the configuration or
the request is wrong; 3 what was named does not exist; 4 a server is away or too slow;
5 nothing answers the question (answer).
Answers are on standard output, errors and warnings on standard error; with --json
both are JSON, and an error has the members of the HTTP API's: code, field, detail.`,
		Version:       p.version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	for _, group := range p.commandGroups() {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, cmd := range group.commands {
			cmd.GroupID = group.title
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(p.parserCommand(), p.versionCommand(), settingsHelp())
	root.SetHelpCommand(helpCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.SetUsageFunc(usage)
	root.SetFlagErrorFunc(flagProblem)
	p.complement(root)
	return root
}

type commandGroup struct {
	title    string
	commands []*cobra.Command
}

func (p *program) commandGroups() []commandGroup {
	return []commandGroup{
		{"Search", []*cobra.Command{p.searchCommand(), p.answerCommand(), p.analyzeCommand(), p.presetsCommand()}},
		{"Which is better", []*cobra.Command{
			p.evalCommand(), p.tuneCommand(), p.querySetsCommand(), p.judgmentsCommand(), p.evaluationsCommand(),
			p.tuningsCommand(), p.eventsCommand(), p.experimentsCommand(),
		}},
		{"What is searched", []*cobra.Command{
			p.knowledgeBaseCommand(), p.ingestCommand(), p.synonymsCommand(), p.rulesCommand(), p.mappingsCommand(),
		}},
		{"The gateway", []*cobra.Command{
			p.serveCommand(), p.mcpCommand(), p.doctorCommand(), p.configCommand(), p.keysCommand(),
			p.backupCommand(), p.restoreCommand(),
		}},
	}
}

// complement gives a command, and all below it, what all have alike: what arguments it takes, and
// what the shell completes.
func (p *program) complement(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		p.complement(sub)
	}
	switch {
	case cmd.HasSubCommands():
		cmd.Args = checkCommand
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	case cmd.Args == nil && cmd.Runnable():
		cmd.Args = checkArguments
	}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = "Show this help"
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			p.started = true
			return run(cmd, args)
		}
	}
	p.completeAll(cmd)
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			out := &printer{w: p.stdout}
			out.line("hybridge version %s", p.version)
			return out.err
		},
	}
}

// helpCommand is cobra's, but that it refuses what does not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]...",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = checkCommand(about, rest)
			}
			if err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			var below []string
			if about, _, err := cmd.Root().Find(args); err == nil {
				for _, sub := range about.Commands() {
					if isListed(sub) && strings.HasPrefix(sub.Name(), typed) {
						below = append(below, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return below, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

const configFlag = "config"

// addSettings adds the flags of the configuration, under a heading of the help. It hides those that
// make no sense for the command, which still accepts them.
func addSettings(cmd *cobra.Command, group string, hide ...string) {
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

// notOfFolders are the settings that mean nothing for a command that only reads or writes the data directory.
var notOfFolders = []string{
	"listen", "demo", "accept-loss", "elasticsearch-url", "postgres-url", "redis-url", "embedding-url", "embedding-model",
	"log-format", "log-level",
}

// settings loads the configuration of a command.
func (p *program) settings(cmd *cobra.Command) (*config.Config, error) {
	c, _, err := p.settingsWithOrigins(cmd)
	return c, err
}

// settingsWithOrigins also tells where each setting came from.
func (p *program) settingsWithOrigins(cmd *cobra.Command) (*config.Config, config.Origins, error) {
	path, err := cmd.Flags().GetString(configFlag)
	if err != nil {
		return nil, nil, fault.Wrap(fault.Internal, err, "read --%s", configFlag)
	}
	// These variables are for clients, not settings of a gateway.
	environ := slices.DeleteFunc(slices.Clone(p.environ), func(variable string) bool {
		return strings.HasPrefix(variable, serverVariable+"=") || strings.HasPrefix(variable, keyVariable+"=")
	})
	return config.LoadWithOrigins(path, cmd.Flags(), environ)
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

// done says what became of what was named: "deleted manuals", {"deleted": "manuals"}.
func (p *program) done(inJSON bool, what, name string) error {
	if inJSON {
		return printJSON(p.stdout, map[string]string{what: name})
	}
	out := &printer{w: p.stdout}
	out.line("%s %s", what, name)
	return out.err
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
