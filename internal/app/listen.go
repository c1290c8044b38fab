package app

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
)

// CheckDoor refuses to listen where others can come in while no key keeps them out. Where the
// stored keys cannot be read now, nobody gets in without one.
func (a *App) CheckDoor() error {
	if !a.Config.NeedsStoredKeys() || a.door.keys.Any() {
		return nil
	}
	err := fault.New(fault.InvalidArgument, "listen is %q, which others can reach, and there are no keys; make one with "+
		"hybridge keys create, or configure keys, or listen on 127.0.0.1, or set open_without_keys where something "+
		"else keeps strangers out", a.Config.Listen)
	err.Field = "listen"
	return err
}

// Listen opens the listener of the API, which speaks TLS if a certificate is configured.
func Listen(c *config.Config) (net.Listener, error) {
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

// URLOf returns a URL by which this machine reaches the listener.
func URLOf(address net.Addr) string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return "http://" + address.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
