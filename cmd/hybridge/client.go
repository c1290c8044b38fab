package main

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

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
)

// client calls the API of a gateway.
type client struct {
	base string
	key  string
	http *http.Client
}

func newClient(server, key string) (*client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fault.Invalid("--server", server, "an http(s) URL, as http://127.0.0.1:8080")
	}
	return &client{base: strings.TrimRight(server, "/"), key: key, http: &http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
	}}, nil
}

// trust accepts exactly the certificate of the file: the address by which a gateway of this
// machine is found is seldom one that its certificate names.
func (c *client) trust(certificate string) error {
	text, err := os.ReadFile(filepath.Clean(certificate))
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "read tls.cert")
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return fault.Invalid("tls.cert", certificate, "a PEM file")
	}
	c.http.Transport.(*http.Transport).TLSClientConfig = &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection is stricter
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 || !bytes.Equal(state.PeerCertificates[0].Raw, block.Bytes) {
				return fault.New(fault.Unavailable, "the gateway at %s shows another certificate than tls.cert", c.base)
			}
			return nil
		},
	}
	return nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

// call is a request. body, if not nil, is sent as it is.
type call struct {
	method, path string
	body         io.Reader
	contentType  string
}

const (
	asJSON   = "application/json"
	asNDJSON = "application/x-ndjson"
	asBytes  = "application/octet-stream"
)

// postJSON returns a POST with a JSON body.
func postJSON(path string, body any) (call, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return call{}, fault.Wrap(fault.InvalidArgument, err, "encode the request")
	}
	return call{http.MethodPost, path, bytes.NewReader(encoded), asJSON}, nil
}

// put sends JSON.
func (c *client) put(ctx context.Context, path string, body any) error {
	return c.send(ctx, http.MethodPut, path, body, nil)
}

// post sends JSON and decodes the answer; body and into may be nil.
func (c *client) post(ctx context.Context, path string, body, into any) error {
	return c.send(ctx, http.MethodPost, path, body, into)
}

func (c *client) send(ctx context.Context, method, path string, body, into any) error {
	do := call{method: method, path: path}
	if body != nil {
		encoded, err := postJSON(path, body)
		if err != nil {
			return err
		}
		do.body, do.contentType = encoded.body, encoded.contentType
	}
	text, err := c.raw(ctx, do)
	if err != nil || into == nil {
		return err
	}
	return c.decode(text, into)
}

// stream makes a call and returns the body of a successful answer, which must be closed. Any
// other answer becomes the error that it reports.
func (c *client) stream(ctx context.Context, do call) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, do.method, c.base+do.path, do.body)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "ask %s", c.base)
	}
	if do.body != nil {
		request.Header.Set("Content-Type", do.contentType)
	}
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.transportFault(ctx, err)
	}
	if response.StatusCode < http.StatusMultipleChoices {
		return response.Body, nil
	}
	defer func() { _ = response.Body.Close() }()
	return nil, c.problem(response)
}

// transportFault is the error of a call without an answer: it was canceled, its body could not
// be read, or the server is unavailable.
func (c *client) transportFault(ctx context.Context, err error) error {
	var f *fault.Error
	switch {
	case ctx.Err() != nil:
		return fault.Wrap(fault.Canceled, ctx.Err(), "stopped")
	case errors.As(err, &f):
		return f
	default:
		return fault.Wrap(fault.Unavailable, err, "the gateway at %s does not answer", c.base)
	}
}

const maxProblem = 64 << 10

// problem reads the error that a gateway reports.
func (c *client) problem(response *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "read the answer of %s", c.base)
	}
	var p gateway.Problem
	if json.Unmarshal(text, &p) != nil || p.Code == "" {
		return fault.New(fault.Unavailable, "%s answers %s and is no gateway of ours", c.base, response.Status)
	}
	return &fault.Error{Kind: fault.Kind(p.Code), Field: p.Field, Detail: p.Detail}
}

// raw makes a call and returns the body of the answer.
func (c *client) raw(ctx context.Context, do call) ([]byte, error) {
	body, err := c.stream(ctx, do)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return nil, c.transportFault(ctx, err)
	}
	return text, nil
}

// get makes a GET and decodes the answer.
func (c *client) get(ctx context.Context, path string, into any) error {
	text, err := c.raw(ctx, call{method: http.MethodGet, path: path})
	if err != nil {
		return err
	}
	return c.decode(text, into)
}

func (c *client) decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the answer of %s is not understood; is it another version?", c.base)
	}
	return nil
}

func basePath(kb string) string { return "/v1/knowledge-bases/" + url.PathEscape(kb) }
