package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
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
	lock, other, err := lockData(c.DataDir)
	switch {
	case errors.Is(err, errHeld) && other != "":
		return fault.New(fault.Conflict, "the gateway at %s uses the data directory %s", other, c.DataDir)
	case errors.Is(err, errHeld):
		return inUse(c.DataDir)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	listener, err := listen(c)
	if err != nil {
		return err
	}
	app, err := open(ctx, &App{config: c, origins: origins, log: newLogger(p.stderr, c.Log), preload: true})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	if err := app.checkDoor(); err != nil {
		return errors.Join(err, listener.Close())
	}
	address := urlOf(listener.Addr())
	if c.TLS.Cert != "" {
		address = "https" + strings.TrimPrefix(address, "http")
	}
	if err := errors.Join(lock.announce(address), app.printWelcome(p.stdout, address)); err != nil {
		return errors.Join(err, listener.Close())
	}
	p.hintAtModel(c)
	return app.Run(ctx, listener)
}

// checkDoor refuses to listen where others can come in while no key keeps them out. Where the
// stored keys cannot be read now, nobody gets in without one.
func (a *App) checkDoor() error {
	if !a.config.NeedsStoredKeys() || a.keys.Any() {
		return nil
	}
	err := fault.New(fault.InvalidArgument, "listen is %q, which others can reach, and there are no keys; make one with "+
		"hybridge keys create, or configure keys, or listen on 127.0.0.1, or set open_without_keys where something "+
		"else keeps strangers out", a.config.Listen)
	err.Field = "listen"
	return err
}

// listen opens the listener of the API, which speaks TLS if a certificate is configured.
func listen(c *config.Config) (net.Listener, error) {
	var secured *tls.Config
	if c.TLS.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.TLS.Cert, c.TLS.Key)
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "tls.cert is %q and tls.key is %q; they must be "+
				"a certificate and its private key as PEM files", c.TLS.Cert, c.TLS.Key)
		}
		secured = &tls.Config{
			Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		}
	}
	listener, err := net.Listen("tcp", c.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fault.Invalid("listen", c.Listen, "an address that no other program listens on")
	}
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "listen on %s", c.Listen)
	}
	if secured != nil {
		listener = tls.NewListener(listener, secured)
	}
	return listener, nil
}

// urlOf returns a URL by which this machine reaches the listener.
func urlOf(address net.Addr) string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return "http://" + address.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// printWelcome prints where the gateway is, what it uses, and a request to try.
func (a *App) printWelcome(w io.Writer, address string) error {
	p := &printer{w: w}
	p.line("Hybridge %s serves on %s", version, address)
	p.line("  engines    %s", a.describeEngines())
	if a.model != nil || len(a.models) == 0 {
		p.line("  embedding  %s", a.model.describe())
	}
	for _, name := range slices.Sorted(maps.Keys(a.models)) {
		p.line("  embedding  %s", a.models[name].describe())
	}
	p.line("  presets    %s by default", a.config.DefaultPreset)
	p.line("  keys       %s", a.describeKeys())
	p.line("")
	p.line("Try it:")
	p.line("  %s", a.example(address))
	return p.err
}

func (a *App) describeEngines() string {
	parts := []string{"embedded in " + a.config.DataDir}
	if urls := a.config.Elasticsearch.URL; len(urls) > 0 {
		parts = append(parts, "elasticsearch at "+strings.Join(redacted(urls), ", "))
	}
	return strings.Join(parts, "; ")
}

func (a *App) describeKeys() string {
	if n := len(a.config.Keys); n > 0 {
		return counted(n, "key")
	}
	if a.keys.Any() {
		return "stored ones"
	}
	return "none: whoever reaches this address may read and write"
}

// redacted hides the passwords in URLs.
func redacted(urls []string) []string {
	shown := make([]string, len(urls))
	for i, text := range urls {
		shown[i] = "(hidden)"
		if u, err := url.Parse(text); err == nil {
			shown[i] = u.Redacted()
		}
	}
	return shown
}

// example returns a curl command that works when it is copied into a shell.
func (a *App) example(address string) string {
	authorization := ""
	if len(a.config.Keys) > 0 || a.keys.Any() {
		authorization = ` -H "Authorization: Bearer $HYBRIDGE_KEY"`
	}
	if !a.config.Demo {
		return "curl -s " + address + "/v1/knowledge-bases" + authorization
	}
	body, err := json.Marshal(map[string]any{
		"query": demoQuestion, "knowledge_bases": []string{demoID}, "top_k": 3,
	})
	if err != nil {
		return "curl -s " + address + "/"
	}
	return "curl -s " + address + "/v1/search" + authorization +
		" -H 'Content-Type: application/json' -d '" + string(body) + "'"
}
