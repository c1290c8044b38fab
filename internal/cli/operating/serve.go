// Package operating has the commands that run a gateway and look after it: serve.go (parser.go splits its
// files), mcp.go, doctor.go and doctor_servers.go, configcheck.go, keys.go, backup.go and restore.go.
package operating

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/app/datadir"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/locale"
)

// Commands are the commands that run a gateway and look after it.
func Commands(p *cli.Program) []*cobra.Command {
	return []*cobra.Command{
		serveCommand(p), mcpCommand(p), doctorCommand(p), configCommand(p), keysCommand(p),
		backupCommand(p), restoreCommand(p), parserCommand(p),
	}
}

func serveCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway until Ctrl-C or SIGTERM",
		Example: `  hybridge serve --demo
  hybridge serve --listen 127.0.0.1:8080 --elasticsearch-url http://127.0.0.1:9200 \
    --embedding-url http://127.0.0.1:11434 --embedding-model bge-m3`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, origins, err := p.SettingsWithOrigins(cmd)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), p, c, origins)
		},
	}
	cli.AddSettings(cmd, cli.OfSettings)
	return cmd
}

// serve listens before it opens the app, so that early requests wait and are not refused.
func serve(ctx context.Context, p *cli.Program, c *config.Config, origins config.Origins) (err error) {
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
		Config: c, Origins: origins, Logger: cli.NewLogger(p.Stderr, c.Log), Version: p.Version, Preload: true,
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
	out := &cli.Printer{W: p.Stdout}
	out.Line("%s", locale.Text(opened.Welcome(address)))
	if err := errors.Join(lock.Announce(address), out.Err); err != nil {
		return errors.Join(err, listener.Close())
	}
	p.HintAtModel(c)
	return opened.Run(ctx, listener)
}
