package elastic

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
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
	wire *wire
	base string // in front of a statement's path
	head string // behind it: what the client gives to every request
}

// newShortcut learns from what the client has sent to the only node.
func newShortcut(node *url.URL, over *wire, sent http.Header) *shortcut {
	var head strings.Builder
	write := func(name, value string) { head.WriteString(lineEnd + name + ": " + oneLine.Replace(value)) }
	head.WriteString(" " + httpVersion)
	write("Host", node.Host)
	for name, values := range sent {
		if name == "Accept" || name == "Content-Type" {
			continue
		}
		for _, value := range values {
			write(name, value)
		}
	}
	write("Accept", "")
	return &shortcut{wire: over, base: node.EscapedPath(), head: head.String()}
}

// oneLine keeps a header from ending early.
var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// ask sends a statement and decodes its answer.
func (c *shortcut) ask(ctx context.Context, deadline time.Time, s *statement, out any) error {
	if err := ctx.Err(); err != nil {
		return transportFault(ctx, err)
	}
	if sooner, ok := ctx.Deadline(); ok && sooner.Before(deadline) {
		deadline = sooner
	}
	x := spareExchanges.Get().(*exchange)
	if err := c.request(x, s); err != nil {
		x.release()
		return err
	}
	x.meanwhile = s.meanwhile
	if err := c.wire.do(ctx, deadline, x); err != nil {
		x.release()
		return transportFault(ctx, err)
	}
	return decodeAnswer(x, out)
}

// request writes a statement as it is sent.
func (c *shortcut) request(x *exchange, s *statement) (err error) {
	to := append(append(x.text, s.Method...), ' ')
	to = append(append(to, c.base...), s.Path...)
	to = append(append(to, s.separator()...), s.param...)
	to = append(append(to, c.head...), s.accepted()...)
	if s.hasBody() {
		to = append(append(to, lineEnd+"Content-Type: "...), s.contentType()...)
		to = append(to, lineEnd+"Content-Length: "+roomForLength...)
	}
	to = append(to, lineEnd+lineEnd...)
	head := len(to)
	if s.hasBody() {
		to, err = s.appendBody(to)
		var digits [len(roomForLength)]byte
		length := strconv.AppendInt(digits[:0], int64(len(to)-head), 10)
		copy(to[head-len(lineEnd+lineEnd)-len(length):], length)
	}
	x.text, x.request = to, len(to)
	return err
}

// roomForLength is where the length of a body goes, which is known behind it.
const roomForLength = "          "
