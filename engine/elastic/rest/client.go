// Package rest talks to Elasticsearch: requests, responses, errors. It knows nothing of
// knowledge bases and plans.
//
//	response.go            searches and their responses
//	client.go request.go   requests, and which of them are retried
//	http.go tls.go         connections
//	faults.go              errors
package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/smile"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// Options of a client. Only URLs and Timeout have no default.
type Options struct {
	URLs     []string // of the nodes
	APIKey   string   // base64, as Elasticsearch issues it; or Username and Password
	Username string
	Password string
	TLS      TLS
	// Timeout bounds one search, or one read that belongs to none. A change may take ten times that.
	Timeout time.Duration
	// JSON replaces SMILE, its binary form, in requests and responses.
	JSON   bool
	Logger *slog.Logger
	// Transport replaces the client's own.
	Transport http.RoundTripper
}

// Client sends requests to the nodes of one cluster. It is safe for concurrent use.
type Client struct {
	client    *elasticsearch.BaseClient
	transport transport // nil where Options has another one
	smile     bool
	timeout   time.Duration
}

const (
	changeFactor = 10                    // a change may take this many times as long as a read
	retryDelay   = 50 * time.Millisecond // doubled each time

	attemptsForShard = 6
)

// New makes a client. It does not connect: Elasticsearch may come later.
func New(o *Options) (*Client, error) {
	c := &Client{smile: !o.JSON, timeout: o.Timeout}
	roundTripper := o.Transport
	if roundTripper == nil {
		config, err := o.TLS.configs()
		if err != nil {
			return nil, err
		}
		if o.TLS.InsecureSkipVerify {
			o.Logger.Warn("elasticsearch.insecure_skip_verify is set: whoever is on the way to Elasticsearch can read " +
				"and change everything; set elasticsearch.ca_file or elasticsearch.ca_fingerprint instead")
		}
		c.transport = newTransport(o.URLs, config)
		roundTripper = c.transport
	}
	var err error
	c.client, err = elasticsearch.NewBaseClient(elasticsearch.Config{
		Addresses: o.URLs, APIKey: o.APIKey, Username: o.Username, Password: o.Password,
		DisableRetry: true, Transport: roundTripper,
	})
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "elasticsearch.url is not accepted")
	}
	return c, nil
}

// Close stops looking for dead nodes that are back, and closes idle connections.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	if err := c.client.Close(context.Background()); err != nil {
		return fault.Wrap(fault.Internal, err, "close Elasticsearch's client")
	}
	return nil
}

// Read sends a request that changes nothing and decodes the response into out, which may be nil. It tries
// again once, at the next node if there are several, when the connection broke (it may have been closed while
// idle) or Elasticsearch cannot serve at this moment, and for 1.5 seconds while no shard is ready yet:
// another gateway may have just created the index. All reads of one search (engine.OneSearch) share the
// timeout.
func (c *Client) Read(ctx context.Context, r Request, out any) error {
	began, done := engine.Asking(ctx, c)
	defer done()
	ctx, cancel := context.WithDeadline(ctx, began.Add(c.timeout))
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := c.Once(ctx, r, out)
		if !fault.Is(err, fault.Unavailable) {
			return err
		}
		refusal, refused := errors.AsType[*Refusal](err)
		if refused && refusal.Lasting() {
			return err
		}
		most := 2
		if refused && refusal.lacksShard() {
			most = attemptsForShard
		}
		if attempt >= most {
			return err
		}
		if !refused {
			continue
		}
		select {
		case <-time.After(retryDelay << (attempt - 1)):
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return err // more specific than a timeout
			}
			return ContextFault(ctx)
		}
	}
}

// Change sends a request that changes something. It is sent only once, and may take longer
// than a read.
func (c *Client) Change(ctx context.Context, r Request, out any) error {
	ctx, cancel := context.WithTimeout(ctx, changeFactor*c.timeout)
	defer cancel()
	return c.Once(ctx, r, out)
}

// Once sends a request once. The context must have a deadline.
func (c *Client) Once(ctx context.Context, r Request, out any) (err error) {
	ctx, span := tracing.StartRequest(ctx, "elasticsearch")
	defer func() { span.End(err) }()
	if span.On() {
		span.Name(r.spanName())
		span.Note("db.system.name", "elasticsearch")
		span.Note("http.request.method", r.Method)
	}
	body, mime, err := r.body(c.smile)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, r.Path, bytes.NewReader(body))
	if err != nil {
		return fault.Wrap(fault.Internal, err, "making a request to Elasticsearch")
	}
	req.Header.Set("Accept", r.acceptedType(c.smile))
	if len(body) > 0 {
		req.Header.Set("Content-Type", mime)
	}
	tracing.Send(ctx, req.Header)
	res, err := c.client.Perform(req)
	if err != nil {
		return transportFault(ctx, err)
	}
	span.Count("http.response.status_code", res.StatusCode)
	defer func() { _ = res.Body.Close() }() // read to its end or given up
	var text strings.Builder
	text.Grow(int(max(0, res.ContentLength)))
	if _, err := io.Copy(&text, res.Body); err != nil && ctx.Err() != nil {
		return transportFault(ctx, err)
	} else if err != nil {
		return Unreadable(err)
	}
	return decode(res.StatusCode, text.String(), out)
}

// Readable is a response that decodes itself. Read discards the result of an earlier attempt.
type Readable interface{ Read(r smile.Reader) }

// decode decodes a response; its strings are parts of text.
func decode(status int, text string, out any) error {
	if status >= http.StatusBadRequest {
		return responseFault(status, text)
	}
	var err error
	switch out := out.(type) {
	case nil:
	case Readable:
		err = smile.Read(text, out.Read)
	default:
		err = json.Unmarshal([]byte(text), out)
	}
	if err != nil {
		return Unreadable(err)
	}
	return nil
}

// Unreadable is the fault of a response that is not as expected.
func Unreadable(err error) error {
	return fault.Wrap(fault.Unavailable, err, "Elasticsearch's answer cannot be read")
}
