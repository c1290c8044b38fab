// Package cli is the command line: the root command, and what all commands share. The commands themselves are in
// folders, grouped as help groups them: searching, measuring, content and operating.
//
// program.go runs a command line and tells its errors; root.go, usage.go (help) and complete.go (the shell) are about
// all commands. A command takes its arguments and flags by arguments.go, settings.go and confirm.go, reaches a gateway
// by connect.go and client.go, and writes by output.go, table.go, wrap.go and progress.go; language.go says in which
// language, reader.go takes it along, and flaghelp.go lists flags in a help. sets.go are commands on sets with
// versions. names.go says which flags and arguments are names of something, listed.go which names there are, and
// suggest.go which one a misspelt one may stand for; hint.go says how to get an embedding model.
package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/locale"
)

// The exit codes of commands.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitUnavailable = 4
	ExitUnanswered  = 5
)

// Program is the environment of a command.
type Program struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string
	Version        string
	Groups         []Group

	Name     string           // of the program, as it was started; may be empty
	args     []string         // after it
	language *locale.Language // of its reader
	started  bool             // the command line is valid
}

// Run executes a command line and returns its exit code.
func (p *Program) Run(ctx context.Context, args []string) int {
	p.args = args
	p.speak(languageOf(args, p.Variable))
	root := p.RootCommand()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !errors.Is(err, ErrReported) && !errors.Is(err, ErrUnanswered) {
		p.tell(cmd, didYouMean(ctx, p.withoutGateway(cmd), err))
	}
	return p.exitCode(err)
}

// toldProblem is an error in JSON, in the form of the HTTP API.
type toldProblem struct {
	endpoint.Problem
	DidYouMean []string `json:"did_you_mean,omitempty"`
}

// tell prints an error, as JSON to who asked for JSON.
func (p *Program) tell(cmd *cobra.Command, err error) {
	if p.inJSON() {
		_ = PrintJSON(p.Stderr, p.problemOf(err)) // there is no other place to say it
		return
	}
	out := &Printer{W: p.Stderr}
	out.Line("hybridge: %v", err)
	if p.isUsage(cmd, err) {
		out.Line("See '%s --help'.", cmd.CommandPath())
	}
}

func (p *Program) problemOf(err error) *toldProblem {
	if !p.started && fault.KindOf(err) == fault.Internal {
		err = fault.New(fault.InvalidArgument, "%v", err)
	}
	told := &toldProblem{Problem: endpoint.ProblemOf(err)}
	told.Detail = p.language.Lines(err.Error()) // who runs a command may know all of it
	var s *suggestion
	if errors.As(err, &s) {
		told.DidYouMean = s.meant
	}
	return told
}

// isUsage reports whether the help of the command says what an error is about: a flag, or the member
// of a request or the setting that a flag is called by.
func (p *Program) isUsage(cmd *cobra.Command, err error) bool {
	var f *fault.Error
	if !p.started || !errors.As(err, &f) || f.Kind != fault.InvalidArgument {
		return !p.started
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(f.Field, "--"), " ")
	return cmd.Flags().Lookup(strings.NewReplacer("_", "-", ".", "-").Replace(name)) != nil
}

// inJSON reports whether the command line asks for JSON, also one that is wrong.
func (p *Program) inJSON() bool {
	args := p.args
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// warn says on standard error what does not end the command.
func (p *Program) warn(format string, args ...any) {
	text := p.language.Format(format, args...)
	if p.inJSON() {
		_ = PrintJSON(p.Stderr, map[string]string{"warning": text}) // as in tell
		return
	}
	out := &Printer{W: p.Stderr}
	out.Line("hybridge: warning: %s", text)
}

// Done reports the outcome for a named thing: "deleted manuals", {"deleted": "manuals"}.
func (p *Program) Done(inJSON bool, what, name string) error {
	if inJSON {
		return PrintJSON(p.Stdout, map[string]string{what: name})
	}
	out := &Printer{W: p.Stdout}
	out.Line("%s %s", locale.Text(what), name)
	return out.Err
}

// Note writes a line to standard error, beside the answer.
func (p *Program) Note(format string, args ...any) {
	out := &Printer{W: p.Stderr}
	out.Line(format, args...)
}

// ErrReported is the error of a command that has printed its failures already.
var ErrReported = errors.New("reported")

func (p *Program) exitCode(err error) int {
	switch {
	case err == nil:
		return ExitOK
	case !p.started:
		return ExitUsage
	case errors.Is(err, ErrReported):
		return ExitFailed
	case errors.Is(err, ErrUnanswered):
		return ExitUnanswered
	}
	switch fault.KindOf(err) { //nolint:exhaustive // the others are failures
	case fault.InvalidArgument, fault.Unsupported, fault.TooLarge:
		return ExitUsage
	case fault.NotFound:
		return ExitNotFound
	case fault.Unavailable, fault.Overloaded, fault.Timeout:
		return ExitUnavailable
	default:
		return ExitFailed
	}
}

// ErrUnanswered ends a command whose question nothing answers. The command has said so.
var ErrUnanswered = errors.New("nothing answers the question")
