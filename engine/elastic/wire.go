package elastic

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/lib/quietconn"
)

// wire has the connections to a node, each for one request at a time. A search
// sends three, and the layers of a client that can do everything cost more than these.
// It is safe for concurrent use.
type wire struct {
	dial func(ctx context.Context, deadline time.Time) (net.Conn, error)
	tls  *tls.Config // nil where the node speaks plain text

	mu   sync.Mutex
	idle []idleConn // the one that was used last at the end
}

// idleConn is a connection without a request.
type idleConn struct {
	net.Conn
	since time.Time
}

// idleLife is how long a connection is kept for the next request.
const idleLife = 10 * time.Second

// newWire prepares for requests to a node. It does not connect.
func newWire(node *url.URL) *wire {
	address := node.Host
	if node.Port() == "" {
		address = net.JoinHostPort(node.Hostname(), map[string]string{"http": "80", "https": "443"}[node.Scheme])
	}
	w := &wire{}
	if node.Scheme == "https" {
		w.tls = &tls.Config{ServerName: node.Hostname(), MinVersion: tls.VersionTLS12}
	}
	w.dial = func(ctx context.Context, deadline time.Time) (net.Conn, error) {
		dialer := net.Dialer{Timeout: connectTimeout, Deadline: deadline}
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		conn = quietconn.Wrap(conn)
		if w.tls != nil {
			conn = tls.Client(conn, w.tls)
		}
		return conn, nil
	}
	return w
}

// do sends a request that changes nothing and reads the answer. When that fails, as
// where a connection was closed while idle, it is sent again by a new one.
func (w *wire) do(ctx context.Context, deadline time.Time, x *exchange) error {
	conn, err := w.take(ctx, deadline)
	if err != nil {
		return err
	}
	if err = w.try(conn, deadline, x); err == nil || isTimeout(err) {
		return err
	}
	if conn, err = w.dial(ctx, deadline); err != nil {
		return err
	}
	return w.try(conn, deadline, x)
}

func isTimeout(err error) bool {
	failure, isNet := errors.AsType[net.Error](err)
	return isNet && failure.Timeout()
}

func (w *wire) try(conn net.Conn, deadline time.Time, x *exchange) error {
	err := conn.SetDeadline(deadline)
	if err == nil {
		err = x.over(conn)
	}
	if err != nil || x.last {
		_ = conn.Close() // nothing more is sent over it
		return err
	}
	w.put(conn)
	return nil
}

// take gives a connection that is free, or a new one.
func (w *wire) take(ctx context.Context, deadline time.Time) (net.Conn, error) {
	w.mu.Lock()
	if last := len(w.idle) - 1; last >= 0 && time.Since(w.idle[last].since) < idleLife {
		conn := w.idle[last].Conn
		w.idle[last].Conn = nil
		w.idle = w.idle[:last]
		w.mu.Unlock()
		return conn, nil
	}
	w.mu.Unlock()
	return w.dial(ctx, deadline)
}

// put keeps a connection, and closes another that nobody has needed for long.
func (w *wire) put(conn net.Conn) {
	var old net.Conn
	now := time.Now()
	w.mu.Lock()
	if len(w.idle) > 0 && now.Sub(w.idle[0].since) >= idleLife {
		old = w.idle[0].Conn
		w.idle = slices.Delete(w.idle, 0, 1)
	}
	w.idle = append(w.idle, idleConn{conn, now})
	w.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
}

// CloseIdleConnections closes what no request is using.
func (w *wire) CloseIdleConnections() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.idle {
		_ = c.Close()
	}
	w.idle = nil
}
