package elastic

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	productHeader = "X-Elastic-Product"
	product       = "Elasticsearch"
)

// shortcut is the way of a statement that reads past Elasticsearch's client, which
// takes three times as long. The client chooses a node, signs the request and looks
// once whether Elasticsearch answers: where there is one node, all of this is known
// after the first answer. It is safe for concurrent use.
type shortcut struct {
	client *fasthttp.Client
	header fasthttp.RequestHeader // that the client gives to every request
	base   string                 // in front of a statement's path
}

// onlyNode gives the URL of the node without what signs the requests to it; empty
// where there are several, or it is none.
func onlyNode(urls []string) string {
	node, err := url.Parse(strings.TrimRight(urls[0], "/"))
	if err != nil || len(urls) > 1 {
		return ""
	}
	node.User = nil
	return node.String()
}

// genuine reports whether an answer passes the client's check of the product.
func genuine(answer *fasthttp.Response) bool {
	status := answer.StatusCode()
	return status >= http.StatusOK && status < http.StatusMultipleChoices &&
		string(answer.Header.Peek(productHeader)) == product
}

// newShortcut learns from what the client has sent to the only node.
func newShortcut(t *fastTransport, sent http.Header) *shortcut {
	c := &shortcut{client: t.client, base: t.node}
	for name, values := range sent {
		for _, value := range values {
			c.header.Add(name, value)
		}
	}
	c.header.Del("Content-Type")
	return c
}

// ask sends a statement and decodes its answer.
func (c *shortcut) ask(ctx context.Context, deadline time.Time, s *statement, out any) error {
	if err := ctx.Err(); err != nil {
		return transportFault(ctx, err)
	}
	if sooner, ok := ctx.Deadline(); ok && sooner.Before(deadline) {
		deadline = sooner
	}
	req, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	c.header.CopyTo(&req.Header)
	req.Header.SetMethod(s.Method)
	req.Header.Set("Accept", s.accepted())
	req.SetRequestURI(c.base + s.Path)
	if len(s.Body) > 0 {
		req.Header.SetContentType(s.contentType())
		req.SetBodyRaw(s.Body)
	}
	if err := c.client.DoDeadline(req, answer, deadline); err != nil {
		fasthttp.ReleaseResponse(answer)
		return transportFault(ctx, err)
	}
	return decodeResponse(answer, out)
}
