package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Client calls the API of a gateway.
type Client struct {
	Base     string
	Key      string
	Language string // of answers, as in Accept-Language; empty: English
	HTTP     *http.Client
}

// NewClient makes a client of the gateway at a URL.
func NewClient(server, key string) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fault.Invalid("--server", server, "an http(s) URL, as http://127.0.0.1:8080")
	}
	return &Client{Base: strings.TrimRight(server, "/"), Key: key, HTTP: &http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
	}}, nil
}

// Trust accepts exactly the certificate of the file: the address by which a gateway of this
// machine is found is seldom one that its certificate names.
func (c *Client) Trust(certificate string) error {
	text, err := os.ReadFile(filepath.Clean(certificate))
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "read tls.cert")
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return fault.Invalid("tls.cert", certificate, "a PEM file")
	}
	c.HTTP.Transport.(*http.Transport).TLSClientConfig = &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection is stricter
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 || !bytes.Equal(state.PeerCertificates[0].Raw, block.Bytes) {
				return fault.New(fault.Unavailable, "the gateway at %s shows another certificate than tls.cert", c.Base)
			}
			return nil
		},
	}
	return nil
}

// Close closes the connections that are idle.
func (c *Client) Close() { c.HTTP.CloseIdleConnections() }

// Call is a request. body, if not nil, is sent as it is.
type Call struct {
	Method, Path string
	Body         io.Reader
	ContentType  string
}

// Content types of requests.
const (
	AsJSON   = "application/json"
	AsNDJSON = "application/x-ndjson"
	AsBytes  = "application/octet-stream"
)

// PostJSON returns a POST with a JSON body.
func PostJSON(path string, body any) (Call, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return Call{}, fault.Wrap(fault.InvalidArgument, err, "encode the request")
	}
	return Call{http.MethodPost, path, bytes.NewReader(encoded), AsJSON}, nil
}

// Put sends JSON.
func (c *Client) Put(ctx context.Context, path string, body any) error {
	return c.Send(ctx, http.MethodPut, path, body, nil)
}

// Post sends JSON and decodes the answer; body and into may be nil.
func (c *Client) Post(ctx context.Context, path string, body, into any) error {
	return c.Send(ctx, http.MethodPost, path, body, into)
}

// Send sends a body as JSON and decodes the answer.
func (c *Client) Send(ctx context.Context, method, path string, body, into any) error {
	do := Call{Method: method, Path: path}
	if body != nil {
		encoded, err := PostJSON(path, body)
		if err != nil {
			return err
		}
		do.Body, do.ContentType = encoded.Body, encoded.ContentType
	}
	text, err := c.Raw(ctx, do)
	if err != nil || into == nil {
		return err
	}
	return c.Decode(text, into)
}

// Stream makes a call and returns the body of a successful answer, which must be closed. Any
// other answer becomes the error that it reports.
func (c *Client) Stream(ctx context.Context, do Call) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, do.Method, c.Base+do.Path, do.Body)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "ask %s", c.Base)
	}
	if do.Body != nil {
		request.Header.Set("Content-Type", do.ContentType)
	}
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if c.Language != "" {
		request.Header.Set("Accept-Language", c.Language)
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return nil, c.TransportFault(ctx, err)
	}
	if response.StatusCode < http.StatusMultipleChoices {
		return response.Body, nil
	}
	defer func() { _ = response.Body.Close() }()
	return nil, c.problem(response)
}

// TransportFault is the error of a call without an answer: it was canceled, its body could not
// be read, or the server is unavailable.
func (c *Client) TransportFault(ctx context.Context, err error) error {
	var f *fault.Error
	switch {
	case ctx.Err() != nil:
		return fault.Wrap(fault.Canceled, ctx.Err(), "stopped")
	case errors.As(err, &f):
		return f
	default:
		return fault.Wrap(fault.Unavailable, err, "the gateway at %s does not answer", c.Base)
	}
}

// MaxProblem limits the bytes of an error that are read.
const MaxProblem = 64 << 10

// problem reads the error that a gateway reports.
func (c *Client) problem(response *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, MaxProblem))
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "read the answer of %s", c.Base)
	}
	var p endpoint.Problem
	if json.Unmarshal(text, &p) != nil || p.Code == "" {
		return fault.New(fault.Unavailable, "%s answers %s and is no gateway of ours", c.Base, response.Status)
	}
	return &fault.Error{Kind: fault.Kind(p.Code), Field: p.Field, Detail: p.Detail}
}

// Raw makes a call and returns the body of the answer.
func (c *Client) Raw(ctx context.Context, do Call) ([]byte, error) {
	body, err := c.Stream(ctx, do)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return nil, c.TransportFault(ctx, err)
	}
	return text, nil
}

// Get makes a GET and decodes the answer.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	text, err := c.Raw(ctx, Call{Method: http.MethodGet, Path: path})
	if err != nil {
		return err
	}
	return c.Decode(text, into)
}

// Decode reads an answer of the gateway.
func (c *Client) Decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the answer of %s is not understood; is it another version?", c.Base)
	}
	return nil
}

// BasePath returns the API's path of a knowledge base.
func BasePath(kb string) string { return "/v1/knowledge-bases/" + url.PathEscape(kb) }

// Ignoring returns an error unless it is of a kind.
func Ignoring(err error, kind fault.Kind) error {
	if fault.Is(err, kind) {
		return nil
	}
	return err
}

// PollInterval is the interval between questions for the progress of a job.
const PollInterval = 500 * time.Millisecond
