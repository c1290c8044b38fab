// Command hybridge is the search gateway and its command line.
//
// Exit codes: 0 success; 1 failure, also of a part of an ingest; 2 the command line, the
// configuration or the request is wrong; 3 what was named does not exist; 4 a server is
// unavailable, overloaded or too slow; 5 nothing answers the question.
//
// It only wires: configuration → engines → searcher → HTTP.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/internal/app/datadir"
)

// version is set when a release is built.
var version = "unknown"

const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitUnavailable = 4
	exitUnanswered  = 5
)

func main() {
	datadir.KeepPrivate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &program{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(),
		version: version, name: os.Args[0],
	}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// program is the environment of a command.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	version        string

	name    string   // of the program, as it was started; may be empty
	args    []string // after it
	started bool     // the command line is valid
}

// run executes a command line and returns its exit code.
func (p *program) run(ctx context.Context, args []string) int {
	p.args = args
	root := p.rootCommand()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !errors.Is(err, errReported) && !errors.Is(err, errUnanswered) {
		p.tell(cmd, didYouMean(ctx, p.withoutGateway(cmd), err))
	}
	return p.exitCode(err)
}

// toldProblem is an error in JSON, in the form of the HTTP API.
type toldProblem struct {
	gateway.Problem
	DidYouMean []string `json:"did_you_mean,omitempty"`
}

// tell prints an error, as JSON to who asked for JSON.
func (p *program) tell(cmd *cobra.Command, err error) {
	if p.inJSON() {
		_ = printJSON(p.stderr, p.problemOf(err)) // there is no other place to say it
		return
	}
	fmt.Fprintf(p.stderr, "hybridge: %v\n", err)
	if p.isUsage(cmd, err) {
		fmt.Fprintf(p.stderr, "See '%s --help'.\n", cmd.CommandPath())
	}
}

func (p *program) problemOf(err error) *toldProblem {
	if !p.started && fault.KindOf(err) == fault.Internal {
		err = fault.New(fault.InvalidArgument, "%v", err)
	}
	told := &toldProblem{Problem: gateway.ProblemOf(err)}
	told.Detail = err.Error() // who runs a command may know all of it
	var s *suggestion
	if errors.As(err, &s) {
		told.DidYouMean = s.meant
	}
	return told
}

// isUsage reports whether the help of the command says what an error is about: a flag, or the member
// of a request or the setting that a flag is called by.
func (p *program) isUsage(cmd *cobra.Command, err error) bool {
	var f *fault.Error
	if !p.started || !errors.As(err, &f) || f.Kind != fault.InvalidArgument {
		return !p.started
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(f.Field, "--"), " ")
	return cmd.Flags().Lookup(strings.NewReplacer("_", "-", ".", "-").Replace(name)) != nil
}

// inJSON reports whether the command line asks for JSON, also one that is wrong.
func (p *program) inJSON() bool {
	args := p.args
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// warn says on standard error what does not end the command.
func (p *program) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.inJSON() {
		_ = printJSON(p.stderr, map[string]string{"warning": text}) // as in tell
		return
	}
	fmt.Fprintf(p.stderr, "hybridge: warning: %s\n", text)
}

// errReported is the error of a command that has printed its failures already.
var errReported = errors.New("reported")

func (p *program) exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case !p.started:
		return exitUsage
	case errors.Is(err, errReported):
		return exitFailed
	case errors.Is(err, errUnanswered):
		return exitUnanswered
	}
	switch fault.KindOf(err) { //nolint:exhaustive // the others are failures
	case fault.InvalidArgument, fault.Unsupported, fault.TooLarge:
		return exitUsage
	case fault.NotFound:
		return exitNotFound
	case fault.Unavailable, fault.Overloaded, fault.Timeout:
		return exitUnavailable
	default:
		return exitFailed
	}
}
