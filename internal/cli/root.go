package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// RootCommand makes the command of the program, with the groups below it.
func (p *Program) RootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "hybridge",
		Short: "Keyword and vector search, fused and explained",
		Long: `Hybridge turns a plain question into keyword and vector searches on Elasticsearch,
PostgreSQL or its own engine in one file, and fuses them into one explained answer.

Exit codes: 0 success; 1 failure; 2 the command line, the configuration or
the request is wrong; 3 not found; 4 a server is unavailable or too slow;
5 nothing answers the question (answer).
Answers are on standard output, errors and warnings on standard error; with --json
both are JSON, and an error has the fields of the HTTP API: code, field, detail.`,
		Version:       p.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().Var(&languageValue{}, langFlag,
		"Language of help, reports and errors (default: by LC_ALL, LC_MESSAGES and LANG)")
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	for _, group := range p.Groups {
		root.AddGroup(&cobra.Group{ID: group.Title, Title: group.Title})
		for _, cmd := range group.Commands(p) {
			cmd.GroupID = group.Title
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(p.versionCommand(), p.settingsHelp())
	root.SetHelpCommand(helpCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.InitDefaultVersionFlag()
	if f := root.Flags().Lookup("version"); f != nil { // there is none without a version
		f.Usage = "Print the version"
	}
	root.SetUsageFunc(p.usage)
	root.SetFlagErrorFunc(flagProblem)
	p.complement(root)
	return root
}

// Group is a heading of the help with the commands below it.
type Group struct {
	Title    string
	Commands func(*Program) []*cobra.Command
}

// complement gives a command, and all below it, the common parts: accepted arguments, and
// completions.
func (p *Program) complement(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		p.complement(sub)
	}
	switch {
	case cmd.HasSubCommands():
		cmd.Args = checkCommand
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	case cmd.Args == nil && cmd.Runnable():
		cmd.Args = CheckArguments
	}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = "Show this help"
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			p.started = true
			return run(cmd, args)
		}
	}
	p.translateHelp(cmd)
	p.completeAll(cmd)
}

func (p *Program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			out := &Printer{W: p.Stdout}
			out.Line("hybridge version %s", p.Version)
			return out.Err
		},
	}
}

// helpCommand is cobra's, but refuses unknown commands.
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
