package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/internal/app/datadir"
)

// completionPatience limits the wait of somebody who pressed Tab.
const completionPatience = time.Second

// completeAll has the shell complete the flags and arguments of a command.
func (p *Program) completeAll(cmd *cobra.Command) {
	// cobra keeps everything registered here for ever, and in it the command: only for the shell that asks.
	if len(p.args) > 0 && strings.HasPrefix(p.args[0], cobra.ShellCompRequestCmd) {
		register := func(f *pflag.Flag) {
			if complete := p.completionOf(f); complete != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // fails only for one that has its own
			}
		}
		cmd.Flags().VisitAll(register)
		cmd.PersistentFlags().VisitAll(register)
	}
	if cmd.ValidArgsFunction != nil || cmd.HasSubCommands() {
		return
	}
	all := argumentsOf(cmd)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		i := len(args)
		if len(all) > 0 && i >= len(all) && all[len(all)-1].repeated {
			i = len(all) - 1
		}
		switch {
		case i >= len(all):
			return nil, cobra.ShellCompDirectiveNoFileComp
		case isPath[all[i].name]:
			return nil, cobra.ShellCompDirectiveDefault
		}
		return p.complete(cmd, namesOf(cmd, all[i]), "", typed)
	}
}

// isPath reports whether the shell itself completes an argument.
var isPath = map[string]bool{"FILE": true, "PATH": true, "DIR": true}

// completionOf completes the values of a flag; nil: the shell does, by the names of files.
func (p *Program) completionOf(f *pflag.Flag) cobra.CompletionFunc {
	list, kind := flagNames[f.Name], f.Value.Type()
	switch {
	case list == nil && kind != "string" && kind != "stringArray":
		return cobra.NoFileCompletions
	case list == nil:
		return nil
	}
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := ""
		if kind == "stringSlice" || kind == "stringToString" { // several with commas
			before = typed[:strings.LastIndexByte(typed, ',')+1]
		}
		return p.complete(cmd, list, before, typed[len(before):])
	}
}

// complete gives the names that complete the typed text, after the part that stays before them.
func (p *Program) complete(cmd *cobra.Command, list names, before, typed string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	if list == nil {
		return nil, directive
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
	defer cancel()
	a := p.whoAnswers(cmd)
	if a.client != nil {
		defer a.client.Close()
	}
	a.typed = typed
	var found []string
	open := true // all of them go on
	for _, name := range list(ctx, a) {
		if strings.HasPrefix(name, typed) && !strings.Contains(","+before, ","+name+",") {
			found, open = append(found, before+name), open && strings.HasSuffix(name, "=")
		}
	}
	if open && len(found) > 0 {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return found, directive
}

// withoutGateway knows the names that the settings have.
func (p *Program) withoutGateway(cmd *cobra.Command) *asked {
	a := &asked{cmd: cmd}
	if cmd.Flags().Lookup(configFlag) != nil {
		a.settings, _ = p.Settings(cmd) // errors are reported when the command runs
	}
	return a
}

// whoAnswers finds the gateway that a command would use, and starts none.
func (p *Program) whoAnswers(cmd *cobra.Command) *asked {
	a := p.withoutGateway(cmd)
	if cmd.Flags().Lookup("server") == nil {
		return a
	}
	server, key, err := p.Target(cmd)
	if err != nil {
		return a
	}
	certificate := ""
	if server == "" && a.settings != nil {
		server, certificate = datadir.Serving(a.settings.DataDir), a.settings.TLS.Cert
	}
	if server == "" {
		return a
	}
	c, err := p.NewClient(server, key)
	if err == nil && certificate != "" {
		err = c.Trust(certificate)
	}
	if err == nil {
		a.client = c
	}
	return a
}
