package endpoint

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/locale"
)

// work does the work of a request and reports its progress by lines. An error of tell
// means that nobody listens any more.
type work func(ctx context.Context, tell func(line any) error) (last any, err error)

// Live answers by lines of JSON while the work goes on; the last is its result, or the
// problem that ended it. Work that fails before its first line is an ordinary problem.
func (a *API) Live(c *fiber.Ctx, do work) error {
	return a.LiveAs(c, LiveForm{ContentType: NDJSON, Failed: func(p Problem) any { return p }}, do)
}

// LiveForm is the format of the lines.
type LiveForm struct {
	ContentType string
	Failed      func(Problem) any // the last line of work that failed
	// forClient: the context of the work ends when the client has gone. Other work learns of it
	// when it next tells something.
	ForClient bool
}

// LiveAs is live in a form of its own.
//
// fasthttp writes a body when the handler has returned, so the work outlives the
// handler, in a goroutine and a context of its own: with its first line it must be done
// with the request.
func (a *API) LiveAs(c *fiber.Ctx, form LiveForm, do work) error {
	x := ExchangeOf(c)
	ctx, cancel := context.WithTimeout(x.span.In(a.Base), a.Limits.Ingest)
	l := &liveLines{conn: x.Body.conn, form: form, language: LanguageOf(c), begun: make(chan error, 1)}
	l.reader, l.writer = io.Pipe()
	go func() {
		defer cancel()
		var last any
		err := recovered(func() (err error) {
			last, err = do(ctx, l.tell)
			return err
		})
		if l.end(last, err) {
			a.logLive(ctx, x, err)
		}
		_ = l.writer.Close() // after the log: who has the whole answer finds it there
	}()
	if err := <-l.begun; err != nil {
		return err
	}
	go func() {
		l.watch()
		if form.ForClient {
			cancel()
		}
	}()
	c.Set(fiber.HeaderContentType, form.ContentType)
	c.Set("X-Accel-Buffering", "no") // a proxy in front must not collect them
	c.Context().SetConnectionClose() // what comes after the request is not read for another
	c.Context().SetBodyStream(l.reader, -1)
	return nil
}

// liveLines are the lines of one answer. All but the reader belongs to the work.
type liveLines struct {
	conn     net.Conn
	form     LiveForm
	language *locale.Language
	reader   *io.PipeReader // fasthttp closes it when the client cannot be written to
	writer   *io.PipeWriter
	begun    chan error // gets nil with the first line, or why there was none
	started  bool
}

// serverEvent is an event of a stream of them, whose data is JSON.
type serverEvent struct {
	name string
	data any
}

// EventStream is the media type of a stream of events.
const EventStream = "text/event-stream"

// NewEvent is an event of a stream of them, whose data is JSON.
func NewEvent(name string, data any) serverEvent { return serverEvent{name, data} }

// Write sends an event at once.
func (e serverEvent) Write(to io.Writer, language *locale.Language) error {
	var b bytes.Buffer
	b.WriteString("event: " + e.name + "\ndata: ")
	if err := EncodeLine(&b, language.Answer(e.data)); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := to.Write(b.Bytes())
	return err
}

// RawLines are several encoded lines without text to translate.
type RawLines []byte

// tell waits until the line is taken.
func (l *liveLines) tell(line any) (err error) {
	if !l.started {
		l.started = true
		l.begun <- nil
	}
	_ = l.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // fails only on a closed connection
	switch line := line.(type) {
	case RawLines:
		if len(line) > 0 {
			_, err = l.writer.Write(line)
		}
	case serverEvent:
		err = line.Write(l.writer, l.language)
	default:
		err = EncodeLine(l.writer, l.language.Answer(line))
	}
	if err != nil {
		return fault.Wrap(fault.Canceled, err, "the client has gone")
	}
	return nil
}

// end reports whether the handler has returned, whose caller then knows nothing of err.
func (l *liveLines) end(last any, err error) (returned bool) {
	if err != nil && !l.started {
		l.begun <- err
		return false
	}
	if err != nil {
		last = l.form.Failed(ProblemOf(err))
	}
	_ = l.tell(last) // a client that has disconnected needs none
	return true
}

// watch ends the lines as soon as the client has disconnected, or has its answer.
func (l *liveLines) watch() {
	_ = l.conn.SetReadDeadline(time.Time{}) // fails only on a closed connection
	_, _ = io.Copy(io.Discard, l.conn)
	_ = l.reader.Close()
}

// logLive tells how work ended whose request was logged when it began.
func (a *API) logLive(ctx context.Context, x *Exchange, err error) {
	attrs := []slog.Attr{
		slog.String("request_id", x.ID),
		slog.String("route", x.Route),
		slog.Float64("took_ms", float64(time.Since(x.Start).Microseconds())/1000),
	}
	level := slog.LevelInfo
	if err != nil {
		status := ProblemOf(err).Status
		if status >= http.StatusInternalServerError && KindOf(err) != fault.Canceled {
			level = slog.LevelError
		}
		attrs = append(attrs, a.observer.errorAttrs(err, status)...)
	}
	a.Log.LogAttrs(ctx, level, "answered", attrs...)
}
