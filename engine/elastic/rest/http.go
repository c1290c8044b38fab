package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/net/http/httpproxy"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/quietconn"
)

const (
	connectTimeout = 3 * time.Second
	idleLife       = 10 * time.Second // of a connection between two requests
	readBuffer     = 64 << 10         // holds most responses
	writeBuffer    = 16 << 10         // holds most searches
)

// transport sends requests to Elasticsearch, each exactly once. It is safe for
// concurrent use.
type transport map[node]route

// node is where a request goes.
type node struct{ scheme, host string }

// route sends requests to one node, directly or through a proxy.
type route interface {
	http.RoundTripper
	CloseIdleConnections()
}

func newTransport(urls []string, config func(host string) *tls.Config) transport {
	proxy := httpproxy.FromEnvironment().ProxyFunc()
	t := transport{}
	for _, text := range urls {
		address, err := url.Parse(strings.TrimRight(text, "/"))
		if err != nil {
			continue // refused by Elasticsearch's client
		}
		to, tlsConfig := node{address.Scheme, address.Host}, config(address.Hostname())
		if via, err := proxy(address); err == nil && via == nil {
			t[to] = newDirect(address, tlsConfig)
		} else {
			t[to] = newProxied(func(req *http.Request) (*url.URL, error) { return proxy(req.URL) }, tlsConfig)
		}
	}
	return t
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	to := t[node{req.URL.Scheme, req.URL.Host}]
	if to == nil {
		return nil, fault.New(fault.Internal, "%s is none of the nodes of Elasticsearch", req.URL.Host)
	}
	return to.RoundTrip(req)
}

// CloseIdleConnections closes the connections that no request is using.
func (t transport) CloseIdleConnections() {
	for _, to := range t {
		to.CloseIdleConnections()
	}
}

// newProxied is the route to a node behind a proxy (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).
func newProxied(proxy func(*http.Request) (*url.URL, error), config *tls.Config) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy, t.TLSClientConfig = proxy, config
	t.DisableCompression = true // unpacking a response costs more than reading it
	return t
}

// direct is the route to a node over connections of fasthttp, with its parser: net/http
// hands every request to two goroutines of its connection, which costs a search .6 ms
// of processor time.
type direct struct{ *fasthttp.HostClient }

func newDirect(address *url.URL, config *tls.Config) direct {
	secure := address.Scheme == "https"
	return direct{&fasthttp.HostClient{
		Addr: fasthttp.AddMissingPort(address.Host, secure), IsTLS: secure, TLSConfig: config,
		DialTimeout: dial, MaxConns: math.MaxInt, ConnPoolStrategy: fasthttp.LIFO,
		ReadBufferSize: readBuffer, WriteBufferSize: writeBuffer,
	}}
}

func dial(address string, left time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", address, min(left, connectTimeout))
	if err != nil {
		return nil, err
	}
	return quietconn.Wrap(conn), nil
}

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(req *http.Request) (*http.Response, error) {
	response := fasthttp.AcquireResponse()
	if err := d.exchange(req, response); err != nil {
		fasthttp.ReleaseResponse(response)
		d.CloseIdleConnections() // they may be as broken as this one
		return nil, err
	}
	header := http.Header{}
	for name, value := range response.Header.All() {
		header.Add(string(name), string(value))
	}
	body := &responseBody{from: response}
	body.Reset(response.Body())
	return &http.Response{
		StatusCode: response.StatusCode(), Header: header, Body: body, ContentLength: int64(body.Len()), Request: req,
	}, nil
}

var errNoDeadline = errors.New("a request to Elasticsearch has no deadline")

// exchange sends a request and reads the response, unless the request's context ends first.
func (d direct) exchange(req *http.Request, response *fasthttp.Response) error {
	ctx := req.Context()
	deadline, ok := ctx.Deadline()
	if !ok {
		return errNoDeadline
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	left := time.Until(deadline)
	// Acquired as "to be closed", a connection makes fasthttp start no goroutine that closes
	// idle ones. The one used last comes first: if it is too old, all are.
	acquired, err := d.AcquireConn(left, true)
	if err == nil && !acquired.LastUseTime().IsZero() && time.Since(acquired.LastUseTime()) > idleLife {
		d.CloseConn(acquired)
		d.CloseIdleConnections()
		acquired, err = d.AcquireConn(left, true)
	}
	if err != nil {
		return err
	}
	conn := acquired.Conn()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = conn.SetDeadline(deadline)
	if err == nil {
		err = d.send(conn, req)
	}
	reusable := false
	if err == nil {
		reusable, err = d.read(conn, response)
	}
	if !stop() || err != nil || !reusable {
		d.CloseConn(acquired)
	} else {
		d.ReleaseConn(acquired)
	}
	return err
}

func (d direct) send(conn net.Conn, req *http.Request) error {
	w := d.AcquireWriter(conn)
	defer d.ReleaseWriter(w)
	if err := req.Write(w); err != nil {
		return err
	}
	return w.Flush()
}

// read reads a response and reports whether the connection may be used again.
func (d direct) read(conn net.Conn, response *fasthttp.Response) (reusable bool, err error) {
	r := d.AcquireReader(conn)
	defer d.ReleaseReader(r)
	err = response.Read(r)
	return !response.ConnectionClose() && r.Buffered() == 0, err
}

// responseBody is the body of a response. Its memory is valid until Close, which gives it
// back to fasthttp.
type responseBody struct {
	bytes.Reader
	from *fasthttp.Response
}

// Close implements io.Closer.
func (b *responseBody) Close() error {
	if b.from != nil {
		b.Reset(nil)
		fasthttp.ReleaseResponse(b.from)
		b.from = nil
	}
	return nil
}
