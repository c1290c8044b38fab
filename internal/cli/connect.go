package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/app/datadir"
)

// Variables that say which gateway a command uses. The flags override them.
const (
	serverVariable = config.EnvPrefix + "SERVER"
	KeyVariable    = config.EnvPrefix + "KEY"
)

// AddTarget adds the flags that say which gateway a command uses, or with which settings it goes on without one.
func AddTarget(cmd *cobra.Command) {
	AddGateway(cmd)
	AddSettings(cmd, ofOwn, "listen", "demo")
}

// AddGateway adds the flags that say which gateway a command uses.
func AddGateway(cmd *cobra.Command) {
	cmd.Flags().String("server", "", "URL of a running gateway ("+serverVariable+"); "+
		"default: the one that uses the data directory, or one started for this command")
	cmd.Flags().String("key", "", "API key ("+KeyVariable+")")
	grouped(cmd.Flags(), ofGateway, "server", "key")
}

// WithGateway runs a command with the gateway that its flags say.
func (p *Program) WithGateway(cmd *cobra.Command, do func(context.Context, *Client) error) (err error) {
	c, done, err := p.connect(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	defer c.Close()
	if err := do(cmd.Context(), c); err != nil {
		return didYouMean(cmd.Context(), &asked{cmd: cmd, client: c}, err)
	}
	return nil
}

// Calling makes a command do what needs the API, with its arguments.
func (p *Program) Calling(cmd *cobra.Command, do func(context.Context, *Client, []string) error) *cobra.Command {
	AddTarget(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.WithGateway(cmd, func(ctx context.Context, c *Client) error { return do(ctx, c, args) })
	}
	return cmd
}

// NewClient makes a client of the gateway at a URL that answers in the language of the command line.
func (p *Program) NewClient(server, key string) (*Client, error) {
	c, err := NewClient(server, key)
	if err == nil && p.language != nil {
		c.Language = p.language.Tag()
	}
	return c, err
}

func (p *Program) connect(cmd *cobra.Command) (*Client, func() error, error) {
	server, key, err := p.Target(cmd)
	if err != nil {
		return nil, nil, err
	}
	nothing := func() error { return nil }
	if server != "" {
		c, err := p.NewClient(server, key)
		if err == nil {
			p.checkKeyCounts(cmd, c)
		}
		return c, nothing, err
	}
	settings, err := p.Settings(cmd)
	if err != nil {
		return nil, nil, err
	}
	lock, running, err := datadir.TakeOrFind(cmd.Context(), settings.DataDir)
	if err != nil {
		return nil, nil, err
	}
	if running != "" {
		c, err := p.NewClient(running, key)
		if err == nil && settings.TLS.Cert != "" {
			err = c.Trust(settings.TLS.Cert)
		}
		if err == nil {
			p.checkKeyCounts(cmd, c)
		}
		return c, nothing, err
	}
	if cmd.Flags().Changed("key") {
		p.warn("--key is not used: no gateway runs on %s, and the command opens that folder itself", settings.DataDir)
	}
	own, err := p.startOwn(cmd.Context(), settings, lock)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Release())
	}
	return own.client, own.close, nil
}

// checkKeyCounts warns of a key that a gateway without keys does not look at. It tells by /healthz,
// which says its version to whom it takes for no stranger.
func (p *Program) checkKeyCounts(cmd *cobra.Command, c *Client) {
	if !cmd.Flags().Changed("key") {
		return
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	anonymous := *c
	anonymous.Key = ""
	var health gateway.Health
	if anonymous.Get(ctx, "/healthz", &health) == nil && health.Version != "" { // else the command itself tells
		p.warn("--key is not used: the gateway at %s has no keys, so whoever reaches it may read and write", c.Base)
	}
}

// Target is the gateway that the flags or the environment name, and the key for it.
func (p *Program) Target(cmd *cobra.Command) (server, key string, err error) {
	server, err = cmd.Flags().GetString("server")
	if err != nil {
		return "", "", fault.Wrap(fault.Internal, err, "read --server")
	}
	key, err = cmd.Flags().GetString("key")
	if err != nil {
		return "", "", fault.Wrap(fault.Internal, err, "read --key")
	}
	if server == "" {
		server = p.Variable(serverVariable)
	}
	if key == "" {
		key = p.Variable(KeyVariable)
	}
	return server, key, nil
}

// ownGateway is a gateway in this process, on a free port, for one command.
type ownGateway struct {
	client *Client
	app    *app.App
	lock   *datadir.Lock
	stop   context.CancelFunc
	served chan error
}

// startOwn starts a gateway with a random key that nobody else knows.
func (p *Program) startOwn(ctx context.Context, settings *config.Config, lock *datadir.Lock) (*ownGateway, error) {
	c := *settings
	key := rand.Text()
	c.Demo, c.Keys = false, []config.Key{{
		Name: "command", Key: config.Secret(key), Tenant: endpoint.DefaultTenant, Attach: []string{"*"},
	}}
	// No later search would find a keyword index ready.
	c.Postgres.KeywordWait = max(c.Postgres.KeywordWait, 10*time.Second)
	log := c.Log
	if log.Level == config.Default().Log.Level {
		log.Level = "error" // the output of the command is enough
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "find a free port")
	}
	opened, err := app.Open(ctx, app.Options{Config: &c, Logger: NewLogger(p.Stderr, log), Version: p.Version})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	own := &ownGateway{app: opened, lock: lock, served: make(chan error, 1)}
	own.client, err = p.NewClient(app.URLOf(listener.Addr()), key)
	if err != nil {
		return nil, errors.Join(err, listener.Close(), opened.Close())
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	own.stop = stop
	go func() { own.served <- opened.Run(serving, listener) }()
	return own, nil
}

func (o *ownGateway) close() error {
	o.client.Close()
	o.stop()
	return errors.Join(<-o.served, o.app.Close(), o.lock.Release())
}
