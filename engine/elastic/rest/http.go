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
	readBuffer     = 64 << 10         // holds most answers
	writeBuffer    = 16 << 10         // holds most searches
)

// transport sends requests to Elasticsearch, each exactly once. It is safe for
// concurrent use.
type transport map[node]way

// node is where a request goes.
type node struct{ scheme, host string }

// way is how requests get to a node.
type way interface {
	http.RoundTripper
	CloseIdleConnections()
}

func newTransport(urls []string, config func(host string) *tls.Config) transport {
	proxy := httpproxy.FromEnvironment().ProxyFunc()
	t := transport{}
	for _, text := range urls {
		at, err := url.Parse(strings.TrimRight(text, "/"))
		if err != nil {
			continue // refused by Elasticsearch's client
		}
		to := node{at.Scheme, at.Host}
		if by, err := proxy(at); err == nil && by == nil {
			t[to] = newDirect(at, config(at.Hostname()))
		} else {
			t[to] = newProxied(func(req *http.Request) (*url.URL, error) { return proxy(req.URL) }, config(at.Hostname()))
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

// CloseIdleConnections closes what no request is using.
func (t transport) CloseIdleConnections() {
	for _, to := range t {
		to.CloseIdleConnections()
	}
}

// newProxied is the way to a node behind a proxy (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).
func newProxied(proxy func(*http.Request) (*url.URL, error), config *tls.Config) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy, t.TLSClientConfig = proxy, config
	t.DisableCompression = true // unpacking an answer costs more than reading it
	return t
}

// direct is the way to a node by the connections and the parser of fasthttp: net/http
// hands every request to two goroutines of its connection, which costs a search .6 ms
// of processor time.
type direct struct{ *fasthttp.HostClient }

func newDirect(at *url.URL, config *tls.Config) direct {
	secure := at.Scheme == "https"
	return direct{&fasthttp.HostClient{
		Addr: fasthttp.AddMissingPort(at.Host, secure), IsTLS: secure, TLSConfig: config,
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
	answer := fasthttp.AcquireResponse()
	if err := d.exchange(req, answer); err != nil {
		fasthttp.ReleaseResponse(answer)
		d.CloseIdleConnections() // they may be as broken as this one
		return nil, err
	}
	header := http.Header{}
	for name, value := range answer.Header.All() {
		header.Add(string(name), string(value))
	}
	body := &answerBody{from: answer}
	body.Reset(answer.Body())
	return &http.Response{
		StatusCode: answer.StatusCode(), Header: header, Body: body, ContentLength: int64(body.Len()), Request: req,
	}, nil
}

var errNoDeadline = errors.New("a request to Elasticsearch has no deadline")

// exchange sends a request and reads the answer, until the request's context ends.
func (d direct) exchange(req *http.Request, answer *fasthttp.Response) error {
	ctx := req.Context()
	deadline, ok := ctx.Deadline()
	if !ok {
		return errNoDeadline
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	left := time.Until(deadline)
	// That the connection is to be closed keeps fasthttp from starting a goroutine
	// which closes idle ones. The one used last comes first: where it is too old all are.
	used, err := d.AcquireConn(left, true)
	if err == nil && !used.LastUseTime().IsZero() && time.Since(used.LastUseTime()) > idleLife {
		d.CloseConn(used)
		d.CloseIdleConnections()
		used, err = d.AcquireConn(left, true)
	}
	if err != nil {
		return err
	}
	conn := used.Conn()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = conn.SetDeadline(deadline)
	if err == nil {
		err = d.send(conn, req)
	}
	again := false
	if err == nil {
		again, err = d.read(conn, answer)
	}
	if !stop() || err != nil || !again {
		d.CloseConn(used)
	} else {
		d.ReleaseConn(used)
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

// read reads an answer and reports whether the connection may be used again.
func (d direct) read(conn net.Conn, answer *fasthttp.Response) (again bool, err error) {
	r := d.AcquireReader(conn)
	defer d.ReleaseReader(r)
	err = answer.Read(r)
	return !answer.ConnectionClose() && r.Buffered() == 0, err
}

// answerBody is the body of an answer, whose memory fasthttp uses again once it is closed.
type answerBody struct {
	bytes.Reader
	from *fasthttp.Response
}

// Close implements io.Closer; nothing may be read afterwards.
func (b *answerBody) Close() error {
	if b.from != nil {
		b.Reset(nil)
		fasthttp.ReleaseResponse(b.from)
		b.from = nil
	}
	return nil
}
