package fieldcheck

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Transport checks every answer that is an error, and those to written chunks.
type Transport struct {
	*http.Transport
	T   testing.TB
	API *API
}

// longest bounds what is kept of a request, in bytes.
const longest = 64 << 10

// RoundTrip implements http.RoundTripper.
func (c *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	sent := &bytes.Buffer{}
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(sent, io.LimitReader(body, longest))
		_ = body.Close()
		if err != nil {
			return nil, err
		}
	}
	answer, err := c.Transport.RoundTrip(request)
	if err != nil || !strings.Contains(answer.Header.Get("Content-Type"), "json") {
		return answer, err
	}
	writes := request.Method != http.MethodGet && strings.Contains(request.URL.Path, "/documents")
	if answer.StatusCode < http.StatusBadRequest && !writes {
		return answer, nil
	}
	told, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	c.API.Check(c.T, request, sent.Bytes(), told)
	answer.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(told), answer.Body}
	return answer, nil
}
