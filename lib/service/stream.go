package service

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/reason"
	"github.com/hybridge-search/hybridge/lib/tracing"
)

// longestEvent bounds a line of a stream, in bytes.
const longestEvent = 256 << 10

// Stream is Chat for an answer that is text and is read while it is written, as server-sent events:
//
//	data: {"choices": [{"delta": {"content": "…"}}]}
//	data: [DONE]
//
// https://platform.openai.com/docs/api-reference/chat/streaming
//
// It gives each piece to see, in their order and within this call, whose error ends it and is returned. cut means
// that the model was stopped before the end of its answer, as by its limit of tokens. Errors are as of Post: of the
// kind Timeout also where the client's timeout passes within the answer, and Unavailable for one that ends before it
// is complete. The end of ctx ends the request, and is returned as it is.
func (c *Client) Stream(
	ctx context.Context, model, instructions string, question any, see func(text string) error,
) (cut bool, err error) {
	ctx, span := tracing.StartRequest(ctx, c.service)
	defer func() { span.End(err) }()
	asked, err := c.asking(model, instructions, question)
	if err != nil {
		return false, err
	}
	asked.Stream = true
	body, err := json.Marshal(asked)
	if err != nil {
		return false, fault.Wrap(fault.Internal, err, "encode the %s request", c.service)
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	res, err := c.send(ctx, &Request{Header: header, Body: body})
	if err != nil {
		return false, endOr(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	s := &stream{client: c, see: see}
	rest := &io.LimitedReader{R: res.Body, N: maxAnswer}
	lines := bufio.NewScanner(rest)
	lines.Buffer(nil, longestEvent)
	for err == nil && !s.done && lines.Scan() {
		err = s.line(lines.Text())
	}
	switch {
	case err != nil:
		return false, err
	case s.done:
		return s.cut, nil
	case lines.Err() != nil:
		return false, endOr(ctx, c.broken(lines.Err()))
	case rest.N <= 0:
		return false, c.tooLarge(maxAnswer)
	}
	return s.end()
}

// endOr is why the context ended, or else err.
func endOr(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return err
}

// broken says why a stream could not be read to its end.
func (c *Client) broken(err error) error {
	if isTimeout(err) {
		return fault.Wrap(fault.Timeout, err, "the %s service took longer than it may", c.service)
	}
	return fault.Wrap(fault.Unavailable, err, "read the %s service's answer", c.service)
}

// stream reads the lines of an answer.
type stream struct {
	client *Client
	see    func(string) error
	data   []string // of the event that has begun
	reason string   // why the model ended; empty: it has not
	cut    bool
	done   bool // the stream says so
}

// line takes a line: data, the empty line at the end of an event, or what is of no interest here.
func (s *stream) line(line string) error {
	if data, is := strings.CutPrefix(line, "data:"); is {
		s.data = append(s.data, strings.TrimPrefix(data, " "))
		return nil
	}
	if line != "" || len(s.data) == 0 {
		return nil
	}
	return s.event()
}

// piece is the data of an event.
type piece struct {
	Choices []struct {
		Delta  message `json:"delta"`
		Reason string  `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

func (s *stream) event() error {
	data := strings.Join(s.data, "\n")
	s.data = nil
	if strings.TrimSpace(data) == "[DONE]" {
		s.done = true
		return nil
	}
	var p piece
	if err := json.Unmarshal([]byte(data), &p); err != nil {
		return fault.Wrap(fault.Unavailable, err,
			"the %s service's answer is no stream of a chat completion", s.client.service)
	}
	if len(p.Error) > 0 && string(p.Error) != "null" {
		why := reason.OfBody([]byte(data), s.client.key)
		return fault.New(fault.Unavailable, "the %s service failed while it answered: %s", s.client.service, why)
	}
	if len(p.Choices) == 0 {
		return nil // counts of tokens
	}
	if reason := p.Choices[0].Reason; reason != "" {
		s.reason, s.cut = reason, reason != "stop"
	}
	if text := p.Choices[0].Delta.Content; text != "" {
		return s.see(text)
	}
	return nil
}

// end checks a stream that ended without a final marker: it must have said why the model stopped.
func (s *stream) end() (cut bool, err error) {
	if len(s.data) > 0 {
		if err := s.event(); err != nil {
			return false, err
		}
	}
	if s.done || s.reason != "" {
		return s.cut, nil
	}
	return false, fault.New(fault.Unavailable, "the %s service's answer ended before it was complete", s.client.service)
}
