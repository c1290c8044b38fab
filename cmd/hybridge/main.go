// Command hybridge is the search gateway and its command line.
//
// Exit codes: 0 success; 1 failure, also of a part of an ingest; 2 the command line, the
// configuration or the request is wrong; 3 not found; 4 a server is
// unavailable, overloaded or too slow; 5 nothing answers the question.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/hybridge-search/hybridge/internal/app/datadir"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/cli/content"
	"github.com/hybridge-search/hybridge/internal/cli/measuring"
	"github.com/hybridge-search/hybridge/internal/cli/operating"
	"github.com/hybridge-search/hybridge/internal/cli/searching"
)

// version is set when a release is built.
var version = "unknown"

// groups are the commands, as help lists them.
var groups = []cli.Group{
	{Title: "Search", Commands: searching.Commands},
	{Title: "Quality", Commands: measuring.Commands},
	{Title: "Data", Commands: content.Commands},
	{Title: "Gateway", Commands: operating.Commands},
}

func main() {
	datadir.KeepPrivate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &cli.Program{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(),
		Version: version, Name: os.Args[0], Groups: groups,
	}
	code := p.Run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
