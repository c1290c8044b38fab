package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/app/datadir"
)

func (p *program) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway until Ctrl-C or SIGTERM",
		Example: `  hybridge serve --demo
  hybridge serve --listen 127.0.0.1:8080 --elasticsearch-url http://127.0.0.1:9200 \
    --embedding-url http://127.0.0.1:11434 --embedding-model bge-m3`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, origins, err := p.settingsWithOrigins(cmd)
			if err != nil {
				return err
			}
			return p.serve(cmd.Context(), c, origins)
		},
	}
	addSettings(cmd, ofSettings)
	return cmd
}

// serve listens before it opens the app, so that early requests wait and are not refused.
func (p *program) serve(ctx context.Context, c *config.Config, origins config.Origins) (err error) {
	lock, other, err := datadir.Take(c.DataDir)
	switch {
	case errors.Is(err, datadir.ErrHeld) && other != "":
		return fault.New(fault.Conflict, "the gateway at %s uses the data directory %s", other, c.DataDir)
	case errors.Is(err, datadir.ErrHeld):
		return datadir.InUse(c.DataDir)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	listener, err := app.Listen(c)
	if err != nil {
		return err
	}
	opened, err := app.Open(ctx, app.Options{
		Config: c, Origins: origins, Logger: newLogger(p.stderr, c.Log), Version: p.version, Preload: true,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if err := opened.CheckDoor(); err != nil {
		return errors.Join(err, listener.Close())
	}
	address := app.URLOf(listener.Addr())
	if c.TLS.Cert != "" {
		address = "https" + strings.TrimPrefix(address, "http")
	}
	out := &printer{w: p.stdout}
	out.line("%s", opened.Welcome(address))
	if err := errors.Join(lock.Announce(address), out.err); err != nil {
		return errors.Join(err, listener.Close())
	}
	p.hintAtModel(c)
	return opened.Run(ctx, listener)
}
