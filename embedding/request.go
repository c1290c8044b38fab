package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// maxVectorBytes bounds a response: one vector of 4096 floats is under 100 kB of JSON.
const maxVectorBytes = 1 << 20

// post sends one request and checks the response. Its error is a *failure.
func (c *Client) post(ctx context.Context, kind Kind, texts []string) (_ [][]float32, err error) {
	ctx, span := tracing.StartRequest(ctx, "embedding "+string(kind))
	defer func() { span.End(err) }()
	span.Count("hybridge.texts", len(texts))
	body, err := c.body(kind, texts)
	if err != nil {
		return nil, &failure{fault: fault.Wrap(fault.Internal, err, "encode the embedding request")}
	}
	attempt, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(attempt, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, &failure{fault: fault.Wrap(fault.Internal, err, "make the embedding request")}
	}
	request.Header.Set("Content-Type", "application/json")
	if c.options.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+c.options.APIKey)
	}
	tracing.Send(ctx, request.Header)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, attempt, err)
	}
	defer func() { _ = response.Body.Close() }()
	limit := int64(len(texts)+1) * maxVectorBytes
	data, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case err != nil:
		return nil, c.unreachable(ctx, attempt, err)
	case int64(len(data)) > limit:
		return nil, malformed("more than %d bytes for %d texts", limit, len(texts))
	case response.StatusCode != http.StatusOK:
		return nil, c.refused(response, data)
	}
	vectors, err := c.decode(data, len(texts))
	if err == nil {
		c.answered.Store(true)
	}
	return vectors, err
}

// body is the request's JSON: {"model": "…", "input": ["…"], …}.
func (c *Client) body(kind Kind, texts []string) ([]byte, error) {
	prefix := c.options.prefixOf(kind)
	input := make([]string, len(texts))
	for i, text := range texts {
		input[i] = prefix + c.options.cut(text)
	}
	members := map[string]any{"model": c.options.Model, "input": input}
	maps.Copy(members, c.options.extraOf(kind))
	if c.options.SendDimensions {
		members["dimensions"] = c.options.Dimensions
	}
	if c.options.Base64 {
		members["encoding_format"] = "base64"
	}
	return json.Marshal(members)
}

// unreachable explains why no response came.
func (c *Client) unreachable(ctx, attempt context.Context, err error) *failure {
	switch {
	case ctx.Err() != nil:
		return &failure{fault: fault.Wrap(fault.Canceled, err, "embedding was given up"), callerGone: true}
	case attempt.Err() != nil:
		detail := fmt.Sprintf("the embedding service did not answer within %s", c.options.Timeout)
		return &failure{fault: fault.Wrap(fault.Timeout, err, "%s", detail), retry: true, serverDown: true}
	default:
		unavailable := fault.Wrap(fault.Unavailable, err, "embedding service unavailable")
		return &failure{fault: unavailable, retry: true, serverDown: true}
	}
}
