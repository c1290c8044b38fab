// Command hybridge is the search gateway and its command line.
//
// Exit codes: 0 success; 1 failure, also of a part of an ingest; 2 the command line, the
// configuration or the request is wrong; 3 what was named does not exist; 4 a server is
// unavailable, overloaded or too slow.
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
	"syscall"

	"github.com/hybridge-search/hybridge/fault"
)

// version is set when a release is built.
var version = "unknown"

const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitUnavailable = 4
)

func main() {
	keepPrivate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ()}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// program is the environment of a command.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string

	started bool // the command line is valid
}

// run executes a command line and returns its exit code.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.rootCommand()
	root.SetArgs(args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errReported) {
		p.tell(err, slices.Contains(args, "--json"))
	}
	return p.exitCode(err)
}

// tell prints an error, as JSON to who asked for JSON.
func (p *program) tell(err error, inJSON bool) {
	if inJSON {
		f := failureOf("hybridge", err)
		if !p.started { // the command line is wrong
			f.Code = string(fault.InvalidArgument)
		}
		_ = printJSON(p.stderr, map[string]failure{"error": f}) // there is no other place to say it
		return
	}
	fmt.Fprintf(p.stderr, "hybridge: %v\n", err)
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
