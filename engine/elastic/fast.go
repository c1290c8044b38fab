package elastic

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

const (
	connectTimeout = 3 * time.Second
	readBuffer     = 32 << 10 // holds most answers to what writes
)

// fastTransport sends what reads, over wires. It takes half the processor time of
// net/http's, which hands each request to two goroutines of its connection, and a
// search sends two or three. It keeps to the deadline of a request, but one under way
// is not given up before. It is safe for concurrent use.
type fastTransport struct {
	plain   http.RoundTripper // where a proxy is between
	wires   map[string]*wire  // to the nodes, by scheme and host
	node    *url.URL          // the only one, nil where there are more
	learned atomic.Pointer[shortcut]
}

func newFastTransport(plain http.RoundTripper, urls []string) *fastTransport {
	t := &fastTransport{plain: plain, wires: map[string]*wire{}}
	for _, text := range urls {
		if node := nodeOf(text); node != nil {
			t.wires[node.Scheme+node.Host], t.node = newWire(node), node
		}
	}
	if len(urls) > 1 {
		t.node = nil
	}
	return t
}

// nodeOf gives a node without what signs the requests to it; nil if the text is none.
func nodeOf(text string) *url.URL {
	node, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || node.Host == "" || node.Scheme != "http" && node.Scheme != "https" {
		return nil
	}
	node.User = nil
	return node
}

// RoundTrip implements http.RoundTripper.
func (t *fastTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	wire := t.wires[req.URL.Scheme+req.URL.Host]
	if proxy, err := http.ProxyFromEnvironment(req); err != nil || proxy != nil || wire == nil {
		return t.plain.RoundTrip(req)
	}
	ctx := req.Context()
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil, fault.New(fault.Internal, "a request to Elasticsearch has no deadline")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x := spareExchanges.Get().(*exchange)
	if err := req.Write(x); err != nil {
		x.release()
		return nil, err
	}
	if err := wire.do(ctx, deadline, x); err != nil {
		x.release()
		return nil, err
	}
	if t.node != nil && t.learned.Load() == nil && x.genuine() {
		t.learned.Store(newShortcut(t.node, wire, req.Header))
	}
	body := &exchangeBody{from: x}
	body.Reset(x.body)
	return &http.Response{
		StatusCode: x.status, Body: body, ContentLength: int64(body.Len()), Request: req,
		Header: http.Header{productHeader: {x.product}},
	}, nil
}

// CloseIdleConnections closes what no request is using.
func (t *fastTransport) CloseIdleConnections() {
	for _, w := range t.wires {
		w.CloseIdleConnections()
	}
}

// exchangeBody is the body of an answer, whose memory is used again once it is closed.
type exchangeBody struct {
	bytes.Reader
	from *exchange
}

// Close implements io.Closer; nothing may be read afterwards.
func (b *exchangeBody) Close() error {
	if b.from != nil {
		b.Reset(nil)
		b.from.release()
		b.from = nil
	}
	return nil
}
