package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
)

// How much of an unread body is discarded, and for how long, so that the client sees the
// answer instead of a reset connection.
const (
	drainBytes = 16 << 20
	drainTime  = time.Second
)

// RequestBody reads the body of a request from its connection. It must not be read after
// its handler has returned.
type RequestBody struct {
	stream io.Reader // nil without a body
	conn   net.Conn
	Length int // as announced; -1 if chunked
	ended  bool
	failed bool

	// If idle is set, the read deadline of the connection moves as the body comes in.
	ctx   context.Context
	idle  time.Duration
	moved time.Time
	read  int64

	count func(n int) error // of bytes that were read; may refuse to go on; nil: nobody counts
}

func newRequestBody(c *fiber.Ctx) RequestBody {
	stream := c.Context().RequestBodyStream()
	return RequestBody{
		stream: stream,
		conn:   c.Context().Conn(),
		Length: c.Request().Header.ContentLength(),
		ended:  stream == nil,
	}
}

// allowLong lets the body take until ctx ends, as long as it keeps coming in. A pending read
// fails when ctx ends. stop must be called before the normal cancellation of ctx.
func (b *RequestBody) allowLong(ctx context.Context, idle time.Duration) (stop func() bool) {
	b.ctx, b.idle = ctx, idle
	return context.AfterFunc(ctx, func() {
		_ = b.conn.SetReadDeadline(time.Unix(1, 0)) // fails only on a closed connection
	})
}

// Read implements io.Reader. After the end it does not read the stream again, because a
// chunked one would take the next request for a chunk.
func (b *RequestBody) Read(p []byte) (int, error) {
	if b.ended {
		return 0, io.EOF
	}
	if err := b.extend(); err != nil {
		b.failed = true
		return 0, err
	}
	n, err := b.stream.Read(p)
	b.read += int64(n)
	if b.count != nil && n > 0 {
		if refused := b.count(n); refused != nil {
			return n, refused
		}
	}
	b.failed = err != nil && !errors.Is(err, io.EOF)
	switch {
	case errors.Is(err, io.EOF):
		b.ended = true
		if b.Length >= 0 && b.read < int64(b.Length) {
			err = bodyFailed(io.ErrUnexpectedEOF)
		}
		return n, err
	case err != nil && b.idle > 0 && b.ctx.Err() != nil:
		return n, b.ctx.Err()
	case err != nil:
		return n, bodyFailed(err)
	}
	return n, nil
}

// extend moves the read deadline. It checks ctx last, because the end of ctx sets a deadline
// of its own, which must not be lost.
func (b *RequestBody) extend() error {
	if b.idle == 0 {
		return nil
	}
	if now := time.Now(); now.Sub(b.moved) > b.idle/4 {
		b.moved = now
		if err := b.conn.SetReadDeadline(now.Add(b.idle)); err != nil {
			return err
		}
	}
	return b.ctx.Err()
}

// ReadAll reads a body of at most limit bytes into a buffer.
func (b *RequestBody) ReadAll(into *bytes.Buffer, limit int) error {
	if b.Length > limit {
		return tooLarge(limit)
	}
	if b.Length > 0 {
		into.Grow(b.Length + bytes.MinRead)
	}
	if _, err := into.ReadFrom(io.LimitReader(b, int64(limit)+1)); err != nil {
		return bodyFailed(err)
	}
	if into.Len() > limit {
		return tooLarge(limit)
	}
	return nil
}

func tooLarge(limit int) error {
	return fault.New(fault.TooLarge, "the body is over %d bytes, the most that this route takes", limit)
}

// drain discards what the handler left unread, within limits. It reports whether the
// connection may serve another request: fasthttp would take the rest of this body for one.
func (b *RequestBody) drain() bool {
	if b.ended || b.failed {
		return b.ended
	}
	b.idle, b.count = 0, nil
	if err := b.conn.SetReadDeadline(time.Now().Add(drainTime)); err != nil {
		return false
	}
	_, _ = io.CopyN(io.Discard, b, drainBytes) // only reaching the end matters
	return b.ended
}
