package elastic

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/quietconn"
)

const (
	connectTimeout = 3 * time.Second
	maxConnections = 4096 // at the same time; a gateway's own limits are lower
	// writeBuffer holds most requests, so that each is sent at once, and
	// readBuffer most answers.
	writeBuffer = 32 << 10
	readBuffer  = 32 << 10
)

// fastTransport sends what reads. It takes half the processor time of net/http's,
// which hands each request to two goroutines of its connection, and a search sends
// two or three. It keeps to the deadline of a request, but one under way is not
// given up before. It is safe for concurrent use.
type fastTransport struct {
	client  *fasthttp.Client
	plain   http.RoundTripper // where a proxy is between
	node    *url.URL          // the only one, nil where there are more
	wire    *wire             // to it
	learned atomic.Pointer[shortcut]
}

func newFastTransport(plain http.RoundTripper, node *url.URL) *fastTransport {
	dialer := net.Dialer{Timeout: connectTimeout}
	return &fastTransport{plain: plain, node: node, wire: newWire(node), client: &fasthttp.Client{
		Dial: func(addr string) (net.Conn, error) {
			conn, err := dialer.Dial("tcp", addr)
			if err != nil {
				return nil, err
			}
			return quietconn.Wrap(conn), nil
		},
		NoDefaultUserAgentHeader: true,
		DisablePathNormalizing:   true, // ids and names may hold escaped slashes
		ReadBufferSize:           readBuffer,
		WriteBufferSize:          writeBuffer,
		MaxConnsPerHost:          maxConnections,
		// What reads may be sent again, as where a connection was closed while idle.
		RetryIfErr: func(_ *fasthttp.Request, attempts int, err error) (resetTimeout, retry bool) {
			failure, isNet := errors.AsType[net.Error](err)
			late := isNet && failure.Timeout()
			return false, attempts < readTries && !late
		},
	}}
}

// RoundTrip implements http.RoundTripper.
func (t *fastTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if proxy, err := http.ProxyFromEnvironment(req); err != nil || proxy != nil {
		return t.plain.RoundTrip(req)
	}
	deadline, ok := req.Context().Deadline()
	if !ok {
		return nil, fault.New(fault.Internal, "a request to Elasticsearch has no deadline")
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	out, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(out)
	if err := translate(req, out); err != nil {
		fasthttp.ReleaseResponse(answer)
		return nil, err
	}
	if err := t.client.DoDeadline(out, answer, deadline); err != nil {
		fasthttp.ReleaseResponse(answer)
		return nil, err
	}
	if t.node != nil && t.learned.Load() == nil && genuine(answer) {
		t.learned.Store(newShortcut(t, req.Header))
	}
	return translated(req, answer), nil
}

// translate copies a request.
func translate(req *http.Request, out *fasthttp.Request) error {
	out.Header.SetMethod(req.Method)
	out.SetRequestURI(req.URL.String())
	for name, values := range req.Header {
		for _, value := range values {
			out.Header.Add(name, value)
		}
	}
	if req.Body == nil {
		return nil
	}
	_, err := io.Copy(out.BodyWriter(), req.Body)
	return errors.Join(err, req.Body.Close())
}

// translated gives an answer the other shape, with the one header that anybody
// reads. It is released when its body is closed.
func translated(req *http.Request, answer *fasthttp.Response) *http.Response {
	body := &pooledBody{answer: answer}
	body.Reset(answer.Body())
	return &http.Response{
		StatusCode: answer.StatusCode(), Body: body, ContentLength: int64(body.Len()), Request: req,
		Header: http.Header{productHeader: {string(answer.Header.Peek(productHeader))}},
	}
}

// pooledBody is the body of an answer that goes back to its pool.
type pooledBody struct {
	bytes.Reader
	answer *fasthttp.Response
}

// Close implements io.Closer; nothing may be read afterwards.
func (b *pooledBody) Close() error {
	if b.answer != nil {
		b.Reset(nil)
		fasthttp.ReleaseResponse(b.answer)
		b.answer = nil
	}
	return nil
}
