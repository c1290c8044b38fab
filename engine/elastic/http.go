package elastic

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

	"github.com/hybridge-search/hybridge/lib/quietconn"
)

const (
	connectTimeout = 3 * time.Second
	idleLife       = 10 * time.Second // of a connection between two requests
	readBuffer     = 64 << 10         // holds most answers
	writeBuffer    = 16 << 10         // holds most searches
)

// transport sends requests to Elasticsearch, each exactly once. It uses the
// connections and the parser of fasthttp: net/http hands every request to two
// goroutines of its connection, which costs a search .6 ms of processor time. It is
// safe for concurrent use.
type transport struct {
	nodes   map[node]*fasthttp.HostClient
	proxied *http.Transport // for nodes behind a proxy (HTTP_PROXY, HTTPS_PROXY, NO_PROXY)
}

// node is where a request goes.
type node struct{ scheme, host string }

func newTransport(urls []string, config *tls.Config) *transport {
	t := &transport{nodes: map[node]*fasthttp.HostClient{}, proxied: http.DefaultTransport.(*http.Transport).Clone()}
	t.proxied.TLSClientConfig = config
	t.proxied.DisableCompression = true // unpacking an answer costs more than reading it
	proxy := httpproxy.FromEnvironment().ProxyFunc()
	t.proxied.Proxy = func(req *http.Request) (*url.URL, error) { return proxy(req.URL) }
	for _, text := range urls {
		at, err := url.Parse(strings.TrimRight(text, "/"))
		if err != nil {
			continue // refused by Elasticsearch's client
		}
		if by, err := proxy(at); err == nil && by == nil {
			t.nodes[node{at.Scheme, at.Host}] = newNode(at, config)
		}
	}
	return t
}

func newNode(at *url.URL, config *tls.Config) *fasthttp.HostClient {
	secure := at.Scheme == "https"
	return &fasthttp.HostClient{
		Addr: fasthttp.AddMissingPort(at.Host, secure), IsTLS: secure, TLSConfig: config,
		DialTimeout: dial, MaxConns: math.MaxInt, ConnPoolStrategy: fasthttp.LIFO,
		ReadBufferSize: readBuffer, WriteBufferSize: writeBuffer,
	}
}

func dial(address string, left time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", address, min(left, connectTimeout))
	if err != nil {
		return nil, err
	}
	return quietconn.Wrap(conn), nil
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	to := t.nodes[node{req.URL.Scheme, req.URL.Host}]
	if to == nil {
		return t.proxied.RoundTrip(req)
	}
	answer := fasthttp.AcquireResponse()
	if err := exchange(to, req, answer); err != nil {
		fasthttp.ReleaseResponse(answer)
		// Connections that were idle beside this one may be as broken.
		to.CloseIdleConnections()
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
func exchange(to *fasthttp.HostClient, req *http.Request, answer *fasthttp.Response) error {
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
	used, err := to.AcquireConn(left, true)
	if err == nil && !used.LastUseTime().IsZero() && time.Since(used.LastUseTime()) > idleLife {
		to.CloseConn(used)
		to.CloseIdleConnections()
		used, err = to.AcquireConn(left, true)
	}
	if err != nil {
		return err
	}
	conn := used.Conn()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = conn.SetDeadline(deadline)
	if err == nil {
		err = sendOver(to, conn, req)
	}
	again := false
	if err == nil {
		again, err = readFrom(to, conn, answer)
	}
	if !stop() || err != nil || !again {
		to.CloseConn(used)
	} else {
		to.ReleaseConn(used)
	}
	return err
}

func sendOver(to *fasthttp.HostClient, conn net.Conn, req *http.Request) error {
	w := to.AcquireWriter(conn)
	defer to.ReleaseWriter(w)
	if err := req.Write(w); err != nil {
		return err
	}
	return w.Flush()
}

// readFrom reads an answer and reports whether the connection may be used again.
func readFrom(to *fasthttp.HostClient, conn net.Conn, answer *fasthttp.Response) (again bool, err error) {
	r := to.AcquireReader(conn)
	defer to.ReleaseReader(r)
	err = answer.Read(r)
	return !answer.ConnectionClose() && r.Buffered() == 0, err
}

// CloseIdleConnections closes what no request is using.
func (t *transport) CloseIdleConnections() {
	for _, n := range t.nodes {
		n.CloseIdleConnections()
	}
	t.proxied.CloseIdleConnections()
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
